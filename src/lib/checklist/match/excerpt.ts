import { oneLine, shorten } from '../../text/index.ts';

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

/** A value on one line, for a person: text in quotes, structures in words, shortened, without control characters. */
export function excerptText(value: unknown): string {
  if (typeof value === 'string') return `'${short(oneLine(value))}'`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (value === undefined) return 'nothing';
  return short(oneLine(structureText(excerpt(value))));
}

/** A list by its items, a finding by its title and detail, anything else by its keys and values. */
function structureText(value: Excerpt): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : value.map(itemText).join(', ');
  const { title, detail } = value;
  if (typeof title === 'string' && typeof detail === 'string') return `${title}: ${detail}`;
  const entries = Object.entries(value).map(([key, inner]) => `${keyWords(key)} ${itemText(inner)}`);
  return entries.length === 0 ? 'nothing' : entries.join(', ');
}

function itemText(value: Excerpt): string {
  const text = structureText(value);
  return typeof value === 'object' && value !== null ? `(${text})` : text;
}

const UNITS: Readonly<Record<string, string>> = { Ms: 'ms', S: 's', Hz: 'Hz', M: 'm', Deg: 'degrees', Bytes: 'bytes' };

/** `ageMs` as `age (ms)`, `atLastConnection` as `at last connection`. */
export function keyWords(key: string): string {
  const unit = /^(.*[a-z])(Ms|S|Hz|M|Deg|Bytes)$/.exec(key);
  const words = (unit?.[1] ?? key).replace(
    /([a-z0-9])([A-Z])/g,
    (_, before, after) => `${before} ${after.toLowerCase()}`,
  );
  return unit ? `${words} (${UNITS[unit[2] ?? '']})` : words;
}

/** What a matcher expects or has found, without the quotes of simple words, and with words for what is none or yes. */
export function inWords(text: string): string {
  const words: Readonly<Record<string, string>> = { null: 'none', true: 'yes', false: 'no' };
  return words[text] ?? text.replace(/'([\p{L}\p{N}][\p{L}\p{N} ._-]*)'/gu, '$1');
}

/** A value in a sentence: text without quotes, numbers with at most two decimals. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return short(oneLine(value));
  if (typeof value === 'number' && Number.isFinite(value)) return String(Math.round(value * 100) / 100);
  return excerptText(value);
}

const short = (text: string) => shorten(text, MAX_TEXT_CHARS);
