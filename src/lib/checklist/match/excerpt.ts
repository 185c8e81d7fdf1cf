import { oneLine } from '../../document/index.ts';
import { shorten } from '../../text/index.ts';

const MAX_TEXT_CHARS = 200;
const MAX_ITEMS = 12;
const MAX_LEVELS = 4;
const MAX_VALUES = 400;

/** Plain data, truncated for reports. */
export type Excerpt = null | boolean | number | string | Excerpt[] | { [key: string]: Excerpt };

/**
 * Measured data of a step, truncated to a bounded size with a note of what is cut; anything but plain data becomes text.
 */
export function excerpt(value: unknown): Excerpt {
  let left = MAX_VALUES;
  const cut = (part: unknown, level: number): Excerpt => {
    left -= 1;
    if (left < 0) return '…';
    if (typeof part === 'string') return short(part);
    if (typeof part === 'number') return Number.isFinite(part) ? part : String(part);
    if (typeof part === 'boolean' || part === null) return part;
    if (part === undefined) return null;
    if (typeof part !== 'object') return short(String(part));
    if (level >= MAX_LEVELS) return '…';
    if (Array.isArray(part)) {
      const items = part.slice(0, MAX_ITEMS).map((item) => cut(item, level + 1));
      return part.length > MAX_ITEMS ? [...items, `… and ${part.length - MAX_ITEMS} more`] : items;
    }
    if (part instanceof Date) return part.toISOString();
    const entries = Object.entries(part).filter(([, inner]) => inner !== undefined && typeof inner !== 'function');
    const kept = entries.slice(0, MAX_ITEMS * 2).map(([key, inner]) => [short(key), cut(inner, level + 1)] as const);
    const more = entries.length - kept.length;
    return Object.fromEntries(more > 0 ? [...kept, ['…', `and ${more} more`] as const] : kept);
  };
  return cut(value, 0);
}

/** A value on one line, for a person: text in quotes, structures as JSON, shortened, without control characters. */
export function excerptText(value: unknown): string {
  if (typeof value === 'string') return `'${short(oneLine(value))}'`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (value === undefined) return 'nothing';
  return short(oneLine(JSON.stringify(excerpt(value))));
}

/** A value in a sentence: text without quotes, numbers with at most two decimals. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return short(oneLine(value));
  if (typeof value === 'number' && Number.isFinite(value)) return String(Math.round(value * 100) / 100);
  return excerptText(value);
}

const short = (text: string) => shorten(text, MAX_TEXT_CHARS);
