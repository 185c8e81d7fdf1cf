import { hash } from 'node:crypto';

/** A run of these may be a token, or contain one. */
const CANDIDATE = /[A-Za-z0-9+/_=.~:?&-]{16,}/g;
const LONG_RUN = /[A-Za-z0-9+/_=.~:?&-]{16}/;
const SEPARATOR = /[=:?&]/g;
const PARAMETER_END = /[:?&]/;
const MARKS = '.:?&=';
/** The first parts of a run, which are also compared as a whole to its end. */
const MAX_WHOLE_PIECES = 8;
const MIN_TOKEN_CHARS = 16;
/** As of a notification: a longer token is discarded by the gate of the cloud. */
const MAX_TOKEN_CHARS = 4_096;
/** Characters `=` at the end of base64. */
const MAX_PADDING = 2;
/** Of a text that only looks like a token. Project decision, with the share of changes below. */
const MIN_LIKE_CHARS = 32;
const LIKE = /[A-Za-z0-9+/_-]{32,}/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const HEX = /^(?:[0-9a-f]+|[0-9A-F]+)$/;
/** Lengths of hashes in hexadecimal digits: half a SHA-256, SHA-1, SHA-256. */
const HASH_DIGITS = new Set([32, 40, 64]);
/**
 * Share of neighbours of another class (upper case, lower case, digit): 0.63 in random base64, below 0.3 in words, names
 * of files and identifiers.
 */
const MIN_CHANGES = 0.35;

export interface TokenHit {
  /** Its SHA-256 is that of a token in the records, so it is that token. */
  readonly isCertain: boolean;
  /** From 1, in characters. */
  readonly column: number;
  readonly length: number;
}

/**
 * Finds the first token in a text: one whose hash is known, else one that looks like a token. `isKnown` compares the first
 * 32 digits of the SHA-256, `isId` names texts that are ids.
 */
export function findToken(
  text: string,
  isKnown: (tokenHash: string) => boolean,
  isId: (text: string) => boolean = () => false,
): TokenHit | null {
  for (const match of text.matchAll(CANDIDATE)) {
    for (const [from, piece] of piecesOf(match[0])) {
      if (isKnown(hash('sha256', piece, 'hex').slice(0, 32))) {
        return { isCertain: true, column: match.index + from + 1, length: piece.length };
      }
    }
  }
  if (text.length < MIN_LIKE_CHARS) return null;
  for (const match of text.replace(UUID, (id) => ' '.repeat(id.length)).matchAll(LIKE)) {
    const [run] = match;
    if (isTokenLike(run) && !isId(run)) return { isCertain: false, column: match.index + 1, length: run.length };
  }
  return null;
}

/** Whether a text has a chance to hold a token, so that the search is worth its time. */
export function mayHoldToken(text: string): boolean {
  return text.length >= MIN_TOKEN_CHARS && LONG_RUN.test(text);
}

/**
 * The run and its parts between separators, such as `token=…` in an address; `=` may also end a token. Only the first parts
 * are compared up to later ends too, so that the work is in proportion to the run.
 */
function* piecesOf(run: string): Generator<readonly [number, string]> {
  const cuts = [...Array.from(run.matchAll(SEPARATOR), ({ index }) => index), run.length];
  const last = lengthWithoutMarks(run);
  let start = 0;
  for (const [at, cut] of cuts.entries()) {
    const ends = new Set([cut, paddedEnd(run, cut), Math.min(cut, last)]);
    if (at < MAX_WHOLE_PIECES) {
      const rest = run.slice(start, start + MAX_TOKEN_CHARS + 1);
      ends
        .add(run.length)
        .add(last)
        .add(start + rest.search(PARAMETER_END));
    }
    for (const end of ends) {
      const length = end - start;
      if (length >= MIN_TOKEN_CHARS && length <= MAX_TOKEN_CHARS) yield [start, run.slice(start, end)];
    }
    start = cut + 1;
  }
}

function paddedEnd(run: string, cut: number): number {
  let end = cut;
  while (end < cut + MAX_PADDING && run[end] === '=') end += 1;
  return end;
}

/** Without the marks at its end, as of a sentence. */
function lengthWithoutMarks(run: string): number {
  let end = run.length;
  while (end > 0 && MARKS.includes(run.charAt(end - 1))) end -= 1;
  return end;
}

function isTokenLike(run: string): boolean {
  if (HEX.test(run)) return !HASH_DIGITS.has(run.length) && /\d/.test(run) && /[a-f]/i.test(run);
  let [changes, chars] = [0, 0];
  let last = 0;
  for (let at = 0; at < run.length; at += 1) {
    const own = classOf(run.charCodeAt(at));
    if (own === 0) continue;
    if (last !== 0 && own !== last) changes += 1;
    last = own;
    chars += 1;
  }
  return chars >= MIN_LIKE_CHARS - 4 && changes / chars >= MIN_CHANGES;
}

/** 0 for the signs between words. */
function classOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return 1;
  if (code >= 0x41 && code <= 0x5a) return 2;
  return code >= 0x30 && code <= 0x39 ? 3 : 0;
}
