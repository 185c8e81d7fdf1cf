import { type ParseErrorCode, visit } from 'jsonc-parser';
import { PNG_SIGNATURE } from '../../png/index.ts';

/**
 * The text of bytes that should be the JSON of overlays, or the problem: a wrong file, another encoding, a truncated
 * file. The problem follows 'No map overlays in the file: '.
 */
export type TextReading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** From larger parts Node makes strings of two bytes per character, and every slice of them has two as well. */
const DECODED_BYTES = 256 * 1024;

/** The text of bytes in UTF-8, without a byte order mark. */
export function decodeText(bytes: Uint8Array): TextReading {
  const other = otherFormat(bytes);
  if (other !== null) return { ok: false, problem: other };
  try {
    const utf8 = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    for (let at = 0; at < bytes.length; at += DECODED_BYTES) {
      text += utf8.decode(bytes.subarray(at, at + DECODED_BYTES), { stream: true });
    }
    return { ok: true, text: text + utf8.decode() };
  } catch {
    return { ok: false, problem: utf8Problem(bytes) };
  }
}

const signatures: readonly (readonly [signature: readonly number[], problem: string])[] = [
  [[0xff, 0xfe, 0x00, 0x00], 'it is text in UTF-32, not in UTF-8'],
  [[0x00, 0x00, 0xfe, 0xff], 'it is text in UTF-32, not in UTF-8'],
  [[0xff, 0xfe], 'it is text in UTF-16, not in UTF-8'],
  [[0xfe, 0xff], 'it is text in UTF-16, not in UTF-8'],
  [[0x1f, 0x8b], 'it is compressed with gzip'],
  [[0x50, 0x4b, 0x03, 0x04], 'it is a ZIP archive'],
  [PNG_SIGNATURE, 'it is a PNG image'],
  [[0x25, 0x50, 0x44, 0x46], 'it is a PDF document'],
];

function otherFormat(bytes: Uint8Array): string | null {
  const found = signatures.find(([signature]) => signature.every((byte, at) => bytes[at] === byte));
  if (found) return found[1];
  // JSON begins with an ASCII character, which wider encodings write with zero bytes beside it.
  const [a, b, c, d] = bytes;
  if (a === 0 && b === 0 && c === 0 && d === 0) return 'it begins with zeros, as a damaged file does';
  if ((a === 0 && b === 0 && c === 0) || (a !== 0 && b === 0 && c === 0 && d === 0)) {
    return 'it is text in UTF-32, not in UTF-8';
  }
  return (a === 0) !== (b === 0) ? 'it is text in UTF-16, not in UTF-8' : null;
}

function utf8Problem(bytes: Uint8Array): string {
  // Stream decoding accepts an unfinished last character, so a prefix fails exactly when it holds an invalid byte.
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (beginsAsUtf8(bytes.subarray(0, middle))) good = middle;
    else bad = middle;
  }
  return bad > bytes.length
    ? `it is truncated in the middle of a character, after ${bytes.length} bytes`
    : `it is not UTF-8: byte ${bad} is invalid, as in a file saved as Latin-1 or Windows-1252`;
}

function beginsAsUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Longer texts are not searched for the position of the syntax error. */
const SEARCHED_CHARS = 2 * 1024 * 1024;
/** Deeper texts are not searched either, since the search recurses. */
const MAX_DEPTH = 200;

/** The problem of a text that JSON.parse rejects; null when no cause was found. */
export function jsonProblem(text: string): string | null {
  const end = text.trimEnd().length;
  if (end === 0) return 'it is empty';
  if (text.trimStart().startsWith('<')) return 'it is HTML or XML';
  const { open, deepest } = nestingOf(text);
  const searched = text.length <= SEARCHED_CHARS && deepest <= MAX_DEPTH;
  const syntaxError = searched ? firstSyntaxError(text) : null;
  if (open && (syntaxError === null || syntaxError.end >= end)) {
    return `the JSON is truncated after ${Buffer.byteLength(text)} bytes`;
  }
  return syntaxError && `it is not valid JSON: syntax error in line ${syntaxError.line}, column ${syntaxError.column}`;
}

/** Whether brackets or a string are still open at the end, and the maximum depth. Exact up to the first syntax error. */
function nestingOf(text: string): { open: boolean; deepest: number } {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at += 1;
      while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
      if (at >= text.length) return { open: true, deepest };
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return { open: depth > 0, deepest };
}

/** Lines and columns from 1. */
function firstSyntaxError(text: string): { line: number; column: number; end: number } | null {
  let first: { line: number; column: number; end: number } | null = null;
  visit(
    text,
    {
      onError: (_: ParseErrorCode, offset, length, line, column) => {
        first ??= { line: line + 1, column: column + 1, end: offset + length };
      },
    },
    { disallowComments: true },
  );
  return first;
}
