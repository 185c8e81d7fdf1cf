import { isRecord } from '../../json/index.ts';

/** Readers of foreign fields. Each returns null for a value that is not of its type. */

export type Fields = Readonly<Record<string, unknown>>;

/** An own field; undefined where it is absent or null. */
export function field(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

/** A text that matches a pattern. Patterns here allow neither control characters nor lone surrogates. */
export function matching(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

/** A text for a log or a page: well-formed, on one line, at most `maxCharacters`; null for anything but a text. */
export function displayText(value: unknown, maxCharacters: number): string | null {
  if (typeof value !== 'string') return null;
  const line = value
    .slice(0, maxCharacters)
    .toWellFormed()
    // Control characters, line ends, and characters that change the direction of the text around them.
    .replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .trim();
  return line;
}

/** A whole number from 0 that a double holds exactly. */
export function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** A point in time in seconds or milliseconds: a finite number from 0. */
export function time(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}

/** A list of texts that match a pattern. */
export function textListOf(value: unknown, pattern: RegExp): string[] | null {
  if (!Array.isArray(value)) return null;
  const texts = value.filter((each) => matching(each, pattern) !== null);
  return texts.length === value.length ? texts : null;
}

/** An object of texts. */
export function textsOf(
  value: unknown,
  { key, text, maxEntries }: { readonly key: RegExp; readonly text: RegExp; readonly maxEntries: number },
): Record<string, string> | null {
  if (!isRecord(value)) return null;
  const entries = Object.entries(value);
  if (entries.length > maxEntries) return null;
  const texts: Record<string, string> = {};
  for (const [name, each] of entries) {
    if (!key.test(name) || typeof each !== 'string' || !text.test(each)) return null;
    texts[name] = each;
  }
  return texts;
}

/** Whether an object has a field that is not among these. */
export function hasOther(fields: Fields, names: readonly string[]): boolean {
  return Object.keys(fields).some((name) => !names.includes(name));
}
