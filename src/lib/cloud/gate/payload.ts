import { createJsonScanner, readJsonBytes } from '../../json/index.ts';

/** Max. nesting of a payload. A shadow has at most 8 levels with a common vendor (HINWEIS), and its answer a few more. */
export const MAX_DEPTH = 16;

/** Payloads are bounded by their size, which bounds the number of values too. */
const bounds = { maxDepth: MAX_DEPTH, maxValues: Number.MAX_SAFE_INTEGER };

export type Payload =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: 'not-json' | 'too-deep' };

/**
 * Parses a payload: strict UTF-8, one JSON text, no key twice in an object, bounded nesting. A byte order mark is
 * ignored, and a key `__proto__` is left out at any depth.
 */
export function parsePayload(bytes: Uint8Array): Payload {
  const scanner = createJsonScanner(bounds);
  scanner.push(withoutByteOrderMark(bytes));
  if (scanner.end() === 'too-deep') return { ok: false, reason: 'too-deep' };
  const read = readJsonBytes(bytes, 'payload');
  return read.ok ? read : { ok: false, reason: 'not-json' };
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
