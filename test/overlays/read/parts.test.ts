import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Overlays } from '../../../src/lib/overlays/model.ts';
import { readInParts } from '../../../src/lib/overlays/read/parts.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { collectionText, plainCollection } from '../arbitrary.ts';

const DEEPEST = 200;

function inParts(text: string | Uint8Array) {
  return readInParts(Buffer.from(text as string), DEEPEST);
}

/** Everything that reading gives, with the drawings as they came. */
function contentOf({ drawings, members, rawOf }: Pick<Overlays, 'drawings' | 'members' | 'rawOf'>) {
  return { drawings, members, raw: drawings.map((drawing) => rawOf(drawing)) };
}

describe('a collection read in parts', () => {
  it('gives what reading it as a whole gives, for every collection in any hand, or leaves it to that', () => {
    let read = 0;
    fc.assert(
      fc.property(collectionText(), (text) => {
        const parts = inParts(text);
        if (parts === null || !text.isWellFormed()) return;
        read += 1;
        const whole = readOverlays(text);
        expect(contentOf(parts)).toEqual(contentOf(whole));
        expect(whole.notFeatures).toEqual([]);
        const around = Object.entries(parts.collection).filter(([key]) => key !== 'type' && key !== 'features');
        expect(around.sort()).toEqual(Object.entries(whole.topLevel).sort());
      }),
      { numRuns: 500 },
    );
    // The others have no drawings, entries that are none, or a key that is written with escapes.
    expect(read).toBeGreaterThan(50);
  });

  it('takes every plain collection with drawings, of however many parts', () => {
    fc.assert(
      fc.property(plainCollection(), fc.nat(3), fc.integer({ min: 1, max: 40 }), (collection, indent, times) => {
        const { features } = collection as { features: unknown[] };
        const many = { ...collection, features: Array.from({ length: times }, () => features).flat() };
        if (many.features.length === 0) return;
        const parts = inParts(JSON.stringify(many, null, indent));
        expect(parts?.drawings.map(({ index }) => index)).toEqual(many.features.map((_, index) => index));
        expect(parts?.drawings.map((drawing) => parts.rawOf(drawing))).toEqual(many.features);
      }),
    );
  });

  it('never takes what JSON.parse refuses: any text, and every text with a byte cut out, put in or changed', () => {
    const isRefused = (bytes: Buffer) => {
      try {
        JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
        return false;
      } catch {
        return true;
      }
    };
    const neverTaken = (bytes: Buffer) => {
      if (isRefused(bytes)) expect(readInParts(bytes, DEEPEST)).toBeNull();
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => neverTaken(Buffer.from(bytes))));
    const marks = [...'{}[],:"\\ x0\n\u0000'].map((mark) => mark.charCodeAt(0));
    fc.assert(
      fc.property(
        collectionText(),
        fc.nat(),
        fc.constantFrom(0, 1),
        fc.constantFrom(...marks, 0xff),
        (text, nth, cut, mark) => {
          const bytes = Buffer.from(text);
          const at = nth % bytes.length;
          neverTaken(Buffer.concat([bytes.subarray(0, at), Buffer.from([mark]), bytes.subarray(at + cut)]));
          neverTaken(Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('is left alone where a comma is missing or doubled between two parts', () => {
    const list = (between: string) => {
      const part = Array.from({ length: 50 }, () => '{}').join(',');
      return `{"type":"FeatureCollection","features":[${part}${between}${part}]}`;
    };
    expect(inParts(list(' ,\n'))?.drawings).toHaveLength(100);
    for (const between of ['', ' ', ',,', ',null,', ':', ', ,', ',1'])
      expect(inParts(list(between)), between).toBeNull();
  });

  it('is left alone with entries that are no objects, with deep nesting, in other encodings, and without features', () => {
    const of = (features: string) => `{"type":"FeatureCollection","features":[${features}]}`;
    expect(inParts(of('{}'))).not.toBeNull();
    for (const features of ['', 'null', '{},null', 'null,{}', '{},[],{}', '{},{"a":1}]']) {
      expect(inParts(of(features)), features).toBeNull();
    }
    expect(inParts(of(`{"a":${'['.repeat(300)}${']'.repeat(300)}}`))).toBeNull();
    expect(inParts(Buffer.from(of('{}'), 'utf16le'))).toBeNull();
    expect(inParts(Buffer.from(of('{"name":"Tür"}'), 'latin1'))).toBeNull();
    expect(inParts(`\ufeff${of('{"id":"a"}')}`)?.drawings.map(({ id }) => id)).toEqual(['a']);
  });

  it('is how a large file is read, which says the same as its text', () => {
    const feature = (nth: number) =>
      `{"id":"Tür ${nth}","type":"Feature","properties":{"type":"11","maxSpeed":${nth}},"geometry":{"type":"Point","coordinates":[${nth},1]}}`;
    const text = `{"type":"FeatureCollection","rack":[1],"features":[${Array.from({ length: 80_000 }, (_, nth) => feature(nth)).join(',\n ')}]}`;
    const large = readOverlays(Buffer.from(text));
    const whole = readOverlays(text);
    expect(large.drawings).toEqual(whole.drawings);
    const { drawings: _, rawOf: __, places: ___, ...rest } = large;
    const { drawings: ____, rawOf: _____, places: ______, ...same } = whole;
    expect(rest).toEqual(same);
    const last = large.drawings.at(-1);
    expect(last && large.rawOf(last)).toEqual(last && whole.rawOf(last));
    expect(() => readOverlays(Buffer.from(`${text.slice(0, -1)},}`))).toThrow(/it is not JSON|the file/);
  });
});
