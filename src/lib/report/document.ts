/**
 * Format-independent document model: blocks that the HTML, PDF and Markdown writers render. Text is escaped in each format.
 */
export interface DocumentModel {
  readonly lang: Language;
  readonly title: string;
  /** At the foot of every page, before the page number. */
  readonly footer: string;
  /** When it was made: UTC, for the properties of a PDF. */
  readonly madeAt: Date;
  readonly blocks: readonly Block[];
}

/** A document in its form: text, or the bytes of a PDF. */
export interface WrittenDocument {
  readonly content: string | Uint8Array;
  /** null where a form has no pages. */
  readonly pages: number | null;
  /** How many kinds of characters are written otherwise, because no font of the form has them. */
  readonly replacedCharacters: number;
}

export type Language = 'de' | 'en';

/** good: passed. bad: failed. open: unknown or still to do; never green. */
export type Tone = 'good' | 'bad' | 'open';

export interface Span {
  readonly text: string;
  readonly tone?: Tone;
  readonly bold?: boolean;
  /** A value to be typed or compared character by character. */
  readonly code?: boolean;
  readonly quiet?: boolean;
}

/** One line of running text; line ends in it stay. */
export type Words = string | readonly (string | Span)[];

/** The title is a short text of gw. */
interface Column {
  readonly title: string;
  /** Share of the width; what they add up to does not matter. */
  readonly width: number;
}

export interface Row {
  readonly cells: readonly Words[];
  readonly tone?: Tone;
}

export type Block =
  | { readonly kind: 'title'; readonly text: string; readonly above?: string; readonly isSubject?: boolean }
  /** `isKept`: on one page with the paragraph and the signatures below it. */
  | {
      readonly kind: 'heading';
      readonly text: string;
      readonly level?: 2 | 3;
      readonly tone?: Tone;
      readonly isKept?: boolean;
    }
  | { readonly kind: 'paragraph'; readonly text: Words; readonly quiet?: boolean }
  | { readonly kind: 'list'; readonly items: readonly Words[]; readonly ordered?: boolean }
  | { readonly kind: 'table'; readonly columns: readonly Column[]; readonly rows: readonly Row[] }
  /** Labels of gw and values, one below the other. */
  | { readonly kind: 'facts'; readonly rows: readonly (readonly [string, Words])[] }
  /** A box that cannot be overlooked. */
  | { readonly kind: 'banner'; readonly tone: Tone; readonly title: string; readonly lines: readonly Words[] }
  /** Figures side by side. */
  | { readonly kind: 'figures'; readonly cells: readonly Figure[] }
  /** Who writes to whom, and when. */
  | {
      readonly kind: 'letterhead';
      readonly from: readonly Words[];
      readonly to: readonly Words[];
      readonly place: string;
    }
  /** A framed entry with a coloured edge: a step that is not ok. */
  | {
      readonly kind: 'card';
      readonly tone: Tone;
      readonly title: string;
      readonly mark: string;
      readonly rows: readonly (readonly [string, Words])[];
    }
  | { readonly kind: 'signatures'; readonly places: readonly SignaturePlace[] }
  | { readonly kind: 'page-break' };

/** Both are short texts of gw. */
interface Figure {
  readonly value: string;
  readonly label: string;
  readonly tone: Tone | null;
}

/** A field for a handwritten signature; all texts are those of gw. */
interface SignaturePlace {
  readonly role: string;
  /** Under the line. */
  readonly lines: readonly string[];
}

export function table(titles: readonly string[], widths: readonly number[], rows: readonly Row[]): Block {
  return { kind: 'table', columns: titles.map((title, at) => ({ title, width: widths[at] ?? 1 })), rows };
}

/** A text with commands in backticks, as words with the commands as code. */
export function withCode(text: string): Words {
  const parts = text.split(/`([^`\n]+)`/);
  return parts.length === 1 ? text : parts.map((part, at) => (at % 2 === 0 ? part : { text: part, code: true }));
}

/** Running text as spans. */
export function spansOf(words: Words): readonly Span[] {
  if (typeof words === 'string') return [{ text: words }];
  return words.map((part) => (typeof part === 'string' ? { text: part } : part));
}
