import { RawList } from '../lib/text/index.ts';

/** A longer list is written with one element per line, which is easy to count, cut and search. */
const LONG_LIST = 200;
/** Size of one write; the engine builds a string of up to twice as many bytes quickly. */
const CHUNK_CHARS = 32 * 1024;

/**
 * Writes a value as JSON with a final line break, in chunks, so that a large result is never one string in memory. Equal
 * to `JSON.stringify(value, null, 2)`, except for lists of more than 200 elements and those of `RawList`: those have one
 * compact line per element.
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
    // Values without a JSON form are omitted, as by JSON.stringify.
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

/** The JSON form of a value with `toJSON`, such as a date or a GwError. */
function plain(value: unknown, key = ''): unknown {
  if (value instanceof RawList) return value;
  if (isObject(value) && 'toJSON' in value && typeof value.toJSON === 'function') return value.toJSON(key);
  return value instanceof Number || value instanceof String || value instanceof Boolean ? value.valueOf() : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
