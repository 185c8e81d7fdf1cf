import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkJson,
  createJsonScanner,
  type JsonBounds,
  type ScanFinding,
  type TopMember,
} from '../../src/lib/json/index.ts';
import { readJsonBytes } from '../../src/lib/json/read.ts';
import { runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';

const wide: JsonBounds = { maxDepth: 100_000, maxValues: 1_000_000 };
/** A byte order mark is not JSON for the engine, and the scanner must detect it. */
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function engineAccepts(bytes: Uint8Array): boolean {
  try {
    JSON.parse(strict.decode(bytes));
    return true;
  } catch {
    return false;
  }
}

function scanned(bytes: Uint8Array, bounds = wide, pieces: readonly number[] = []): ScanFinding {
  const scanner = createJsonScanner(bounds);
  let from = 0;
  for (const length of pieces) {
    scanner.push(bytes, from, Math.min(from + length, bytes.length));
    from = Math.min(from + length, bytes.length);
  }
  // As a separate view: the next chunk need not be in the same memory.
  scanner.push(bytes.slice(from));
  return scanner.end();
}

const isAccepted = (bytes: Uint8Array) => scanned(bytes) === 'sound';

/** Bytes that are nearly JSON: valid texts with parts removed, duplicated, changed or inserted. */
const nearlyJson = fc
  .tuple(
    fc.oneof(
      fc.json({ stringUnit: anyCharacter, maxDepth: 6 }),
      fc.constantFrom('-0', '1e5', '[1.5E-3,true]', '{"a":null}'),
    ),
    fc.array(
      fc.record({
        at: fc.nat(),
        cut: fc.nat({ max: 2 }),
        put: fc.oneof(
          fc.uint8Array({ maxLength: 3 }),
          fc
            .constantFrom(...'"\\{}[],:0-.e \t', '\\u', 'd800', 'E+', 'null', 'tru')
            .map((text) => new Uint8Array(Buffer.from(text))),
        ),
      }),
      { maxLength: 3 },
    ),
  )
  .map(([text, changes]) => {
    let bytes = Buffer.from(text);
    for (const { at, cut, put } of changes) {
      const where = at % (bytes.length + 1);
      bytes = Buffer.concat([bytes.subarray(0, where), put, bytes.subarray(where + cut)]);
    }
    return new Uint8Array(bytes);
  });

/** Only bytes that occur in JSON, so that many texts are valid. */
const jsonLetters = fc
  .array(fc.constantFrom(...'{}[]:,"\\/bfnrtu0123456789aAeE+-. \n\r\t'), { maxLength: 12 })
  .map((letters) => new Uint8Array(Buffer.from(letters.join(''))));

describe('the scanner of JSON', () => {
  it('accepts what the engine accepts, and nothing else', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(nearlyJson, jsonLetters, fc.uint8Array({ maxLength: 20 })), (bytes) => {
        expect(isAccepted(bytes)).toBe(engineAccepts(bytes));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('has the same result for any chunk boundaries', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(nearlyJson, jsonLetters), fc.array(fc.nat({ max: 4 })), (bytes, pieces) => {
        expect(scanned(bytes, wide, pieces)).toBe(scanned(bytes));
      }),
      { numRuns: runs(2_000) },
    );
  });

  const accepted = ['-0', '1E-007', '1e999', '"\u007f\u2028\u{10ffff}"', '"\\ud800"', '{"a":1,"a":2}'];
  const rejected = [
    ...['01', '-', '-01', '1.', '.5', '+1', '1e', '1e+', '0x10', 'NaN', 'Infinity', 'nul', 'nulll', 'true false', ''],
    ...[' \t\r\n', '\u00a0 1', '\u20281', '\ufeff1', '"\t"', '"\\u12"', '"\\x41"', "'a'", '[1,]', '[,1]', '{"a":1,}'],
    ...['{"a"}', '{a:1}', '{1:1}', '{"a":1 "b":2}', '[1}', '{"a":1]', '[]]', '[[]', '"a" // b'],
  ];
  it.each([...accepted, ...rejected])('accepts or rejects %j as the engine does', (text) => {
    const bytes = new Uint8Array(Buffer.from(text));
    expect(isAccepted(bytes)).toBe(accepted.includes(text));
    expect(engineAccepts(bytes)).toBe(accepted.includes(text));
  });

  it.each([
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['a slash in two bytes', [0xc0, 0xaf]],
    ['a long form in three bytes', [0xe0, 0x80, 0xaf]],
    ['a long form in four bytes', [0xf0, 0x80, 0x80, 0xaf]],
    ['a character after the last code point', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that UTF-8 never contains', [0xff]],
    ['a continuation byte without a start', [0x80]],
    ['a truncated character', [0xe2, 0x82]],
  ])('rejects %s, inside a string and outside', (_, odd) => {
    for (const bytes of [[0x22, ...odd, 0x22], odd]) {
      expect(isAccepted(Uint8Array.from(bytes))).toBe(false);
      expect(engineAccepts(Uint8Array.from(bytes))).toBe(false);
    }
  });

  it('parses to its depth limit without recursion, and reports when it is exceeded', () => {
    const nested = (levels: number) => Buffer.from(`${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`);
    expect(scanned(nested(200), { maxDepth: 200, maxValues: 1_000 })).toBe('sound');
    expect(scanned(nested(200), { maxDepth: 199, maxValues: 1_000 })).toBe('too-deep');
    expect(scanned(nested(100_000))).toBe('sound');
    // An exceeded bound is detected before the end, and the rest is not scanned.
    const scanner = createJsonScanner({ maxDepth: 2, maxValues: 10 });
    expect(scanner.push(Buffer.from('[[['))).toBe(false);
    expect(scanner.push(Buffer.from('no JSON'))).toBe(false);
    expect(scanner.end()).toBe('too-deep');
  });

  it('counts every value once, and no key', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const count = (value: unknown): number =>
          typeof value === 'object' && value !== null
            ? 1 + Object.values(value).reduce((sum: number, inner) => sum + count(inner), 0)
            : 1;
        const values = count(JSON.parse(text));
        if (text.includes('__proto__')) return;
        expect(scanned(Buffer.from(text), { maxDepth: 100, maxValues: values })).toBe('sound');
        if (values > 1) expect(scanned(Buffer.from(text), { maxDepth: 100, maxValues: values - 1 })).toBe('too-many');
      }),
    );
  });

  it('reports the members of the outermost object, wherever the chunks end', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: true }),
        fc.array(fc.nat({ max: 5 })),
        fc.constantFrom(undefined, 1),
        (object, pieces, indent) => {
          const bytes = Buffer.from(` ${JSON.stringify(object, null, indent)} `);
          const members: TopMember[] = [];
          const scanner = createJsonScanner(wide, (member) => members.push(member));
          let from = 0;
          for (const length of pieces) {
            scanner.push(bytes, from, Math.min(from + length, bytes.length));
            from = Math.min(from + length, bytes.length);
          }
          scanner.push(bytes, from);
          expect(scanner.end()).toBe('sound');
          const text = ([begin, end]: readonly [number, number]) => JSON.parse(bytes.toString('utf8', begin, end));
          const found = members.map(({ key, value }) => [text(key), text(value)]);
          expect(found).toEqual(Object.entries(object).map(([key, value]) => [key, JSON.parse(JSON.stringify(value))]));
        },
      ),
    );
    const none: TopMember[] = [];
    createJsonScanner(wide, (member) => none.push(member)).push(Buffer.from('[{"a":1},"b",2]'));
    expect(none).toEqual([]);
  });
});

describe('checking many bytes', () => {
  it('yields to the event loop', async () => {
    const bytes = Buffer.from(`["${'a'.repeat(1024 * 1024)}"]`);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    expect(await checkJson(bytes, wide)).toBe('sound');
    isOver = true;
    expect(turns).toBeGreaterThan(10);
  });
});

describe('readJsonBytes with bounds', () => {
  const bounds = { maxDepth: 3, maxValues: 10 };

  it('rejects what exceeds a bound before parsing, and names the bound', () => {
    expect(readJsonBytes(Buffer.from('[[[1]]]'), 'answer', bounds)).toEqual({ ok: true, value: [[[1]]] });
    expect(readJsonBytes(Buffer.from('\ufeff[1]'), 'answer', bounds)).toEqual({ ok: true, value: [1] });
    for (const [bytes, what, problem] of [
      ['[[[[]]]]', 'answer', 'the JSON is nested deeper than 3 levels'],
      [`[${'{},'.repeat(20)}1]`, 'answer', 'the JSON holds more than 10 values'],
      ['[NaN]', 'answer', 'the answer contains NaN, which is no JSON number'],
      [Buffer.from([0x22, 0xff, 0x22]), 'answer', 'the answer is not text in UTF-8'],
      [`${' '.repeat(100_000)}x`, 'file', 'the file is not JSON'],
    ] as const) {
      expect(readJsonBytes(Buffer.from(bytes as string), what, bounds)).toEqual({ ok: false, problem });
    }
  });
});
