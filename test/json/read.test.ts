import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quote, readJson, readJsonBytes } from '../../src/lib/json/read.ts';
import { runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';

describe('readJson', () => {
  it('parses all JSON without duplicate keys as the engine does', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 20 }), (text) => {
        const reading = readJson(text);
        const value: unknown = JSON.parse(text);
        if (text.includes('__proto__')) return;
        expect(reading).toEqual({ ok: true, value });
      }),
    );
  });

  it('never throws, and reports a problem for everything that is not JSON', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: anyCharacter }), fc.json().chain(cutOrBroken)), (text) => {
        const reading = readJson(text);
        if (!reading.ok) expect(reading.problem.length).toBeGreaterThan(5);
        else expect(() => JSON.parse(text)).not.toThrow();
      }),
      { numRuns: runs(500) },
    );
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(readJsonBytes(bytes).ok).toBeTypeOf('boolean');
      }),
    );
  });

  it('finds a duplicate key at every depth, and allows equal keys in different objects', { tags: 'property' }, () => {
    expect(readJson('{"a":[{"b":1,"b":2}]}')).toEqual({ ok: false, problem: 'the JSON names the key "b" twice' });
    expect(readJson('{"a":"a","b":["a","a"],"c":{"a":1},"d":[{"a":1},{"a":2}]}').ok).toBe(true);
    fc.assert(
      fc.property(fc.string(), fc.json(), fc.json(), (key, a, b) => {
        expect(readJson(`[{${JSON.stringify(key)}:${a},"other\\u0000":1,${JSON.stringify(key)}:${b}}]`).ok).toBe(false);
      }),
    );
  });

  it('drops keys that could turn into a prototype', () => {
    const reading = readJson('{"a":{"__proto__":{"x":1},"b":[{"\\u005f_proto__":2}]}}');
    expect(reading).toEqual({ ok: true, value: { a: { b: [{}] } } });
  });

  it('keeps such keys as own keys where the value is only passed through', () => {
    const reading = readJson('{"a":{"__proto__":{"x":1}}}', 'file', { keepProtoKeys: true });
    const a = (reading.ok ? reading.value : {}) as { a: Record<string, unknown> };
    expect(Object.keys(a.a)).toEqual(['__proto__']);
    expect(a.a.x).toBeUndefined();
  });
});

describe('quote', () => {
  it('truncates foreign text and escapes characters that break a line or reverse the text direction', () => {
    expect(quote('Küche 👩‍🚀')).toBe('"Küche 👩‍🚀"');
    expect(quote('x'.repeat(100))).toBe(`"${'x'.repeat(59)}…"`);
    expect(quote('a\n\u009b\u061c\u200f\u2028\u202e\u2066"')).toBe(
      '"a\\n\\u009b\\u061c\\u200f\\u2028\\u202e\\u2066\\""',
    );
  });
});

function cutOrBroken(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(text.length), fc.constantFrom('', 'NaN', '-', '"', '}', ',', '\\'))
    .map(([at, junk]) => text.slice(0, at) + junk);
}
