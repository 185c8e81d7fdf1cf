import { RawList } from '../lib/json/raw-list.ts';

/** A list longer than this is written with one element a line: easy to count, to cut and to search. */
const LONG_LIST = 200;
/** Of one write; what the engine holds as one text of twice as many bytes is quick to make. */
const CHUNK_CHARS = 32 * 1024;

/**
 * A value as JSON with a line break at its end, piece by piece, so that a large result never stands in memory as one
 * text. It reads as `JSON.stringify(value, null, 2)`, but for lists of more than 200 elements and those of `RawList`,
 * which take one compact line an element.
 */
export function* jsonText(value: unknown): Generator<string> {
  let chunk = '';
  for (const piece of pieces(plain(value), '')) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  yield `${chunk}\n`;
}

function* pieces(value: unknown, indent: string): Generator<string> {
  if (value instanceof RawList) yield* listPieces(value.texts, indent);
  else if (Array.isArray(value)) yield* listPieces(elementsOf(value, indent), indent);
  else if (isObject(value)) yield* objectPieces(value, indent);
  else yield compact(value);
}

function* listPieces(elements: Iterable<string>, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let before = `[\n${inner}`;
  for (const element of elements) {
    yield before + element;
    before = `,\n${inner}`;
  }
  yield before.startsWith('[') ? '[]' : `\n${indent}]`;
}

function* elementsOf(list: readonly unknown[], indent: string): Generator<string> {
  for (const [index, element] of list.entries()) {
    if (list.length > LONG_LIST) yield compact(element);
    else yield [...pieces(plain(element, String(index)), `${indent}  `)].join('');
  }
}

function* objectPieces(object: object, indent: string): Generator<string> {
  const inner = `${indent}  `;
  let before = `{\n${inner}`;
  for (const key of Object.keys(object)) {
    const value = plain((object as Readonly<Record<string, unknown>>)[key], key);
    // What JSON has no word for is left out of an object, as JSON.stringify does it.
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    yield `${before}${JSON.stringify(key)}: `;
    yield* pieces(value, inner);
    before = `,\n${inner}`;
  }
  yield before.startsWith('{') ? '{}' : `\n${indent}}`;
}

function compact(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** What stands for the value in JSON: dates and errors of ours say so themselves. */
function plain(value: unknown, key = ''): unknown {
  if (value instanceof RawList) return value;
  if (isObject(value) && 'toJSON' in value && typeof value.toJSON === 'function') return value.toJSON(key);
  return value instanceof Number || value instanceof String || value instanceof Boolean ? value.valueOf() : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
