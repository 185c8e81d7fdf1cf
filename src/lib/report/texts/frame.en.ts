/** What the forms themselves say: page numbers, what a font cannot show. */
export const frameEn = {
  page: (page: number, of: number) => `Page ${page} of ${of}`,
  replacedFoot: 'some characters are written otherwise, see the end',
  replacedTitle: 'Characters that this PDF writes otherwise',
  replacedText:
    'The fonts of this PDF have the letters of Western Europe only. These characters of names and remarks are written otherwise; the HTML form and the file itself hold them as they are.',
  replacedOne: (code: string, shown: string) => `${code}, written as ${shown}`,
  replacedMore: (count: number) => `and ${count} more`,
};
