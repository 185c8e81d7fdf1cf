import { setImmediate as nextTurn } from 'node:timers/promises';
import { createScanner } from 'jsonc-parser';
import { shorten } from '../text/index.ts';
import { createJsonScanner, type JsonBounds, type ScanFinding } from './scan.ts';

/** One to two milliseconds of scanning (measured), after which the event loop runs. */
const PIECE_BYTES = 64 * 1024;

/** `problem` is a sentence for a person, since a wrong address or file name may lead to any content. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** Longer texts are not searched for duplicate keys, since the search would block the event loop. */
const SEARCHED_CHARS = 2 * 1024 * 1024;
const MAX_DEPTH = 200;

/** Token kinds of jsonc-parser, whose const enum does not exist at run time. */
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

/** Only texts of this size are searched for the invalid word, where bounds are given. */
const EXPLAINED_BYTES = 64 * 1024;

export interface ReadOptions {
  /** The value is only read or passed through, never copied into other objects: every key is kept. */
  readonly keepProtoKeys?: boolean;
}

/** Duplicate keys are rejected, since either value might be meant. */
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

/** Checks whether bytes are JSON within the bounds, without blocking the event loop. */
export async function checkJson(bytes: Uint8Array, bounds: JsonBounds): Promise<ScanFinding> {
  const scanner = createJsonScanner(bounds);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    if (from > 0) await nextTurn();
    if (!scanner.push(bytes, from, Math.min(from + PIECE_BYTES, bytes.length))) break;
  }
  return scanner.end();
}

/** The same synchronously, for small input. */
function checkJsonNow(bytes: Uint8Array, bounds: JsonBounds): ScanFinding {
  const scanner = createJsonScanner(bounds);
  scanner.push(bytes);
  return scanner.end();
}

/** A finding as a sentence for a person; null for 'sound'. `what` as for `readJsonBytes`. */
export function problemOfFinding(finding: ScanFinding, bounds: JsonBounds, what = 'answer'): string | null {
  switch (finding) {
    case 'sound':
      return null;
    case 'not-json':
      return `the ${what} is not JSON`;
    case 'too-deep':
      return `the JSON is nested deeper than ${bounds.maxDepth} levels`;
    case 'too-many':
      return `the JSON holds more than ${bounds.maxValues} values`;
  }
}

/**
 * `what` names the text in a problem: 'answer', 'file', 'overlays'. Bytes beyond the bounds are not parsed, since few
 * bytes can describe many objects and block the event loop.
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

/** The decoder strips it. */
function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Traverses JSON with an explicit stack, so that deep nesting cannot overflow the call stack. */
function search(text: string): { problem?: string; protoKey: boolean } {
  const scanner = createScanner(text, true);
  const open: (Set<string> | null)[] = [];
  let protoKey = false;
  let isKey = false;
  for (let kind: number = scanner.scan(); kind !== token.end; kind = scanner.scan()) {
    if (kind === token.braceOpen || kind === token.bracketOpen) {
      open.push(kind === token.braceOpen ? new Set() : null);
      if (open.length > MAX_DEPTH) return { problem: `the JSON is nested deeper than ${MAX_DEPTH} levels`, protoKey };
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

/** External text for a message: bounded, on one line. */
export function quote(text: string): string {
  const short = shorten(text, 60);
  // Characters that JSON does not escape and that break a line or change the text direction.
  return JSON.stringify(short).replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
