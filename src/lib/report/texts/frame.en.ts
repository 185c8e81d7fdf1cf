/** Texts of the output formats: page numbers, replaced characters. */
export const frameEn = {
  page: (page: number, of: number) => `Page ${page} of ${of}`,
  replacedFoot: 'some characters are replaced, see the end',
  replacedTitle: 'Replaced characters in this PDF',
  replacedText:
    'The fonts of this PDF cover Western European letters only. These characters of names and remarks are replaced; the HTML version and the file itself hold them unchanged.',
  replacedOne: (code: string, shown: string) => `${code}, written as ${shown}`,
  replacedMore: (count: number) => `and ${count} more`,
};
