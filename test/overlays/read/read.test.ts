import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { inspectOverlays } from '../../../src/lib/overlays/inspect/inspect.ts';
import type { Overlays } from '../../../src/lib/overlays/model.ts';
import { overlaysSource, readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { renderSvg, toCsv, toGeojson } from '../../../src/lib/overlays/render/index.ts';
import { floorOverlays } from '../../../src/lib/sim/chassis/floor/floor.ts';
import { isFull, runs } from '../../properties.ts';
import { anyCharacter } from '../../text/units.ts';
import {
  anyValue,
  choices,
  collectionText,
  oddCollection,
  oddNumber,
  oddText,
  plainCollection,
  writeJson,
} from '../arbitrary.ts';
import { places } from '../places.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A file as a technician has it: German names, line breaks, a byte order mark, a newline at its end. */
const realCollection = JSON.stringify(JSON.parse(floorOverlays('SN-Größe-1')), null, 1);
const realMap = JSON.stringify({
  id: 1,
  map_name: 'Küche',
  grid_origin_x: -3,
  grid_origin_y: -3,
  grid_resolution: 0.05,
  overlays: realCollection,
});

/** The message of an OVERLAYS_INVALID error. Any other error fails the test. */
function foundIn(input: Uint8Array | string, what?: string): string {
  try {
    readOverlays(input, what);
  } catch (error) {
    expect(error).toBeInstanceOf(GwError);
    expect((error as GwError).code).toBe('OVERLAYS_INVALID');
    return (error as GwError).message;
  }
  throw new Error('the input was read');
}

describe('the forms of overlays', () => {
  const collection = { type: 'FeatureCollection', features: [{ type: 'Feature', id: 'a' }] };
  const text = JSON.stringify(collection);
  const form = ({ form, map, features, text: source }: Overlays) => ({
    form,
    map,
    ids: features.map(({ id }) => id),
    source,
  });

  it('reads a bare collection', () => {
    expect(form(readOverlays(text))).toEqual({ form: 'collection', map: null, ids: ['a'], source: text });
    const marked = form(readOverlays(bytesOf(`\ufeff ${text}\n`)));
    expect(marked).toEqual({ form: 'collection', map: null, ids: ['a'], source: ` ${text}\n` });
  });

  it('reads the data of a map with its features as JSON text or as an object', () => {
    const asText = { id: 7, overlays: text };
    const packed = form(readOverlays(JSON.stringify(asText)));
    expect(packed).toEqual({ form: 'text-in-map', map: asText, ids: ['a'], source: text });
    const source = `{ "type":"FeatureCollection","features":[{"type":"Feature", "id":"\\u0061"}] }`;
    const map = { uid: 'u', overlays: collection, id: 7 };
    const asObject = form(readOverlays(`{"uid":"u", "overlays" : ${source} , "id":7}`));
    expect(asObject).toEqual({ form: 'object-in-map', map, ids: ['a'], source });
  });

  it('reads wrappers with overlays of their own, as string and as object, three levels deep', () => {
    const asObject = JSON.stringify({ id: 7, overlays: { overlays: collection } });
    const asText = JSON.stringify({ id: 7, overlays: JSON.stringify({ note: 1, overlays: { overlays: text } }) });
    const whole = JSON.stringify(text);
    for (const packed of [asObject, asText, whole]) {
      expect(form(readOverlays(packed))).toMatchObject({ form: 'wrapped', ids: ['a'], source: text });
    }
    expect(readOverlays(asText).map).toMatchObject({ id: 7 });
    expect(readOverlays(whole).map).toBeNull();
    expect(foundIn(JSON.stringify({ overlays: asText }))).toContain('wrapped more than 3 levels deep');
  });

  it('reads a map without overlays as a map without features', () => {
    for (const overlays of [undefined, null, '', ' \n']) {
      const read = readOverlays(JSON.stringify({ grid_resolution: 0.05, overlays }));
      expect(read).toMatchObject({ features: [], text: '', map: { grid_resolution: 0.05 } });
      expect(Object.keys(read.topLevel)).toEqual([]);
    }
    expect(readOverlays('{"overlays":"{}"}')).toMatchObject({ features: [], text: '{}' });
    expect(readOverlays('{"overlays":{ }}')).toMatchObject({ features: [], text: '{ }' });
  });

  it('does not read an entry of the list of maps, which omits the overlays, as a map without features', () => {
    expect(foundIn('{"id":1,"map_name":"EG","overlays_version":4}')).toContain('an entry of the list of maps');
  });

  it('keeps the exact text of the collection in any wrapping and notation', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        collectionText(),
        choices(),
        fc.dictionary(oddText(), anyValue(), { maxKeys: 3 }),
        (text, hand, more) => {
          const around = Object.fromEntries(
            Object.entries(more).filter(([key]) => key !== 'overlays' && key !== 'type' && key !== '__proto__'),
          );
          expect(readOverlays(text).text).toBe(text);

          const asText = writeJson({ ...around, overlays: text }, hand);
          expect(readOverlays(asText)).toMatchObject({ form: 'text-in-map', text });
          expect(overlaysSource(bytesOf(asText))).toEqual({ form: 'text', text });

          const before = JSON.stringify(around).slice(0, -1);
          const asObject = `${before}${before === '{' ? '' : ','}"overlays":${text}}`;
          expect(readOverlays(asObject)).toMatchObject({ form: 'object-in-map', text: text.trim() });
          expect(overlaysSource(bytesOf(asObject))).toEqual({ form: 'object', text: text.trim() });
        },
      ),
    );
  });

  it('reads other containers of features, in a file and in a map, and names the container', () => {
    const feature = { type: 'Feature', id: 'a', geometry: { type: 'Point', coordinates: [1, 2] }, properties: {} };
    const untyped = { id: 'b', geometry: { type: 'LineString', coordinates: [] } };
    for (const [container, ids, value] of [
      ['object-with-features', ['a'], { map_uid: 'u', features: [feature] }],
      ['object-with-features', [], { map_uid: 'u', features: [] }],
      ['object-with-features', ['a'], { type: null, features: [feature] }],
      ['feature-list', ['a', 'b'], [feature, untyped]],
      ['feature-list', ['b'], [null, untyped, 7]],
      ['single-feature', ['a'], feature],
      ['single-feature', ['b'], untyped],
    ] as const) {
      const source = JSON.stringify(value);
      const packed = [source, JSON.stringify({ overlays: source }), JSON.stringify({ overlays: value, id: 3 })];
      for (const [at, input] of [...packed, JSON.stringify(source)].entries()) {
        const overlays = readOverlays(input);
        const map = at === 1 || at === 2 ? expect.anything() : null;
        expect(overlays).toMatchObject({ container, text: source, map });
        expect(overlays.features.map(({ id }) => id)).toEqual(ids);
        const inspection = inspectOverlays(overlays, { frame: null, device: null });
        const noted = inspection.findings.filter(({ rule }) => rule === 'not-a-feature-collection');
        expect(noted).toMatchObject([{ severity: 'note' }]);
        expect(JSON.parse(toGeojson(inspection)).features).toHaveLength(ids.length);
      }
    }
    expect(readOverlays('[null,{"type":"Feature"},7]').notFeatures).toEqual([0, 2]);
    expect(readOverlays('{"map_uid":"u","features":[]}').topLevel).toEqual({ map_uid: 'u' });
    expect(readOverlays('{"overlays":[]}')).toMatchObject({ container: 'feature-list', features: [], text: '[]' });
    expect(readOverlays('{"overlays":"{\\"features\\":[]}","features":[{}]}')).toMatchObject({ features: [] });
    expect(readOverlays('{"features":[],"grid_resolution":0.05}').map).toMatchObject({ grid_resolution: 0.05 });
    expect(readOverlays(text).container).toBe('feature-collection');
  });

  it('reads a large object with features, and a large list of them, as a collection', () => {
    const filler = JSON.stringify({ id: 'x', properties: { filler: 'y'.repeat(3 * 1024 * 1024) } });
    const large = bytesOf(`{"map_uid":"u","features":[{"id":"a"},${filler}]}`);
    const overlays = readOverlays(large);
    expect(overlays).toMatchObject({ container: 'object-with-features', topLevel: { map_uid: 'u' } });
    expect(overlays.features.map(({ id }) => id)).toEqual(['a', 'x']);
    const inside = JSON.stringify('[{"type":"Feature","id":"in"}]');
    const map = bytesOf(`{"overlays":${inside},"features":[{"id":"a"},${filler}]}`);
    expect(readOverlays(map).features.map(({ id }) => id)).toEqual(['in']);
    const list = readOverlays(bytesOf(`[{"type":"Feature","id":"a"},${filler}]`));
    expect(list.features.map(({ id }) => id)).toEqual(['a', 'x']);
  });

  it('returns the source of overlays without parsing them', () => {
    for (const [map, form, text] of [
      ['{"overlays":"not even JSON"}', 'text', 'not even JSON'],
      ['{"overlays":""}', 'text', ''],
      ['{"overlays": [1.50] }', 'object', '[1.50]'],
      ['{"\\u006fverlays": {"a":1e2} }', 'object', '{"a":1e2}'],
      ['{"overlays":null}', 'none', null],
      ['{"toString":1}', 'none', null],
    ] as const) {
      expect(overlaysSource(bytesOf(map)), map).toEqual({ form, text });
    }
    expect(() => overlaysSource(bytesOf('[]'))).toThrow('No map overlays in the map: it is an array of 0');
    expect(() => overlaysSource(bytesOf('{"overlays":'))).toThrow('truncated after 12 bytes');
  });
});

describe('invalid overlays', () => {
  it('of a file truncated at any byte are reported as truncated, with the number of bytes', {
    tags: 'property',
  }, () => {
    for (const text of [realCollection, realMap]) {
      const bytes = bytesOf(text);
      expect(bytes.length).toBeGreaterThan(text.length);
      expect(foundIn(bytes.subarray(0, 0))).toContain('it is empty');
      for (let at = 1; at < bytes.length; at += 1) {
        // In `npm test` one in so many, and every one in the middle of a character.
        if (!isFull && at % 29 !== 0 && (bytes[at] ?? 0) < 0x80) continue;
        expect(foundIn(bytes.subarray(0, at))).toMatch(
          new RegExp(`truncated( in the middle of a character,)? after ${at} bytes`),
        );
      }
      expect(readOverlays(bytes).features.length).toBeGreaterThan(10);
    }
  });

  it('truncated inside a map are reported as truncated', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: realCollection.length - 1 }), (at) => {
        const overlays = realCollection.slice(0, at);
        const found = foundIn(JSON.stringify({ overlays }), 'answer');
        expect(found).toContain('in the overlays of the answer: ');
        expect(found).toContain(`truncated after ${bytesOf(overlays).length} bytes`);
      }),
    );
  });

  it('of a large truncated file are reported as truncated', () => {
    const large = `{"type":"FeatureCollection","features":[${Array(40_000)
      .fill(`{"id":"${'x'.repeat(60)}"}`)
      .join()}]}`;
    expect(readOverlays(large).features).toHaveLength(40_000);
    expect(foundIn(large.slice(0, -2))).toContain(`truncated after ${large.length - 2} bytes`);
    expect(foundIn(large.slice(0, 2_500_030))).toContain('truncated after 2500030 bytes');
    expect(foundIn(`${large}]`)).toContain('not JSON');
  });

  it('are not caused by the chunks in which a large file is decoded, and are by half a character', () => {
    const name = '桌子é😀'.repeat(60_000);
    for (const shift of ['', ' ', '  ']) {
      const file = bytesOf(`${shift}{"type":"FeatureCollection","features":[{"properties":{"name":"${name}"}}]}`);
      expect(readOverlays(file).features.map((feature) => feature.name)).toEqual([name]);
      expect(foundIn(file.subarray(0, 400_000))).toContain('truncated');
      const broken = Uint8Array.from(file);
      broken[262_144] = 0xff;
      expect(foundIn(broken)).toContain('not UTF-8: byte 2621');
    }
  });

  it('in another encoding are reported with the encoding', () => {
    const utf16 = Buffer.from(realCollection, 'utf16le');
    const utf32 = Buffer.from(
      realCollection.split('').flatMap((it) => [it.charCodeAt(0) & 0xff, it.charCodeAt(0) >> 8, 0, 0]),
    );
    const marked = (mark: number[], bytes: Buffer) => Buffer.concat([Buffer.from(mark), bytes]);
    const swapped = Buffer.from(utf16).swap16();
    for (const bytes of [utf16, swapped, marked([0xff, 0xfe], utf16), marked([0xfe, 0xff], utf16)]) {
      expect(foundIn(bytes)).toContain('it is text in UTF-16, not in UTF-8');
    }
    for (const bytes of [utf32, Buffer.from(utf32).swap32(), marked([0xff, 0xfe, 0, 0], utf32)]) {
      expect(foundIn(bytes)).toContain('it is text in UTF-32, not in UTF-8');
    }
    const latin1 = Buffer.from(realCollection, 'latin1');
    expect(foundIn(latin1)).toContain(`byte ${latin1.indexOf(0xf6) + 1} is invalid, as in a file saved as Latin-1`);
    expect(foundIn(new Uint8Array(4096))).toContain('it begins with zeros');
  });

  it.each<[input: string | Buffer, found: string]>([
    ['', 'No map overlays in the file: it is empty.'],
    ['<!DOCTYPE html><p>404', 'it is HTML or XML'],
    ['[{"id":1,"uid":"u","map_name":"EG","overlays_version":4},2]', 'it is an array of 2 entries'],
    ['[]', 'it is an array of 0 entries'],
    ['[[{"type":"Feature"}]]', 'it is an array of 1 entries'],
    ['null', 'it is the value null'],
    ['3', 'it is the value 3'],
    ['{}', 'it is an empty object'],
    ['{"type":"Topology","features":[]}', 'it is an object of type "Topology"'],
    ['{"type":"Point","coordinates":[1,2]}', 'it is an object of type "Point"'],
    ['{"features":{}}', 'it is an object with the keys "features"'],
    ['{"geometry":null}', 'it is an object with the keys "geometry"'],
    ['{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', 'keys "a", "b", "c", "d", "e" and 1 more'],
    ['{"type":"FeatureCollection"}', 'a FeatureCollection whose `features` is missing'],
    ['{"type":"FeatureCollection","features":{}}', '`features` is an empty object, not an array'],
    ['{"overlays":3}', 'in the overlays of the file: it is the value 3'],
    ['{"type":"FeatureCollection",\n "features":[],}', 'syntax error in line 2, column 16'],
    ['{"a":NaN}', 'not valid JSON: syntax error in line 1, column 6'],
    ['hello', 'not valid JSON'],
    [Buffer.from([0x1f, 0x8b, 8, 0]), 'it is compressed with gzip'],
    [Buffer.from('PK\u0003\u0004'), 'it is a ZIP archive'],
    [Buffer.from('89504e470d0a1a0a', 'hex'), 'it is a PNG image'],
    [Buffer.from('%PDF-1.7'), 'it is a PDF document'],
  ])('are reported with the content found: %s', (input, found) => {
    expect(foundIn(input)).toContain(found);
  });

  it('are reported with the name of the input, and with bounded and quoted foreign text', () => {
    expect(foundIn('\ufeff \n', 'answer')).toBe('No map overlays in the answer: it is empty.');
    const found = foundIn(JSON.stringify({ ['\u001b[31m'.repeat(100)]: 1 }));
    expect(found).not.toContain('\u001b');
    expect(found.length).toBeLessThan(400);
  });

  it('with a duplicate key are refused', () => {
    expect(foundIn('{"type":"FeatureCollection","features":[{"properties":{"yaw":1,"yaw":2}}]}')).toContain(
      'names the key "yaw" twice',
    );
  });

  it('nested too deeply for recursion are refused, in small and in large files', () => {
    const nested = (levels: number, filler: string) =>
      `{"type":"FeatureCollection","features":[{"properties":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}],"b":"${filler}"}`;
    for (const filler of ['', 'x'.repeat(3_000_000)]) {
      expect(readOverlays(nested(150, filler)).features).toHaveLength(1);
      expect(foundIn(nested(100_000, filler))).toContain('nested deeper than 200 levels');
    }
    const top = `{"type":"FeatureCollection","features":[],"a":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
    expect(foundIn(top)).toContain('nested deeper than 200 levels');
    expect(foundIn('['.repeat(100_000))).toContain('truncated');
  });

  it('throw OVERLAYS_INVALID only, for any bytes', { tags: 'property' }, () => {
    const attempt = (input: Uint8Array | string) => {
      try {
        expect(readOverlays(input).features).toBeInstanceOf(Array);
      } catch (error) {
        expect((error as GwError).code, String(error)).toBe('OVERLAYS_INVALID');
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), attempt), { numRuns: runs(1000) });
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), attempt));
    fc.assert(fc.property(anyValue(), choices(), (value, hand) => attempt(writeJson({ overlays: value }, hand))));
    fc.assert(
      fc.property(anyValue(), (value) => attempt(JSON.stringify({ type: 'FeatureCollection', features: value }))),
    );
    fc.assert(
      fc.property(collectionText(), fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 3 }), (text, at, junk) => {
        const bytes = bytesOf(text);
        bytes.set(junk.subarray(0, Math.max(bytes.length - (at % bytes.length), 0)), at % bytes.length);
        attempt(bytes);
      }),
      { numRuns: runs(500) },
    );
  });

  it('larger than any floor are refused before parsing', () => {
    expect(foundIn(new Uint8Array(256 * 1024 * 1024 + 1))).toContain('it has 268435457 bytes, more than 268435456');
  });
});

describe('features', () => {
  const read = (...features: unknown[]) => readOverlays(JSON.stringify({ type: 'FeatureCollection', features }));
  const one = (raw: unknown) => {
    const [feature] = read(raw).features;
    if (feature === undefined) return expect.fail('no feature');
    return feature;
  };
  const withGeometry = (type: unknown, coordinates: unknown) => one({ geometry: { type, coordinates } });

  it('are points, lanes and zones by geometry, with the code of the kind first', () => {
    const codes = { type: '11', lineType: 2, regionType: 1, direction: '3' };
    const point = one({
      id: 'p',
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { ...codes, name: 'A' },
    });
    expect(point).toMatchObject({ index: 0, id: 'p', kind: 'point', name: 'A', shape: { kind: 'point', at: [1, 2] } });
    expect(point.code).toEqual({ field: 'type', number: 11, written: '11' });
    const fields = (feature: { codes: readonly { field: string }[] }) => feature.codes.map(({ field }) => field);
    expect(fields(point)).toEqual(['type', 'direction']);
    const lane = one({ geometry: { type: 'LineString', coordinates: places('0,0 1,1') }, properties: codes });
    expect(lane).toMatchObject({ kind: 'lane', code: { field: 'lineType', number: 2 } });
    expect(fields(lane)).toEqual(['lineType', 'direction']);
    const ring = places('0,0 1,0 1,1');
    const zone = one({ geometry: { type: 'Polygon', coordinates: [ring] }, properties: codes });
    expect(zone).toMatchObject({ kind: 'zone', shape: { kind: 'zone', rings: [ring] }, code: { field: 'regionType' } });
    expect(fields(zone)).toEqual(['regionType', 'direction']);
    for (const geometry of [null, { type: 'GeometryCollection', geometries: [] }]) {
      const other = one({ geometry, properties: codes });
      expect(other).toMatchObject({ kind: 'other', code: null });
      expect(fields(other)).toEqual(['direction']);
    }
  });

  it('carry a code of another geometry through uninterpreted', () => {
    const line = { type: 'LineString', coordinates: places('0,0 1,1') };
    const lane = { geometry: line, properties: { type: 9, name: 'no charger', dockingPointId: 'd' } };
    const zone = { geometry: { type: 'Polygon', coordinates: [] }, properties: { type: 'hall', lineType: 2 } };
    const dock = { id: 'd', geometry: { type: 'Point', coordinates: [0, 1] }, properties: { type: 36 } };
    const overlays = read(lane, zone, dock);
    const inspection = inspectOverlays(overlays, { frame: null, device: null });
    expect(overlays.features.map(({ codes }) => codes.map(({ field, number }) => [field, number]))).toEqual([
      [],
      [],
      [['type', 36]],
    ]);
    expect(inspection.pairs).toMatchObject([{ charger: null, dockingPoint: 2 }]);
    expect(inspection.survey.codes).toEqual([{ field: 'type', number: 36, count: 1 }]);
    const ofType = { in: 'properties', name: 'type', count: 2, kinds: ['zone', 'lane'], types: ['string', 'number'] };
    expect(inspection.survey.carried).toContainEqual(ofType);
    const ofLineType = { in: 'properties', name: 'lineType', count: 1, kinds: ['zone'], types: ['number'] };
    expect(inspection.survey.carried).toContainEqual(ofLineType);
    // A string that is not a number is no fault on a zone.
    expect(inspection.findings.map(({ rule }) => rule)).not.toContain('code-not-whole');
    expect(inspection.findings.find(({ rule }) => rule === 'code-missing')?.features).toEqual([0]);
    for (const output of [toCsv(inspection), renderSvg(inspection, { title: 't', image: null })]) {
      expect(output).not.toMatch(/: charger|H charger/);
    }
  });

  it('keep closed and unclosed rings as received', () => {
    const unclosed = places('0,0 1,0 1,1');
    for (const ring of [unclosed, [...unclosed, [0, 0]]]) {
      expect(withGeometry('Polygon', [ring]).shape).toEqual({ kind: 'zone', rings: [ring] });
    }
  });

  it('with an invalid geometry have its expected kind and its problem', () => {
    const problemOf = (type: string, coordinates: unknown) => {
      const { kind, shape } = withGeometry(type, coordinates);
      expect(shape).toMatchObject({ kind: 'broken', expected: kind });
      return shape.kind === 'broken' ? shape.problem : '';
    };
    for (const [type, coordinates, problem] of [
      ['Point', undefined, 'its coordinates are missing'],
      ['Point', ['1', 2], 'its coordinates are an array without two numbers (string)'],
      ['Point', [1], 'its coordinates are an array of 1, without x and y'],
      ['Point', [null, 2], 'its coordinates are an array without two numbers (null)'],
      ['LineString', [[0, 0]], 'it needs 2 places and has 1'],
      ['LineString', [[0, 0], { x: 1 }], 'place 2 of 2 is not an array (object)'],
      ['Polygon', [], 'it has no ring'],
      ['Polygon', places('0,0 1,0 1,1'), 'ring 1 of 3: place 1 of 2 is not an array (number)'],
      ['Polygon', [places('0,0 1,0 0,0')], 'ring 1 of 1: it needs 3 corners and has 2'],
      ['Polygon', [places('0,0 1,0 1,1'), [[0, 0]]], 'ring 2 of 2: it needs 3 corners and has 1'],
      ['Polygon', [[[0, 0], [1, 0], null]], 'ring 1 of 1: place 3 of 3 is null'],
    ] as const) {
      expect(problemOf(type, coordinates)).toBe(problem);
    }
  });

  it('have no place and no angle where numbers are out of range', () => {
    const text = `{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":[1e999,0]},
      "properties":{"type":${'9'.repeat(400)},"lineType":"${'9'.repeat(30)}","yaw":1e400,"iconYaw":"-1e400"}}]}`;
    const [feature] = readOverlays(text).features;
    const problem = 'its coordinates are out of range for a number';
    expect(feature?.shape).toEqual({ kind: 'broken', expected: 'point', problem });
    expect(feature).toMatchObject({ codes: [{ number: null }], yaw: { deg: null }, iconYaw: { deg: null } });
  });

  it('have codes that are whole numbers in either JSON type, with the written value', () => {
    const number = (type: unknown) =>
      one({ geometry: { type: 'Point', coordinates: [0, 0] }, properties: { type } }).code;
    for (const written of [11, '11', ' 11 ', '11.0', '+11', '011', '1.1e1']) {
      expect(number(written)).toEqual({ field: 'type', number: 11, written });
    }
    expect(number(-1)?.number).toBe(-1);
    expect(number('-1')?.number).toBe(-1);
    expect(Object.is(number('-0')?.number, 0)).toBe(true);
    for (const written of ['', ' ', 'x', '1x', '0x1f', 1.5, '1.5', true, [], [11], {}, '9007199254740993', 1e21, '٣']) {
      expect(number(written)).toEqual({ field: 'type', number: null, written });
    }
    expect(number(null)).toBeNull();
    expect(number(undefined)).toBeNull();
  });

  it('have angles in either JSON type, not normalised', () => {
    const yaw = (written: unknown) => one({ properties: { yaw: written, iconYaw: written } });
    for (const written of ['90', -82, '-82.5', '900', ' 1e2 ', '-0']) {
      const angle = { deg: Number(written) + 0, written };
      expect(yaw(written)).toMatchObject({ yaw: angle, iconYaw: angle });
    }
    for (const written of ['north', '', '9,5', '-', '--1', true, [90], {}]) {
      expect(yaw(written).yaw).toEqual({ deg: null, written });
    }
    expect(yaw(null).yaw).toBeNull();
    expect(yaw(undefined).yaw).toBeNull();
  });

  it('have the whole numbers and angles that the engine parses', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer()), (it_) => {
        const geometry = { type: 'Point', coordinates: [0, 0] };
        const [feature] = read({ geometry, properties: { type: String(it_), yaw: String(it_) } }).features;
        expect(feature?.codes[0]?.number).toBe(it_);
        expect(feature?.yaw?.deg).toBe(it_);
      }),
    );
    fc.assert(
      fc.property(oddNumber(), (it_) => {
        const [feature] = read({ properties: { yaw: String(it_), iconYaw: it_ } }).features;
        expect(feature?.yaw?.deg).toBe(it_);
        expect(feature?.iconYaw?.deg).toBe(it_);
      }),
    );
  });

  it('have an id only where it is a string or a number', () => {
    const ids = read(...['a', '', 0, 7.5, null, true, {}, []].map((id) => ({ id })), {}).features.map(({ id }) => id);
    expect(ids).toEqual(['a', null, '0', '7.5', null, null, null, null, null]);
  });

  it('keep their indices beside entries that are not features', () => {
    const { features, notFeatures } = read(null, { id: 'a' }, 3, [], { id: 'b' }, 'x');
    expect(notFeatures).toEqual([0, 2, 3, 5]);
    expect(features.map(({ index, id }) => [index, id])).toEqual([
      [1, 'a'],
      [4, 'b'],
    ]);
  });

  it('carry keys that could reach a prototype as plain data', () => {
    const text = `{"type":"FeatureCollection","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},
      "features":[{"__proto__":{"id":"evil","geometry":{"type":"Point","coordinates":[1,2]}},"properties":
      {"__proto__":{"type":"9","yaw":1,"name":"evil"},"toString":1,"hasOwnProperty":2}}]}`;
    for (const filler of ['', ' '.repeat(3_000_000)]) {
      const { features, topLevel, rawOf } = readOverlays(text + filler);
      expect(features[0]).toMatchObject({ id: null, kind: 'other', name: null, codes: [], yaw: null });
      const properties = features.map((feature) => rawOf(feature).properties)[0] as object;
      expect(Object.keys(properties)).toEqual(['__proto__', 'toString', 'hasOwnProperty']);
      expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
      expect(Object.keys(topLevel)).toEqual(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(topLevel)).toBeNull();
      expect(topLevel.polluted).toBeUndefined();
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    }
  });

  it('carry everything through unchanged, from any collection in any notation', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(oddCollection(), plainCollection()), choices(), (collection, hand) => {
        const { features, notFeatures, topLevel, rawOf } = readOverlays(writeJson(collection, hand));
        const { type, features: written, ...more } = collection as { type: string; features: unknown[] };
        expect(type).toBe('FeatureCollection');
        const rebuilt: unknown[] = [];
        for (const feature of features) rebuilt[feature.index] = rawOf(feature);
        for (const index of notFeatures) rebuilt[index] = written[index];
        expect(rebuilt).toEqual(written);
        expect(Object.entries(topLevel).sort()).toEqual(Object.entries(more).sort());
        for (const feature of features) {
          const { shape, kind, code, codes, yaw, writtenId } = feature;
          const raw = rawOf(feature);
          const properties = Object(raw.properties) as Record<string, unknown>;
          expect(writtenId).toBe(raw.id);
          for (const { field, written } of codes) expect(properties[field]).toBe(written);
          if (code !== null) expect(codes[0]).toBe(code);
          if (yaw !== null) expect(yaw.written).toBe(properties.yaw);
          if (shape.kind !== 'other' && shape.kind !== 'broken') expect(shape.kind).toBe(kind);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it('of a plain collection are valid', { tags: 'property' }, () => {
    fc.assert(
      fc.property(plainCollection(), choices(), (collection, hand) => {
        const { features, notFeatures } = readOverlays(writeJson(collection, hand));
        expect(notFeatures).toEqual([]);
        for (const { id, shape, code } of features) {
          expect(id).not.toBeNull();
          expect(['point', 'lane', 'zone']).toContain(shape.kind);
          expect(code?.number).toBeTypeOf('number');
        }
      }),
    );
  });

  it('keep names of every kind unchanged', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddText(), (name) => {
        expect(one({ properties: { name } }).name).toBe(name === '' ? null : name);
      }),
    );
    expect(one({ properties: { name: 7 } }).name).toBe('7');
    expect(one({ properties: { name: ['a'] } }).name).toBeNull();
  });

  it('share equal values and confuse no different ones', () => {
    const { features } = read(
      ...[1, '1', 1, '1', '01', true].map((type) => ({
        geometry: { type: 'Point', coordinates: [0, 0] },
        properties: { type },
      })),
    );
    const [a, b, c, d, e, f] = features;
    expect(a?.code).toBe(c?.code);
    expect(b?.code).toBe(d?.code);
    expect([a, b, e, f].map((feature) => feature?.code?.written)).toEqual([1, '1', '01', true]);
  });

  it('may be a ring with more corners than a call has arguments, or thousands that all differ', {
    tags: 'property',
  }, () => {
    const [corners, count] = isFull ? [1_000_000, 10_000] : [150_000, 1_000];
    const ring = Array.from({ length: corners }, (_, at) => `[${at % 1000},${at}]`).join();
    const text = `{"type":"FeatureCollection","features":[{"geometry":{"type":"Polygon","coordinates":[[${ring}]]}}]}`;
    const [zone] = readOverlays(text).features;
    expect(zone?.shape.kind === 'zone' && zone.shape.rings[0]?.length).toBe(corners);
    const many = read(
      ...Array.from({ length: count }, (_, at) => ({
        geometry: { type: 'Point', coordinates: [at, 0] },
        properties: { type: at, yaw: `${at}.5`, direction: `${at}` },
      })),
    );
    const last = count - 1;
    expect(many.features[last]).toMatchObject({
      yaw: { deg: last + 0.5 },
      codes: [{ number: last }, { number: last }],
    });
  });
});
