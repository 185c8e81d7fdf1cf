/** Bytes of the header of a frame without mask and extended length. @source RFC 6455, 5.2 */
const SHORT_HEADER_BYTES = 2;
const MASKED = 0x80;
const MASK_BYTES = 4;

/**
 * Removes the mask from the frames of a client: in place, so that whatever reads the same chunks afterwards finds frames
 * whose masking key is 0. The WebSocket library does that byte by byte, which takes as long as everything else in the
 * service. Chunks may end anywhere; bytes that are no valid frames are left to the library, which refuses them.
 */
export function createUnmasker(): (chunk: Buffer) => void {
  /** Bytes of the header that have arrived. */
  const header: number[] = [];
  let headerBytes = SHORT_HEADER_BYTES;
  const key = new Uint8Array(MASK_BYTES);
  let isMasked = false;
  let payloadLeft = 0;
  /** Of the key, for the next byte of the payload. */
  let keyAt = 0;

  /** Takes a byte of the header. Returns what stands in its place. */
  function readHeader(byte: number): number {
    header.push(byte);
    const count = header.length;
    let left = byte;
    if (count === SHORT_HEADER_BYTES) {
      isMasked = (byte & MASKED) !== 0;
      headerBytes += lengthBytes(byte & 0x7f) + (isMasked ? MASK_BYTES : 0);
    } else if (isMasked && count > Math.max(SHORT_HEADER_BYTES, headerBytes - MASK_BYTES)) {
      key[MASK_BYTES - 1 - (headerBytes - count)] = byte;
      left = 0;
    }
    if (count === headerBytes) {
      payloadLeft = payloadLength(header);
      keyAt = 0;
      header.length = 0;
      headerBytes = SHORT_HEADER_BYTES;
    }
    return left;
  }

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (payloadLeft === 0) {
        chunk[at] = readHeader(chunk[at] ?? 0);
        at += 1;
        continue;
      }
      const end = Math.min(chunk.length, at + payloadLeft);
      if (isMasked) combine(chunk, at, end, key, keyAt);
      keyAt = (keyAt + end - at) % MASK_BYTES;
      payloadLeft -= end - at;
      at = end;
    }
  };
}

function lengthBytes(short: number): number {
  return short === 126 ? 2 : short === 127 ? 8 : 0;
}

function payloadLength(header: readonly number[]): number {
  const short = (header[1] ?? 0) & 0x7f;
  const extended = header.slice(SHORT_HEADER_BYTES, SHORT_HEADER_BYTES + lengthBytes(short));
  return extended.length === 0 ? short : extended.reduce((length, byte) => length * 256 + byte, 0);
}

/** Eight at a time: word by word the same takes two to six times as long (measured). */
function combineWords(words: Int32Array, key: number): void {
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

/** The key for the next word, in the byte order of this machine. */
const turned = new Int32Array(1);
const turnedBytes = new Uint8Array(turned.buffer);

/** Combines the bytes from `begin` to `end` with the key from `keyAt` on, as many as possible four at a time. */
function combine(chunk: Buffer, begin: number, end: number, key: Uint8Array, keyAt: number): void {
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
    combineWords(new Int32Array(chunk.buffer, chunk.byteOffset + at, count), turned[0] as number);
    at += count * MASK_BYTES;
  }
  for (; at < end; at += 1) {
    chunk[at] = (chunk[at] as number) ^ (key[from] as number);
    from = (from + 1) % MASK_BYTES;
  }
}
