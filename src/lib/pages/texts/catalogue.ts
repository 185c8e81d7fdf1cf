import type { doubts, headlineCodes, LampId, lampLevels, Note, PageState, Run, staleReasons } from '../model.ts';
import type { Choice, Language } from '../viewer.ts';
import { de, type deLabels, type deUi, type deWords } from './de.ts';
import { en } from './en.ts';
import { type Format, formatFor } from './format.ts';
import type { deMedia } from './media.ts';

export type WordCode = keyof typeof deWords;
export type LabelCode = keyof typeof deLabels;

/** Every text of the pages in one language. A missing or additional text does not compile. */
export interface Texts {
  readonly headline: Readonly<Record<(typeof headlineCodes)[number], (state: PageState, format: Format) => string>>;
  readonly notes: { readonly [C in Note['code']]: (note: Extract<Note, { code: C }>, format: Format) => string };
  readonly failure: Readonly<Record<string, string>>;
  readonly conditions: Readonly<Record<string, string>>;
  readonly stale: Readonly<Record<(typeof staleReasons)[number], string>>;
  readonly doubts: Readonly<Record<(typeof doubts)[number], string>>;
  readonly basis: Readonly<Record<NonNullable<PageState['pose']['basis']>, string>>;
  readonly facts: Readonly<Record<string, string>>;
  readonly origins: Readonly<Record<'surface' | 'command' | 'cloud', string>>;
  readonly refusals: Readonly<Record<string, string>>;
  readonly failReason: (code: number) => string;
  readonly lamps: Readonly<Record<LampId, string>>;
  readonly levels: Readonly<Record<(typeof lampLevels)[number], string>>;
  readonly labels: Readonly<Record<LabelCode, string>>;
  readonly words: Readonly<Record<WordCode, string>>;
  readonly run: (run: Run, format: Format) => string;
  readonly choice: (choice: Choice) => string;
  readonly ask: (choice: Choice) => string;
  readonly ui: Readonly<typeof deUi>;
  readonly media: Readonly<typeof deMedia>;
}

const catalogues: Readonly<Record<Language, Texts>> = { de, en };

/** The texts of a language, and how it writes numbers, spans and times. */
export function textsOf(language: Language, timeZone: string): { readonly t: Texts; readonly f: Format } {
  return { t: catalogues[language], f: formatFor(language, timeZone) };
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
