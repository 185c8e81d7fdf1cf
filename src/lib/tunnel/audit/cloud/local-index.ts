/** Records of one chunk of the index. */
const CHUNK = 65_536;
/** Of the hash: no other content with the same sixteen bytes can be made. */
const HASH_BYTES = 16;
/** A larger gap in the numbers is a finding of the chain; its records are not held. */
const MAX_GAP = 1_000_000;

/** The local records by number, to compare them with the copy of the cloud: seventeen bytes for each. */
export interface LocalIndex {
  add(seq: number, hash: string): void;
  first(): number;
  /** Number of the last record. */
  last(): number;
  /** null: no record with this number. */
  hashOf(seq: number): string | null;
  /** Marks a record as seen in the copy; false: it was already. */
  mark(seq: number): boolean;
  isMarked(seq: number): boolean;
}

export function createLocalIndex(): LocalIndex {
  const chunks: { readonly hashes: Buffer; readonly flags: Uint8Array }[] = [];
  let first = 0;
  let length = 0;

  const at = (seq: number) => {
    const index = seq - first;
    const chunk = first > 0 && index >= 0 && index < length ? chunks[Math.floor(index / CHUNK)] : undefined;
    return chunk === undefined ? null : { chunk, slot: index % CHUNK };
  };

  return {
    add(seq, hash) {
      if (first === 0) first = seq;
      const index = seq - first;
      if (index < 0 || index > length + MAX_GAP) return;
      while (chunks.length * CHUNK <= index) {
        chunks.push({ hashes: Buffer.alloc(CHUNK * HASH_BYTES), flags: new Uint8Array(CHUNK) });
      }
      length = Math.max(length, index + 1);
      const place = at(seq);
      if (place === null || place.chunk.flags[place.slot] !== 0) return;
      place.chunk.hashes.write(hash.slice(0, 2 * HASH_BYTES), place.slot * HASH_BYTES, 'hex');
      place.chunk.flags[place.slot] = 1;
    },
    first: () => first,
    last: () => first + length - 1,
    hashOf(seq) {
      const place = at(seq);
      if (place === null || place.chunk.flags[place.slot] === 0) return null;
      const from = place.slot * HASH_BYTES;
      return place.chunk.hashes.toString('hex', from, from + HASH_BYTES);
    },
    mark(seq) {
      const place = at(seq);
      if (place === null) return false;
      const isNew = place.chunk.flags[place.slot] === 1;
      place.chunk.flags[place.slot] = 2;
      return isNew;
    },
    isMarked(seq) {
      const place = at(seq);
      return place !== null && place.chunk.flags[place.slot] === 2;
    },
  };
}

/** Whether two hashes are those of the same record, by the bytes that the index holds. */
export function isSameHash(indexed: string, hash: string): boolean {
  return hash.startsWith(indexed);
}
