import { visible } from '../../markup/index.ts';

/** Text that can be shown, on one line and no longer than `most` characters. */
export function oneLine(text: string, most: number): string {
  // A name may be a megabyte: what is cut off anyway need not be looked at.
  const line = visible(text.slice(0, 4 * most + 16))
    .replace(/\s+/gu, ' ')
    .trim();
  const chars = [...line];
  const isCut = chars.length > most || text.length > 4 * most + 16;
  return isCut ? `${chars.slice(0, most - 1).join('')}…` : line;
}

/** A number for an attribute of a picture: at most one decimal, never an exponent. */
export function unit(value: number): number {
  const held = Math.max(-99_999, Math.min(99_999, value));
  return Math.round(held * 10) / 10 + 0;
}

/** Metres, degrees: as many decimals as say something, no exponent where it can be helped. */
export function figure(value: number, decimals: number): string {
  if (Math.abs(value) >= 1e9) return value.toExponential(2);
  return String(Number(value.toFixed(decimals)) + 0);
}
