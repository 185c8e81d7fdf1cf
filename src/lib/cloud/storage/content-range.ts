/** The part of a file that an answer 206 holds; positions count from 0 and include `last`. */
export interface ContentRange {
  readonly first: number;
  readonly last: number;
  /** Size of the whole file; null: not given (`*`). */
  readonly total: number | null;
}

/** At most 15 digits, so that every accepted number is exact. */
const FORM = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;

/** Parses a Content-Range header of an answer 206; null for anything else. @source RFC 9110, 14.4 */
export function parseContentRange(header: string | undefined): ContentRange | null {
  const found = FORM.exec(header ?? '');
  if (found === null) return null;
  const [first, last] = [Number(found[1]), Number(found[2])];
  const total = found[3] === '*' ? null : Number(found[3]);
  return first > last || (total !== null && last >= total) ? null : { first, last, total };
}
