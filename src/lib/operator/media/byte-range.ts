/** The first and the last byte. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The range that a player asks for, of a file of this size; null for the whole file. A server may ignore a Range header
 * (RFC 9110, 14.2): several ranges, other units, malformed ones and those behind the end of the file get the whole file.
 */
export function byteRange(header: string | undefined, bytes: number): ByteRange | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  if (match === null) return null;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return null;
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  return first <= last ? { first, last } : null;
}
