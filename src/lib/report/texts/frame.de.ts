import type { frameEn } from './frame.en.ts';

export const frameDe: typeof frameEn = {
  page: (page, of) => `Seite ${page} von ${of}`,
  replacedFoot: 'einzelne Zeichen sind ersetzt, siehe Ende',
  replacedTitle: 'Ersetzte Zeichen in diesem PDF',
  replacedText:
    'Die Schriften dieses PDF enthalten nur die Buchstaben westeuropäischer Sprachen. Die folgenden Zeichen aus Namen und Bemerkungen sind deshalb ersetzt; in der HTML-Fassung und in der Datei selbst stehen sie unverändert.',
  replacedOne: (code, shown) => `${code}, geschrieben als ${shown}`,
  replacedMore: (count) => `und ${count} weitere`,
};
