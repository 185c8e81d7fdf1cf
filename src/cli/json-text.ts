import { listTextsOf } from '../lib/json/list-texts.ts';

/** A longer list is written with one element per line, which is faster and easy to search. */
const LONG_LIST = 200;
/** About the size of one write to a pipe. */
const CHUNK_CHARS = 64 * 1024;

/**
 * Writes a value as JSON with a final line break, in chunks, so that a large result is never one string in memory. Equal
 * to `JSON.stringify(value, null, 2)`, except for lists of more than 200 elements and lists with attached source texts:
 * those have one compact line per element. A chunk of bytes is valid until the next one is requested.
 */
export function* jsonText(value: unknown): Generator<string | Uint8Array> {
  let chunk = '';
  for (const piece of pieces(plain(value), '')) {
    if (typeof piece === 'string') {
      chunk += piece;
      if (chunk.length < CHUNK_CHARS) continue;
    }
    if (chunk !== '') yield chunk;
    chunk = '';
    if (typeof piece !== 'string') yield piece;
  }
  yield `${chunk}\n`;
}

type Pieces = Generator<string | Uint8Array>;

function* pieces(value: unknown, indent: string): Pieces {
  if (Array.isArray(value)) yield* value.length === 0 ? ['[]'] : listPieces(value, indent);
  else if (isObject(value)) yield* objectPieces(value, indent);
  else yield JSON.stringify(value) ?? 'null';
}

function* listPieces(list: readonly unknown[], indent: string): Pieces {
  const inner = `${indent}  `;
  const between = `,\n${inner}`;
  yield `[\n${inner}`;
  if (list.length > LONG_LIST) yield* compactPieces(list, between);
  else {
    for (const [index, element] of list.entries()) {
      if (index > 0) yield between;
      yield* pieces(plain(element, String(index)), inner);
    }
  }
  yield `\n${indent}]`;
}

/** Many elements per chunk, since yielding each through every level of nesting takes longer than writing it. */
function* compactPieces(list: readonly unknown[], between: string): Pieces {
  let chunk = '';
  for (const [index, element] of list.entries()) {
    chunk += `${index > 0 ? between : ''}${JSON.stringify(element) ?? 'null'}`;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

function* objectPieces(object: object, indent: string): Pieces {
  const inner = `${indent}  `;
  let before = `{\n${inner}`;
  for (const key of Object.keys(object)) {
    const texts = listTextsOf(object, key);
    if (texts !== undefined) {
      yield `${before}${JSON.stringify(key)}: [\n${inner}  `;
      yield* texts(`,\n${inner}  `);
      yield `\n${inner}]`;
      before = `,\n${inner}`;
      continue;
    }
    const value = plain((object as Readonly<Record<string, unknown>>)[key], key);
    // Values without a JSON form are omitted, as by JSON.stringify.
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    yield `${before}${JSON.stringify(key)}: `;
    yield* pieces(value, inner);
    before = `,\n${inner}`;
  }
  yield before.startsWith('{') ? '{}' : `\n${indent}}`;
}

/** The JSON form of a value with `toJSON`, such as a date or a GwError. */
function plain(value: unknown, key = ''): unknown {
  if (isObject(value) && 'toJSON' in value && typeof value.toJSON === 'function') return value.toJSON(key);
  return value instanceof Number || value instanceof String || value instanceof Boolean ? value.valueOf() : value;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
