import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../../src/cli/command.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { overlaysInspectSchema } from '../../../src/lib/toolkit/overlays/inspect.result.ts';
import {
  inspectExactly,
  inspectMapOverlays,
  type OverlaysInspectOptions,
} from '../../../src/lib/toolkit/overlays/inspect.ts';
import { errorOf, mapDocument, oddOverlays } from '../../maps/samples.ts';
import { collectionText } from '../../overlays/arbitrary.ts';
import { collectionOf, pointAt } from '../../overlays/render/rendered.ts';
import { isFull } from '../../properties.ts';
import { context, forAllAsyncOf, sharedFolder, toolkitOf } from '../kit.ts';

const folder = sharedFolder();

const noChassis = () => Promise.reject(new Error('no site file is needed here'));
const now = () => new Date('2026-01-31T12:00:00.000Z');

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function inspect(path: string, options: Partial<OverlaysInspectOptions> = {}) {
  const source = { kind: 'file', path } as const;
  return await inspectMapOverlays({ source, openToolkit: noChassis, now, ...options }, context());
}

/** The output with --json. */
async function inspectedJson(path: string, options: Partial<OverlaysInspectOptions> = {}): Promise<string> {
  const source = { kind: 'file', path } as const;
  const exact = await inspectExactly({ source, openToolkit: noChassis, now, ...options }, context());
  return Buffer.from([...jsonText(exact)].join('')).toString();
}

describe('an inspection of overlays', () => {
  it('has units, marks and every reading, and each feature as received', async () => {
    const result = await inspect(fileOf('map.json', mapDocument(2, oddOverlays)));
    expect(overlaysInspectSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({
      source: { kind: 'file', form: 'text-in-map', chassis: null },
      map: { id: 2, name: 'Floor 2' },
      picture: { originXM: -3, widthPx: null },
      filter: null,
      summary: { features: 1, points: 1, selected: 1, findings: { 'not-checked': 1 } },
      fields: {
        xM: { unit: 'm', mark: 'HINWEIS', fact: 'vendor.overlays.geojson' },
        yawDeg: { unit: 'degrees', mark: 'BELEGT', fact: 'angles.overlay-yaw' },
      },
      chargers: { measuredOnce: { value: 0.899, mark: 'BELEGT', unit: 'm' }, pairs: [] },
      written: null,
    });
    const [code] = result.codes;
    expect(code).toMatchObject({ field: 'type', number: 11, count: 1, mark: 'VORSICHT' });
    expect(code?.readings.map(({ meaning, mark }) => [meaning, mark])).toEqual([
      ['table number', 'HINWEIS'],
      ['Delivery Point', 'VORSICHT'],
    ]);
    expect(code?.disagreement).toBe('disagreement.c4-point-type-11');
    expect(result.features).toMatchObject([
      { index: 0, id: 'a', kind: 'point', xM: 1.5, yM: -2, yawDeg: 90, codes: [{ mark: 'VORSICHT' }] },
    ]);
  });

  it('has no numeric field without a documented unit', async () => {
    const result = await inspect(fileOf('units.json', mapDocument(2, oddOverlays)));
    const names = [...Object.keys(result.features[0] ?? {}), 'distanceM'].filter((name) => /(M|Deg)$/.test(name));
    expect(names.toSorted()).toEqual(Object.keys(result.fields).toSorted());
  });

  it('of any collection matches its schema, and its JSON is equal', { tags: 'property' }, async () => {
    await forAllAsyncOf(40)(collectionText(), fc.boolean(), async (text, withFindings) => {
      const path = fileOf('any.json', text);
      const result = await inspect(path, { filter: { withFindings } });
      expect(overlaysInspectSchema.safeParse(result).error).toBeUndefined();
      // JSON cannot represent numbers out of range; the text of the feature keeps them.
      expect(JSON.parse(await inspectedJson(path, { filter: { withFindings } }))).toEqual(result);
    });
  });

  it('keeps every digit of a feature in its JSON, also of a selected one', async () => {
    const odd =
      '{"type":"Feature","id":"big","geometry":null,"properties":{"a":12345678901234567890,"b":1e400,"c":1.0}}';
    const plain = '{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]},"properties":{"type":9}}';
    const path = fileOf('digits.json', `{"type":"FeatureCollection","features":[${plain},7,\n${odd}]}`);
    for (const filter of [{}, { kinds: ['other'] as const }]) {
      expect(await inspectedJson(path, { filter })).toContain(`"feature":${odd}`);
    }
  });

  it('writes a feature larger than an output chunk, and one with line breaks, whole and on one line', async () => {
    const ring = Array.from({ length: 9_000 }, (_, at) => [at, at % 7]);
    const collection = collectionOf(
      pointAt(0, 0, { name: 'é'.repeat(100) }),
      { type: 'Feature', geometry: { type: 'LineString', coordinates: ring }, properties: {} },
      pointAt(1, 0, { name: 'last' }),
    );
    for (const indent of [0, 2]) {
      const path = fileOf('large.json', JSON.stringify(collection, null, indent));
      const text = await inspectedJson(path);
      expect(JSON.parse(text)).toEqual(await inspect(path));
      expect(text.split('\n').filter((line) => line.includes('"feature":'))).toHaveLength(3);
    }
  });

  it('filters features and states the filter', async () => {
    const path = fileOf('some.json', JSON.stringify(collectionOf(pointAt(0, 0, { type: 9 }, 'a'), pointAt(9, 9))));
    const near = { at: [0, 0] as const, radiusM: 2 };
    const result = await inspect(path, { filter: { kinds: ['point'], mark: 'HINWEIS', near } });
    expect(result.filter).toEqual({
      kinds: ['point'],
      mark: 'HINWEIS',
      near: { xM: 0, yM: 0, radiusM: 2 },
      withFindings: false,
    });
    expect(result.summary).toMatchObject({ features: 2, selected: 1 });
    expect(result.features.map(({ index }) => index)).toEqual([0]);
  });

  it.each([
    ['svg', /^<svg /],
    ['html', /^<!DOCTYPE html>/],
    ['csv', /^\ufeff?index,/],
    ['geojson', /"FeatureCollection"/],
  ] as const)(
    'returns a document as %s, or writes it into a file that is not replaced without --force',
    async (format, start) => {
      const path = fileOf('document.json', mapDocument(2, oddOverlays));
      const result = await inspect(path, { document: { format } });
      const { document } = result;
      expect(document).toMatch(start);
      expect(result.written).toBeNull();

      const out = join(folder, `out.${format}`);
      const first = await inspect(path, { document: { format, out } });
      expect(first.document).toBeNull();
      expect(readFileSync(out, 'utf8')).toBe(document);
      expect(first.written).toEqual({ format, path: out, bytes: Buffer.byteLength(document ?? '') });
      expect(overlaysInspectSchema.parse(first)).toEqual(first);
      expect(await errorOf(inspect(path, { document: { format, out } }))).toMatchObject({ code: 'FILE_EXISTS' });
      await inspect(path, { document: { format, out, force: true } });
      const nowhere = join(path, 'below.svg');
      expect(await errorOf(inspect(path, { document: { format, out: nowhere } }))).toMatchObject({
        code: 'FILE_UNWRITABLE',
      });
    },
  );

  it('of a file truncated anywhere is an error about the file, and nothing else', { tags: 'property' }, async () => {
    const whole = Buffer.from(mapDocument(2, oddOverlays));
    for (let length = 0; length < whole.length; length += isFull ? 1 : 11) {
      const error = await errorOf(inspect(fileOf('cut.json', whole.subarray(0, length))));
      expect(error.code).toBe('OVERLAYS_INVALID');
    }
  });

  it('of a live map names its chassis and counts the facts verified on it', async () => {
    await using sim = await startSim();
    const { host, port, serial, software } = sim.chassis;
    const toolkit = toolkitOf({ host, port, serial }, { path: join(folder, 's') });
    const record = { fact: 'vendor.overlays.region-types', value: { 1: 'no-go zone' }, serial, software };
    fileOf('evidence.jsonl', `${JSON.stringify({ ...record, how: 'h', who: 'w', when: '2026-01-31T12:00:00Z' })}\n`);
    const openToolkit = () => Promise.resolve(toolkit);
    const source = { kind: 'live', map: 'current' } as const;
    const result = await inspectMapOverlays({ source, openToolkit, now }, context());
    expect(overlaysInspectSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({ source: { kind: 'live', chassis: { serial, software } }, map: { id: 1 } });
    const readingOf = (number: number) =>
      result.codes.find((code) => code.field === 'regionType' && code.number === number)?.readings[0];
    expect(readingOf(1)).toMatchObject({ mark: 'BELEGT', here: { verdict: 'verified', who: 'w' } });
    expect(readingOf(2)).toMatchObject({ mark: 'HINWEIS', here: null });
  });
});
