import type { MeasuredValue } from '../../checklist/index.ts';
import type { Basis, Mark } from '../../evidence/index.ts';
import { shorten } from '../../text/index.ts';
import type { RecordTexts } from '../texts/record.ts';

/** The beginning of a text, on one line. */
export function cut(text: string, most: number): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), most);
}

/** `2026-11-21 14:03 UTC`: to the minute, in UTC for comparison. */
export function moment(iso: string): string {
  return iso.replace(/T(\d\d:\d\d)(:\d\d(\.\d+)?)?Z$/, ' $1 UTC');
}

export function duration(ms: number, texts: RecordTexts): string {
  return ms < 60_000 ? texts.seconds((ms / 1000).toFixed(1)) : texts.minutes((ms / 60_000).toFixed(1));
}

/** A measured value with its unit, as it came. */
export function valueText({ value, unit }: Pick<MeasuredValue, 'value' | 'unit'>): string {
  return unit === null ? String(value) : `${value} ${unit}`;
}

const MAX_CHARACTERS = 4_000;

/** Truncates every text that is too long for paper, with the number of characters cut. */
export function bounded<T>(value: T, texts: RecordTexts): T {
  if (typeof value === 'string') {
    const rest = value.length - MAX_CHARACTERS;
    return (rest <= 0 ? value : `${value.slice(0, MAX_CHARACTERS).toWellFormed()} ${texts.cut(rest)}`) as T;
  }
  if (Array.isArray(value)) return value.map((one) => bounded(one, texts)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, bounded(one, texts)])) as T;
}

/** Records of older versions have no basis of a mark. */
export function markIn(
  { mark, basis }: { readonly mark: Mark; readonly basis?: Basis | undefined },
  texts: Pick<RecordTexts, 'markText'>,
) {
  return basis === undefined ? mark : texts.markText({ mark, basis });
}
