import type { Cell, Note } from '../model.ts';
import type { Language } from '../viewer.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { type Format, formatFor, type Reader } from './format.ts';
import type { Texts, WordCode } from './texts.ts';

const catalogues: Readonly<Record<Language, Texts>> = { de, en };

/** The texts of a language, and how it writes numbers, spans and times. */
export function textsOf(
  language: Language,
  timeZone: string,
  reader: Reader = 'staff',
): { readonly t: Texts; readonly f: Format } {
  return { t: catalogues[language], f: formatFor(language, timeZone, reader) };
}

/** The language of a visitor: the one that was chosen, or the first known one that the browser accepts. */
export function languageOf(chosen: string | undefined, accepted: string | undefined): Language {
  if (chosen === 'de' || chosen === 'en') return chosen;
  for (const range of (accepted ?? '').slice(0, 200).split(',')) {
    const tag = range.trim().slice(0, 2).toLowerCase();
    if (tag === 'de' || tag === 'en') return tag;
  }
  return 'de';
}

export function noteText(note: Note, t: Texts, format: Format): string {
  const write = t.notes[note.code] as (note: Note, format: Format) => string;
  return write(note, format);
}

/** A part of a value in the words of this language; a word that this version does not know as it is. */
export function cellText(cell: Exclude<Cell, { technical: string }>, t: Texts, format: Format): string {
  if ('word' in cell) return t.words[cell.word as WordCode] ?? cell.word;
  if ('text' in cell) return cell.text;
  if ('number' in cell) return `${format.number(cell.number, cell.digits)}${cell.unit === '' ? '' : ` ${cell.unit}`}`;
  if ('spanMs' in cell) return format.span(cell.spanMs);
  if ('at' in cell) return format.time(cell.at);
  return noteText(cell.note, t, format);
}
