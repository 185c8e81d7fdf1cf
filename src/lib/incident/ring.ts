/** The newest of what is pushed, within a time that the owner says and a size that never is exceeded. */
export interface Ring<T extends { readonly atMs: number }> {
  push(item: T, bytes: number): void;
  newest(): T | undefined;
  all(): readonly T[];
  /** Forgets what is older, but for the last `spared` of them. */
  forgetBefore(ms: number, spared?: number): void;
  /** How many were dropped for their size, of the time that is remembered. */
  leftOut(): number;
}

export function createRing<T extends { readonly atMs: number }>(maxBytes: number): Ring<T> {
  const items: { readonly item: T; readonly bytes: number }[] = [];
  let total = 0;
  let dropped: number[] = [];

  function drop(count: number): void {
    for (const { bytes } of items.splice(0, count)) total -= bytes;
  }

  return {
    push(item, bytes) {
      items.push({ item, bytes });
      total += bytes;
      while (total > maxBytes && items.length > 1) {
        dropped.push(items[0]?.item.atMs ?? 0);
        drop(1);
      }
    },
    newest: () => items.at(-1)?.item,
    all: () => items.map(({ item }) => item),
    forgetBefore(ms, spared = 0) {
      const kept = items.findIndex(({ item }) => item.atMs >= ms);
      drop(Math.max(0, (kept < 0 ? items.length : kept) - spared));
      dropped = dropped.filter((atMs) => atMs >= ms);
    },
    leftOut: () => dropped.length,
  };
}
