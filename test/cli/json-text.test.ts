import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../src/cli/command.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { RawList } from '../../src/lib/text/index.ts';
import { runs } from '../properties.ts';

function written(value: unknown): string {
  return [...jsonText(value)].join('');
}

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('a value as JSON in chunks', () => {
  it('equals the output of JSON.stringify with two spaces', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
        expect(written(value)).toBe(`${JSON.stringify(value, null, 2)}\n`);
      }),
    );
  });

  it('omits and replaces what JSON.stringify omits and replaces', () => {
    const value = {
      gone: undefined,
      work: () => {},
      ...{ sign: Symbol('x'), list: [undefined, () => {}, Number.NaN, -0], when: new Date(0) },
      ...{ boxed: [Object(1), Object('a'), Object(false)], own: { toJSON: (key: string) => `as ${key}` } },
      ...{ error: new GwError('USAGE', 'No.', { details: { inner: [] } }), empty: [{}, [], { gone: undefined }] },
    };
    expect(written(value)).toBe(`${JSON.stringify(value, null, 2)}\n`);
    expect(written(undefined)).toBe('null\n');
  });

  it('puts each element of a list of more than 200 on a line of its own', () => {
    const inner = { a: [1, { b: 2 }] };
    const value = { short: numbers(200), long: numbers(201).map((n) => ({ n, inner })) };
    const lines = written(value).split('\n');
    expect(lines.filter((line) => line.startsWith('    {"n":'))).toHaveLength(201);
    expect(lines.find((line) => line.includes('"n":7,'))).toBe('    {"n":7,"inner":{"a":[1,{"b":2}]}},');
    expect(JSON.parse(written(value))).toEqual(value);
    expect(written(value.short)).toBe(`${JSON.stringify(value.short, null, 2)}\n`);
  });

  it('parses back to the value, however long its lists are', { tags: 'property' }, () => {
    const long = fc.array(fc.jsonValue({ depthSize: 'small' }), { minLength: 195, maxLength: 260, size: 'max' });
    fc.assert(
      fc.property(long, (list) => {
        expect(JSON.parse(written({ list }))).toEqual(JSON.parse(JSON.stringify({ list })));
      }),
      { numRuns: runs(20, 3) },
    );
  });

  it('never holds a large result as one chunk', () => {
    const element = 'x'.repeat(100);
    const value = { data: { features: numbers(20_000).map(() => ({ element })) } };
    const pieces = [...jsonText(value)].map((piece) => piece.length);
    expect(Math.max(...pieces)).toBeLessThan(70_000);
    expect(pieces.reduce((sum, length) => sum + length)).toBeGreaterThan(2_000_000);
  });

  it('writes the elements of a raw list unchanged, one per line', () => {
    const value = { before: 1, list: new RawList(['{"n":1e400}', '{"n":12345678901234567890}']), after: [2] };
    expect(written({ value })).toBe(
      '{\n  "value": {\n    "before": 1,\n    "list": [\n      {"n":1e400},\n      {"n":12345678901234567890}\n    ],\n    "after": [\n      2\n    ]\n  }\n}\n',
    );
    expect(written({ none: new RawList([]) })).toBe('{\n  "none": []\n}\n');
    expect(JSON.stringify({ list: new RawList(['{"n": 1.0}', '[]']) })).toBe('{"list":[{"n":1},[]]}');
  });
});
