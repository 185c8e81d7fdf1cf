/** Bytes of a masking key. @source RFC 6455, 5.2 */
export const MASK_BYTES = 4;

/** The key for the next word, in the byte order of this machine. */
const turned = new Int32Array(1);
const turnedBytes = new Uint8Array(turned.buffer);

/** Removes the mask from the bytes from `begin` to `end`, in place; `keyAt`: of the key, for the first of them. */
export function unmask(chunk: Buffer, begin: number, end: number, key: Uint8Array, keyAt: number): void {
  const firstWord = Math.min(end, begin + ((MASK_BYTES - ((chunk.byteOffset + begin) % MASK_BYTES)) % MASK_BYTES));
  let at = begin;
  let from = keyAt;
  for (; at < firstWord; at += 1) {
    chunk[at] = (chunk[at] as number) ^ (key[from] as number);
    from = (from + 1) % MASK_BYTES;
  }
  const count = (end - at) >> 2;
  if (count > 0) {
    for (let i = 0; i < MASK_BYTES; i += 1) turnedBytes[i] = key[(from + i) % MASK_BYTES] as number;
    combine(new Int32Array(chunk.buffer, chunk.byteOffset + at, count), turned[0] as number);
    at += count * MASK_BYTES;
  }
  for (; at < end; at += 1) {
    chunk[at] = (chunk[at] as number) ^ (key[from] as number);
    from = (from + 1) % MASK_BYTES;
  }
}

/** Eight at a time: word by word the same takes two to six times as long (measured). */
function combine(words: Int32Array, key: number): void {
  let at = 0;
  for (const end = words.length - 7; at < end; at += 8) {
    words[at] = (words[at] as number) ^ key;
    words[at + 1] = (words[at + 1] as number) ^ key;
    words[at + 2] = (words[at + 2] as number) ^ key;
    words[at + 3] = (words[at + 3] as number) ^ key;
    words[at + 4] = (words[at + 4] as number) ^ key;
    words[at + 5] = (words[at + 5] as number) ^ key;
    words[at + 6] = (words[at + 6] as number) ^ key;
    words[at + 7] = (words[at + 7] as number) ^ key;
  }
  for (; at < words.length; at += 1) words[at] = (words[at] as number) ^ key;
}
