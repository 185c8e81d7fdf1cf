/** Above, an id counts as new: 4 million sessions. */
const MAX_IDS = 1 << 22;
const FNV_PRIME = 0x01000193;

/** A set of texts by 64 bits of a hash: eight bytes for each, since a file of gigabytes has millions of sessions. */
export interface IdSet {
  has(id: string): boolean;
  /** Whether further ids are not kept. */
  isFull(): boolean;
  /** False: it was there already. */
  add(id: string): boolean;
}

export function createIdSet(): IdSet {
  let table = new Uint32Array(2 * 1024);
  let count = 0;

  /** Index of the id in the table, or of the free place for it. */
  function place(into: Uint32Array, high: number, low: number): number {
    const mask = into.length / 2 - 1;
    for (let at = low & mask; ; at = (at + 1) & mask) {
      const [a, b] = [into[2 * at], into[2 * at + 1]];
      if ((a === high && b === low) || (a === 0 && b === 0)) return at;
    }
  }

  function grow(): void {
    const next = new Uint32Array(table.length * 2);
    for (let at = 0; at < table.length; at += 2) {
      const [high = 0, low = 0] = [table[at], table[at + 1]];
      if (high === 0 && low === 0) continue;
      const to = place(next, high, low);
      next[2 * to] = high;
      next[2 * to + 1] = low;
    }
    table = next;
  }

  return {
    isFull: () => count >= MAX_IDS,
    has(id) {
      const [high, low] = hashOf(id);
      return table[2 * place(table, high, low) + 1] !== 0;
    },
    add(id) {
      if (4 * count > table.length && count < MAX_IDS) grow();
      const [high, low] = hashOf(id);
      const at = place(table, high, low);
      const isNew = table[2 * at + 1] === 0;
      if (!isNew || count >= MAX_IDS) return isNew;
      count += 1;
      table[2 * at] = high;
      table[2 * at + 1] = low;
      return true;
    },
  };
}

/** Two 32-bit hashes (FNV-1a with different starts); the second is never 0, which marks a free place. */
function hashOf(id: string): readonly [number, number] {
  let [high, low] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    high = Math.imul(high ^ code, FNV_PRIME);
    low = Math.imul(low ^ (code + at), 0x85ebca6b);
    low ^= low >>> 13;
  }
  return [high >>> 0, low >>> 0 || 1];
}
