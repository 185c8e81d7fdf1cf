import { createScanner } from 'jsonc-parser';
import { shorten } from '../text/index.ts';
import { checkJsonNow, problemOfFinding } from './check.ts';
import type { JsonBounds } from './scan.ts';

/** Behind a wrong address or file name there may be anything: the problem is one for a person to understand. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Texts longer than this are only parsed, not searched for doubled keys: the search would hold up everything else. */
const SEARCHED_CHARS = 2 * 1024 * 1024;
const DEEPEST = 200;

/** Kinds of token of jsonc-parser, whose own names for them are erased before run time. */
const token = {
  braceOpen: 1,
  braceClose: 2,
  bracketOpen: 3,
  bracketClose: 4,
  comma: 5,
  colon: 6,
  string: 10,
  unknown: 16,
  end: 17,
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * `what` is what a problem calls the text: 'answer', 'file', 'overlays'. With bounds nothing is made of bytes that hold
 * more: a few of them can stand for many objects, and reading those would hold up everything else.
 */
export function readJsonBytes(bytes: Uint8Array, what = 'answer', bounds?: JsonBounds): JsonReading {
  let text: string;
  if (bounds !== undefined) {
    const finding = checkJsonNow(hasByteOrderMark(bytes) ? bytes.subarray(3) : bytes, bounds);
    const isLong = bytes.length > EXPLAINED_BYTES;
    if (finding !== 'sound' && (finding !== 'not-json' || isLong)) {
      return { ok: false, problem: problemOfFinding(finding, bounds, what) ?? '' };
    }
  }
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, problem: `the ${what} is not text in UTF-8` };
  }
  return readJson(text, what);
}

/** Which word of it is wrong is looked for only in texts of this size, where bounds are kept. */
const EXPLAINED_BYTES = 64 * 1024;

/** The decoder leaves it out. */
function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

export interface ReadOptions {
  /** The value is only looked at or carried through, never copied into other objects: every key stays as it came. */
  readonly keepProtoKeys?: boolean;
}

/** Doubled keys are refused: which of the two values the sender means is anyone's guess. */
export function readJson(text: string, what = 'answer', { keepProtoKeys = false }: ReadOptions = {}): JsonReading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: problemOf(text, what) };
  }
  if (text.length > SEARCHED_CHARS) return { ok: true, value };
  const found = search(text);
  if (found.problem !== undefined) return { ok: false, problem: found.problem };
  if (found.protoKey && !keepProtoKeys) dropProtoKeys(value);
  return { ok: true, value };
}

/** Goes through a text that is JSON. A stack of our own, so that deep nesting cannot exhaust the engine's. */
function search(text: string): { problem?: string; protoKey: boolean } {
  const scanner = createScanner(text, true);
  const open: (Set<string> | null)[] = [];
  let protoKey = false;
  let isKey = false;
  for (let kind: number = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    if (kind === token.braceOpen || kind === token.bracketOpen) {
      open.push(kind === token.braceOpen ? new Set() : null);
      if (open.length > DEEPEST) return { problem: `the JSON is nested deeper than ${DEEPEST} levels`, protoKey };
    } else if (kind === token.braceClose || kind === token.bracketClose) {
      open.pop();
    } else if (kind === token.string && isKey) {
      const key = scanner.getTokenValue();
      const keys = open.at(-1);
      if (keys?.has(key)) return { problem: `the JSON names the key ${quote(key)} twice`, protoKey };
      keys?.add(key);
      protoKey ||= key === '__proto__';
    }
    isKey = kind === token.braceOpen || (kind === token.comma && open.at(-1) !== null);
  }
  return { protoKey };
}

/** Why a text is not JSON, for a person. */
function problemOf(text: string, what: string): string {
  const start = text.trimStart();
  if (start === '') return `the ${what} is empty`;
  if (start.startsWith('<')) return 'answered with HTML instead of JSON';
  if (text.length > SEARCHED_CHARS) return `the ${what} is not JSON`;
  const scanner = createScanner(text, true);
  let depth = 0;
  let cutString = false;
  for (let kind: number = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    cutString = scanner.getTokenError() !== 0;
    if (kind === token.braceOpen || kind === token.bracketOpen) depth += 1;
    else if (kind === token.braceClose || kind === token.bracketClose) depth -= 1;
    else if (kind === token.unknown) {
      const word = scanner.getTokenValue();
      if (word === '-') continue;
      if (/^(nan|inf(inity)?)$/i.test(word)) return `the ${what} contains ${word}, which is no JSON number`;
      return `the ${what} is not JSON: it contains ${quote(word)}`;
    }
  }
  return depth > 0 || cutString ? 'the JSON is cut off in the middle' : `the ${what} is not JSON`;
}

/** An own key of this name is harmless by itself, but would turn into a prototype where someone copies objects. */
function dropProtoKeys(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
  for (const child of Object.values(value)) dropProtoKeys(child);
}

/** Foreign text inside a sentence of ours: bounded, on one line. */
export function quote(text: string): string {
  const short = shorten(text, 60);
  // What JSON leaves as it is, and what breaks a line or turns the direction of writing all the same.
  return JSON.stringify(short).replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
