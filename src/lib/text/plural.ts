/** `1 map`, `3 maps`. `many` for irregular plurals: `plural(2, 'line was', 'lines were')`. */
export function plural(count: number, one: string, many?: string): string {
  return `${count} ${pluralWord(count, one, many)}`;
}

/** The word without the number. */
export function pluralWord(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
