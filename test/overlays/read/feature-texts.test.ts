import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readOverlays } from '../../../src/lib/overlays/index.ts';
import { featureTexts } from '../../../src/lib/overlays/read/feature-texts.ts';
import { collectionText } from '../arbitrary.ts';

describe('the source of drawings', () => {
  it('says the same as the parsed drawing, on one line, for every collection in any hand', () => {
    let found = 0;
    fc.assert(
      fc.property(collectionText(), (text) => {
        const overlays = readOverlays(text);
        const textOf = featureTexts(overlays);
        if (textOf === null) return;
        found += 1;
        for (const [position, drawing] of overlays.drawings.entries()) {
          expect(textOf(position)).not.toMatch(/[\r\n]/);
          expect(JSON.parse(textOf(position))).toEqual(overlays.rawOf(drawing));
        }
      }),
    );
    // The others write the key with escapes, or hold half a character.
    expect(found).toBeGreaterThan(30);
  });

  it('keeps every digit, which parsed numbers do not', () => {
    const feature = '{"type":"Feature","id":12345678901234567890,"geometry":null,"properties":{"a":1e400,"b":1.0}}';
    const textOf = featureTexts(readOverlays(`{"features":[ ${feature} ],"type":"FeatureCollection"}`));
    expect(textOf?.(0)).toBe(feature);
  });

  it('is not misled by brackets, quotes and the word features inside of texts and drawings', () => {
    const odd = '{"properties":{"name":"]}\\"features\\":[{","features":[{"a":1}]},"features":[{}],"geometry":null}';
    const text = `{"name":"\\"features\\":[{}]","other":{"features":[{},{}]},"features":[${odd},null,[{}],{}],"type":"FeatureCollection"}`;
    const overlays = readOverlays(text);
    const textOf = featureTexts(overlays);
    expect(overlays.drawings.map(({ index }) => index)).toEqual([0, 3]);
    expect([textOf?.(0), textOf?.(1)]).toEqual([odd, '{}']);
  });

  it('finds them wherever other lists stand, also at the very end, and of doubled lists takes the last', () => {
    const before = featureTexts(readOverlays('{"a":[{}],"features":[{"id":"1"}],"type":"FeatureCollection","z":[]}'));
    expect(before?.(0)).toBe('{"id":"1"}');
    const last = featureTexts(readOverlays('{"type":"FeatureCollection","features":[{"id":"2"}]}'));
    expect(last?.(0)).toBe('{"id":"2"}');
    const doubled = '{"type":"FeatureCollection","features":[{"id":"3"},{}],"features":[{"id":"4"}]}';
    const { drawings } = readOverlays(`${doubled}${' '.repeat(2 * 1024 * 1024)}`);
    expect(drawings.map(({ id }) => id)).toEqual(['4']);
    expect(featureTexts({ text: doubled, drawings, container: 'feature-collection' })?.(0)).toBe('{"id":"4"}');
  });

  it('finds them in a list of features and in a single feature, with every digit', () => {
    const feature = '{"type":"Feature","id":12345678901234567890,"geometry":null,"features":[{"a":[{}]}]}';
    for (const filler of ['', ' '.repeat(3 * 1024 * 1024)]) {
      const single = featureTexts(readOverlays(`\ufeff ${feature}\n${filler}`));
      expect(single?.(0)).toBe(feature);
      const list = featureTexts(readOverlays(`\ufeff\n [ ${feature} , null,[{}], {"id":"b"}${filler} ]`));
      expect([list?.(0), list?.(1)]).toEqual([feature, '{"id":"b"}']);
      const untyped = featureTexts(readOverlays(`{"map_uid":"u","features":[${feature}]${filler}}`));
      expect(untyped?.(0)).toBe(feature);
    }
  });

  it('gives up where the key is written with escapes, or UTF-8 cannot write the text', () => {
    const escaped = readOverlays('{"\\u0066eatures":[{}],"type":"FeatureCollection"}');
    expect(escaped.drawings).toHaveLength(1);
    expect(featureTexts(escaped)).toBeNull();
    expect(featureTexts(readOverlays('{"features":[{"id":"\ud800"}],"type":"FeatureCollection"}'))).toBeNull();
  });
});
