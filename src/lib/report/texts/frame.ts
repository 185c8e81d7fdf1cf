import type { Language } from '../document.ts';

/** Texts of the output formats: page numbers, replaced characters. */
const frameEn = {
  page: (page: number, of: number) => `Page ${page} of ${of}`,
  replacedFoot: 'some characters are replaced, see the end',
  replacedTitle: 'Replaced characters in this PDF',
  replacedText:
    'The fonts of this PDF cover Western European letters only. These characters of names and remarks are replaced; the HTML version and the file itself hold them unchanged.',
  replacedOne: (code: string, shown: string) => `${code}, written as ${shown}`,
  replacedMore: (count: number) => `and ${count} more`,
};

const frameDe: typeof frameEn = {
  page: (page, of) => `Seite ${page} von ${of}`,
  replacedFoot: 'einzelne Zeichen sind ersetzt, siehe Ende',
  replacedTitle: 'Ersetzte Zeichen in diesem PDF',
  replacedText:
    'Die Schriften dieses PDF enthalten nur die Buchstaben westeuropäischer Sprachen. Die folgenden Zeichen aus Namen und Bemerkungen sind deshalb ersetzt; in der HTML-Fassung und in der Datei selbst stehen sie unverändert.',
  replacedOne: (code, shown) => `${code}, geschrieben als ${shown}`,
  replacedMore: (count) => `und ${count} weitere`,
};

export const frameTexts: Readonly<Record<Language, typeof frameEn>> = { de: frameDe, en: frameEn };
