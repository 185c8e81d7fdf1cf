/** `1 map`, `3 maps`. `many` where an s is not enough: `plural(2, 'line was', 'lines were')`. */
export function plural(count: number, one: string, many?: string): string {
  return `${count} ${pluralWord(count, one, many)}`;
}

/** The word alone, for a number that is written otherwise. */
export function pluralWord(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
