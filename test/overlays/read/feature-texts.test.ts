import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { featureTexts, type Overlays, readOverlays } from '../../../src/lib/overlays/index.ts';
import { collectionText } from '../arbitrary.ts';

/** The sources of all features. */
function textsOf(overlays: Overlays): string[] {
  return overlays.features.map(featureTexts(overlays));
}

describe('the source of features', () => {
  it('equals the parsed feature, on one line and in UTF-8, for any collection in any notation', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(collectionText(), (text) => {
        const overlays = readOverlays(text);
        const texts = textsOf(overlays);
        for (const source of texts) expect(source).not.toMatch(/[\r\n]/);
        const read = texts.map((source): unknown => JSON.parse(Buffer.from(source).toString()));
        expect(read).toEqual(overlays.features.map(overlays.rawOf));
      }),
    );
  });

  it('keeps every digit, which parsed numbers do not', () => {
    const feature = '{"type":"Feature","id":12345678901234567890,"geometry":null,"properties":{"a":1e400,"b":1.0}}';
    expect(textsOf(readOverlays(`{"features":[ ${feature} ],"type":"FeatureCollection"}`))).toEqual([feature]);
  });

  it('is not misled by brackets, quotes and the word features inside strings and features', () => {
    const odd = '{"properties":{"name":"]}\\"features\\":[{","features":[{"a":1}]},"features":[{}],"geometry":null}';
    const text = `{"name":"\\"features\\":[{}]\\\\","other":{"features":[{},{}]},"features":[${odd},null,[{}],{}],"type":"FeatureCollection"}`;
    const overlays = readOverlays(text);
    expect(overlays.features.map(({ index }) => index)).toEqual([0, 3]);
    expect(textsOf(overlays)).toEqual([odd, '{}']);
  });

  it('is found beside other arrays, at the end, under an escaped key, and in the last of duplicate arrays', () => {
    const around = '{"a":[{}],"features":[{"id":"1"}],"type":"FeatureCollection","z":[]}';
    expect(textsOf(readOverlays(around))).toEqual(['{"id":"1"}']);
    expect(textsOf(readOverlays('{"type":"FeatureCollection","features":[{"id":"2"}]}'))).toEqual(['{"id":"2"}']);
    expect(textsOf(readOverlays('{"\\u0066eatures":[{"a":1.0}],"type":"FeatureCollection"}'))).toEqual(['{"a":1.0}']);
    const duplicate = '{"type":"FeatureCollection","features":[{"id":"3"},{}],"features":[{"id":"4"}]}';
    expect(textsOf(readOverlays(`${duplicate}${' '.repeat(2 * 1024 * 1024)}`))).toEqual(['{"id":"4"}']);
  });

  it('is found in a list of features and in a single feature, with every digit', () => {
    const feature = '{"type":"Feature","id":12345678901234567890,"geometry":null,"features":[{"a":[{}]}]}';
    for (const filler of ['', ' '.repeat(3 * 1024 * 1024)]) {
      expect(textsOf(readOverlays(`\ufeff ${feature}\n${filler}`))).toEqual([feature]);
      const list = readOverlays(`\ufeff\n [ ${feature} , null,[{}], {"id":"b"}${filler} ]`);
      expect(textsOf(list)).toEqual([feature, '{"id":"b"}']);
      expect(textsOf(readOverlays(`{"map_uid":"u","features":[${feature}]${filler}}`))).toEqual([feature]);
    }
  });

  it('escapes a lone surrogate, which UTF-8 cannot encode, and keeps the digits beside it', () => {
    const text = '{"features":[{"id":"\ud800😀","n":1.0}],"type":"FeatureCollection"}';
    expect(textsOf(readOverlays(text))).toEqual(['{"id":"\\ud800😀","n":1.0}']);
  });
});
