import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { renderOverlaysInspect } from '../../src/cli/render/overlays.ts';
import { facts } from '../../src/lib/evidence/index.ts';
import { floorOverlays } from '../../src/lib/sim/chassis/floor/floor.ts';
import { oddOverlays } from '../../src/lib/sim/chassis/maps/odd-overlays.ts';
import { inspectMapOverlays, type OverlaysInspectOptions } from '../../src/lib/toolkit/overlays/inspect.ts';
import { collectionText } from '../overlays/arbitrary.ts';
import { collectionOf, pointAt } from '../overlays/render/rendered.ts';
import { runs } from '../properties.ts';
import { plain } from './shown.ts';

const folder = mkdtempSync(join(tmpdir(), 'gw-render-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'hall.json');

async function look(
  collection: object | string,
  { isComplete = false, ...options }: Partial<OverlaysInspectOptions> & { readonly isComplete?: boolean } = {},
) {
  writeFileSync(path, typeof collection === 'string' ? collection : JSON.stringify(collection));
  const result = await inspectMapOverlays(
    {
      source: { kind: 'file', path },
      openToolkit: () => Promise.reject(new Error('no site')),
      now: () => new Date(0),
      ...options,
    },
    { signal: new AbortController().signal, onProgress: () => {} },
  );
  const text = plain(renderOverlaysInspect(result, { isComplete }));
  return { result, text, first: text.split('\n')[0] ?? '' };
}

const floor = () => floorOverlays('SIM0001');
const linesWith = (text: string, part: string) => text.split('\n').filter((line) => line.includes(part));

describe('gw overlays inspect', () => {
  it('states counts, findings and source in its first line', async () => {
    const counts =
      /^15 features \(9 points, 4 zones, 2 lanes, 1 charger .*\), 6 findings \(1 warning, 4 notes, 1 not checked\): \//;
    expect((await look(floor())).first).toMatch(counts);
    expect((await look(collectionOf())).first).toBe(`0 features (0 points, 0 zones, 0 lanes), no findings: ${path}.`);
    const odd = await look(oddOverlays('SIM0001'), { filter: { kinds: ['lane'] } });
    expect(odd.first).toMatch(/^8 of 131 features \(89 points, 30 zones, 8 lanes, 4 of other kinds, 6 chargers among/);
  });

  it('shows unit and mark above the figures, and every reading with its mark beside a number', async () => {
    const { text } = await look(floor());
    expect(text).toMatch(/Points \(9\): x and y in metres \(HINWEIS\), yaw in degrees \(BELEGT stated\), iconYaw/);
    const [station] = linesWith(text, '5f0c0000000000000000000a');
    expect(station).toMatch(
      /^ *0 {2}A +5f0c0000000000000000000a +1\.400 +0\.000 +90 +8 +11 {2}HINWEIS 'table number' \| VORSICHT 'Delivery Point'$/,
    );
    expect(linesWith(text, ' stairs ')[0]).toMatch(/x -2\.70 to -1\.30, y -2\.70 to -1\.70 +1 {2}HINWEIS 'no-go zone'/);
    expect(linesWith(text, ' lane-1 ')[0]).toMatch(/HINWEIS 'virtual track'; direction 3 OFFEN unknown$/);
  });

  it('shows a zone of several polygons with its extent, and an id with every digit', async () => {
    const at = (x: number) => JSON.parse(`[[[${x},0],[${x + 2},0],[${x + 2},2],[${x},0]]]`);
    const zone = { type: 'Feature', geometry: { type: 'MultiPolygon', coordinates: [at(0), at(5)] } };
    const text = JSON.stringify({ ...zone, id: '?', properties: { regionType: '1' } });
    const { text: shown } = await look(text.replace('"?"', '12345678901234567891'));
    const [row] = linesWith(shown, '12345678901234567891 ');
    const [extent] = linesWith(shown, 'x 0.00 to 7.00, y 0.00 to 2.00');
    expect(extent).toMatch(/12345678901234567891 .*HINWEIS 'no-go zone'/);
    expect(row).toBeDefined();
    expect(shown).toContain('1 feature here carries `regionType`: 1.');
  });

  it('shows a point of several places with its extent, and says broken only where it is', async () => {
    const multi = (id: string, coordinates: unknown) => ({
      ...{ type: 'Feature', id, geometry: { type: 'MultiPoint', coordinates }, properties: { type: 11 } },
    });
    const { text } = await look(
      collectionOf(
        multi('several', [
          [1, 2],
          [4, 2],
        ]),
        multi('bad', [[1, 2], [4]]),
      ),
    );
    expect(linesWith(text, ' several ').at(-1)).toMatch(/1\.000 to 4\.000 +2\.000 to 2\.000/);
    expect(linesWith(text, ' bad ').at(-1)).toMatch(/broken +broken/);
  });

  it('says of a zone that may be hidden in a geometry that is not read that it is not checked', async () => {
    const hidden = { type: 'Feature', id: 'z', geometry: { type: 'GeometryCollection', geometries: [] } };
    const { text, first } = await look(collectionOf({ ...hidden, properties: { regionType: 1 } }));
    expect(first).toContain('1 not checked');
    expect(text).toContain(
      'No zone here has a number that the vendor reads as a no-go zone. Not checked: 1 feature without a geometry that gw reads.',
    );
  });

  it('names the source of every reading, and where two of them differ', async () => {
    const { text } = await look(floor());
    const at = text.indexOf('type 11');
    expect(text.slice(at).split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(
        /3 {2}HINWEIS +'table number' +vendor SDK and vendor app API +vendor\.overlays\.point-types$/,
      ),
      expect.stringMatching(/VORSICHT +'Delivery Point' +specification, 'Map and overlays' +overlays\.point-type-11$/),
      expect.stringMatching(/readings disagree: +disagreement\.c4-point-type-11$/),
    ]);
  });

  it('shows the distance of a charging station beside the one measured pair, not as a constant', async () => {
    const { text } = await look(floor());
    expect(linesWith(text, '#3 dock')[0]).toMatch(/#4 +on the charger +0\.899$/);
    expect(text).toMatch(/One pair was measured, four times: 0\.899 m \(BELEGT measured\)\. .* is unknown \(OFFEN/);
    const odd = await look(oddOverlays('SIM0001'), { filter: { kinds: ['charger'] } });
    expect(linesWith(odd.text, '#86 ').at(-1)).toMatch(/ missing +to dock-gone +--$/);
    expect(linesWith(odd.text, '#88 ').at(-1)).toMatch(/ missing +none +--$/);
    expect(odd.text).toContain('Charging stations (2, 6 incomplete)');
  });

  it('counts a charger and a docking point that refer to each other once, and a rack never', async () => {
    const named = (id: string, properties: object) => ({ ...pointAt(id.length, 0, properties), id });
    const station = collectionOf(
      named('charger', { type: 9, name: 'c', dockingPointId: 'dock' }),
      named('dock', { type: 36, dockingPointId: 'charger' }),
      named('rack', { type: 34, shelvesState: [], dockingPointId: 'dock' }),
    );
    const { first, text, result: data } = await look(station);
    expect(first).toContain('(3 points, 0 zones, 0 lanes, 1 charger among them)');
    expect(linesWith(text, '#0 c').at(-1)).toMatch(/#1 +on both +3\.000$/);
    expect(text).toContain('Charging stations (1): ');
    expect(data.summary).toMatchObject({ chargers: 1, chargingStations: 1 });
    expect(data.chargers.pairs).toHaveLength(1);
    expect(data.findings.filter(({ rule }) => /charger|docking/.test(rule))).toEqual([]);
  });

  it('reports the offset of icons as reproducible and unexplained', async () => {
    const icons =
      /Icons: 4 of 4 features .* -82 degrees from yaw: reproducible \(BELEGT measured\), unexplained \(OFFEN\)\./;
    expect((await look(floor())).text).toMatch(icons);
  });

  it('lists every statement of the specification about maps and overlays, open questions included', async () => {
    const { text } = await look(floor());
    for (const { id, mark } of facts.filter((fact) => fact.id.startsWith('overlays.'))) {
      expect(linesWith(text, `(${id})`)).toEqual([expect.stringMatching(new RegExp(`^${mark} `))]);
    }
    expect((await look(floor(), { filter: { kinds: ['lane'] } })).text).toContain('run the command without filters');
  });

  it('lists findings with their features, and the remedy once per rule', async () => {
    const { text, result } = await look(oddOverlays('SIM0001'), { isComplete: true });
    expect(linesWith(text, 'WRONG ')).toHaveLength(result.summary.findings.wrong);
    expect(linesWith(text, 'WRONG duplicate-id #111 #112: 2 features have the id "twice"')).toHaveLength(1);
    const [remedy] = result.findings.flatMap((one) => (one.rule === 'yaw-not-a-number' ? [one.remedy] : []));
    expect(linesWith(text, remedy ?? '-')).toHaveLength(1);
    expect(linesWith(text, 'not a number: "north"')).toHaveLength(1);
  });

  it('truncates long tables, with the number of hidden rows and the flag to show them', async () => {
    const points = Array.from({ length: 60 }, (_, at) => pointAt(at, 0, { type: 9, name: `p${at}` }, `i${at}`));
    const many = collectionOf(...points);
    const { text } = await look(many);
    expect(linesWith(text, " HINWEIS 'charger'")).toHaveLength(40);
    expect(text).toContain('and 20 more: --all, --format csv');
    expect(linesWith((await look(many, { isComplete: true })).text, " HINWEIS 'charger'")).toHaveLength(60);
  });

  it('names the written file instead of printing it', async () => {
    const out = join(folder, 'out.svg');
    const { text } = await look(floor(), { document: { format: 'svg', out, force: true } });
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^15 features/),
      expect.stringMatching(/^svg written to .*out\.svg \([\d,]+ bytes\)\.$/),
    ]);
  });

  it('passes no control sequences of a map', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(collectionText(), async (collection) => {
        const { result } = await look(collection);
        const text = renderOverlaysInspect(result, { isComplete: true });
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for
        const plain = text.replace(/\u001b\[\d+(;\d+)*m/g, '');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for
        expect(plain).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
      }),
      { numRuns: runs(40) },
    );
  });
});
