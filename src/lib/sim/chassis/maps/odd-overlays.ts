import { line, point, zone } from '../floor/floor.ts';
import { createGrid, FREE, fillRect, type Grid, UNKNOWN, WALL } from '../floor/grid.ts';

/**
 * Overlays of a sample map for readers: every kind that the vendor numbers, unknown numbers, and malformed features.
 * Not observed on a real device unless a comment says so.
 */

type Corner = readonly [number, number];

/** Metres per cell, different from the other maps, so that a hard-coded resolution becomes visible. */
const RESOLUTION_M = 0.04;
const FROM: Corner = [-10, -4];
const TO: Corner = [10, 8];
const RIM_M = 0.2;

const feature = (id: unknown, geometry: unknown, properties: unknown) => ({
  ...(id !== undefined && { id }),
  type: 'Feature',
  geometry,
  properties,
});
/** Codes alternate between text and number, as in real overlays (vendor facts 3, C5). */
const code = (number: number) => (number % 2 === 0 ? number : `${number}`);
const hundredth = (value: number) => Math.round(value * 100) / 100 + 0;

/** Position of the nth feature: rows of ten, from the upper left. */
const cell = (n: number, top: number): Corner => [
  hundredth(-9 + 1.2 * (n % 10)),
  hundredth(top - 0.8 * Math.floor(n / 10)),
];
const square = ([x, y]: Corner, side: number): Corner[] => {
  const [right, upper] = [hundredth(x + side), hundredth(y + side)];
  return [[x, y], [right, y], [right, upper], [x, upper], [x, y]]; // biome-ignore format: a ring reads better on one line
};

/**
 * The overlays of the sample map as JSON text that no serialiser produces: line breaks between features, some letters
 * escaped, numbers with redundant zeros. Serialising it again instead of passing it through becomes visible.
 */
export function oddOverlays(serial: string): string {
  const features: unknown[] = [
    ...points(),
    ...zones(),
    ...lanes(),
    ...chargers(serial),
    ...oddities(),
    null,
    'no feature',
  ];
  const lines = features.map((item, index) => {
    const text = JSON.stringify(item);
    return index % 3 === 0 ? escaped(text) : text;
  });
  return `{"type": "FeatureCollection", "name": "Musterblatt", "bbox": [-10.0, -4.0, 1.0e1, 8.00],
"properties": {"rackDefaults": {"height": 0.40}, "author": "W\\u00fcrfel"},
"features": [
${lines.join(',\n')}
]}`;
}

/** An empty rectangle of 20 m by 12 m, its origin off the corner. */
export function createSampleGrid(): Grid {
  const size = { width: 500, height: 300, resolutionM: RESOLUTION_M, originXM: FROM[0], originYM: FROM[1] };
  const grid = createGrid(size, UNKNOWN);
  fillRect(grid, [FROM[0] + RIM_M, FROM[1] + RIM_M], [TO[0] - RIM_M, TO[1] - RIM_M], WALL);
  fillRect(grid, [FROM[0] + 2 * RIM_M, FROM[1] + 2 * RIM_M], [TO[0] - 2 * RIM_M, TO[1] - 2 * RIM_M], FREE);
  return grid;
}

/** Every kind of point that the vendor numbers (vendor facts 3), and some unknown ones. */
function points(): object[] {
  const numbered = Array.from({ length: 39 }, (_, index) => {
    const type = index + 1;
    const yaw = (index * 15) % 360;
    return point(`point-${type}`, cell(index, 7), {
      type: code(type),
      name: `Punkt ${type}`,
      yaw: `${yaw}`,
      // Most have the unexplained offset, some do not.
      iconYaw: `${type % 7 === 0 ? yaw : yaw - 82}`,
      ...(type === 37 && { barcodeId: 'B-37' }),
      ...(type === 39 && { landmarkId: 'L-39' }),
      ...(type === 34 && { ref: 'rack-1', enabledLevels: [1, 2], rackLevels: [{ id: 1, height: 0.4 }] }),
    });
  });
  return [
    ...numbered,
    point('point-40', [3.6, 7], { type: 40, name: 'Punkt 40' }),
    point('point-99', [4.2, 7], { type: '99', name: 'Punkt 99', startType: 7, endType: '9' }),
    point('point-half', [4.8, 7], { type: 11.5, name: 'halb' }),
    point('point-huge', [5.4, 7], { type: 1e21 }),
    point('point-word', [6, 7], { type: 'lift', desc: 'Beschreibung statt Name' }),
    point('point-none', [6.6, 7], { name: 'ohne Nummer' }),
  ];
}

/** Kinds of zones that the vendor numbers (0 to 17), and two beyond (the vendor names 24 kinds). */
function zones(): object[] {
  const numbered = [...Array.from({ length: 18 }, (_, index) => index), 24, 99].map((regionType, index) =>
    zone(`zone-${regionType}`, [square(cell(index, 2.2), 0.6)], {
      regionType: code(regionType),
      name: `Zone ${regionType}`,
      ...(regionType === 5 && { mac: '02:00:00:00:00:0a' }),
      // The field of the speed limit is not known; these are candidates.
      ...(regionType === 2 && { speedLimit: '0.3', maxSpeed: 0.4, limits: { velocity: 30 } }),
      ...(regionType === 7 && { max_velocity: -1 }),
    }),
  );
  return [
    ...numbered,
    zone('zone-word', [square([3.6, 2.2], 0.6)], { regionType: 'slow' }),
    zone('zone-none', [square([4.4, 2.2], 0.6)], {}),
    zone('zone-open', [square([5.2, 2.2], 0.6).slice(0, -1)], { regionType: 2, name: 'offener Ring' }),
    zone('zone-hole', [square([6, 2.2], 1.2), square([6.3, 2.5], 0.3)], { regionType: 10, name: 'mit Loch' }),
    zone(
      'zone-crossing',
      [[[7.6, 2.2], [8.4, 2.8], [8.4, 2.2], [7.6, 2.8], [7.6, 2.2]]],
      { regionType: '1', name: 'schneidet sich' },
    ), // biome-ignore format: a ring reads better on one line
    zone('zone-tiny', [square([8.8, 2.2], 0.01)], { regionType: 1, name: 'winzig' }),
    zone('zone-flat', [[[3.6, 1.4], [4.2, 1.4]]], { regionType: 2 }), // biome-ignore format: a ring reads better on one line
    zone('zone-empty', [], { regionType: 2 }),
    zone('entrance-closed', [square([4.4, 1.4], 0.6)], { regionType: 5, name: 'Tür ohne Steuerung', mac: '' }),
  ];
}

/** Kinds of lines that the vendor numbers, some beyond, and the values that the specification lists for lanes. */
function lanes(): object[] {
  const from = (row: number): Corner[] => [
    [-9, hundredth(-0.4 - 0.2 * row)],
    [-4, hundredth(-0.4 - 0.2 * row)],
  ];
  return [
    line('lane-1', from(0), { lineType: '1', direction: 3 }),
    line('lane-2', from(1), { lineType: 2 }),
    line('lane-3', from(2), { lineType: '3', direction: '3' }),
    line('lane-4', from(3), { lineType: 4, direction: 1 }),
    line('lane-5', from(4), { lineType: 5, direction: 0 }),
    line('lane-99', from(5), { lineType: '99', startType: '1', endType: 2 }),
    line('lane-none', from(6), { direction: 'both' }),
    line('lane-one', [[-3, -0.4]], { lineType: '1' }),
  ];
}

function chargers(serial: string): object[] {
  const charger = (id: string, at: Corner, dockingPointId: unknown) =>
    point(id, at, { type: '9', name: id, yaw: 90, deviceIds: [serial], dockingPointId });
  return [
    charger('charger-a', [-2, -1], 'dock-a'),
    // One pair as measured, and one with another distance, since it may not be a constant.
    point('dock-a', [-2, -0.101], { type: '36', name: 'vor charger-a', yaw: '90' }),
    charger('charger-b', [-1, -1], 'dock-b'),
    point('dock-b', [-1, -0.25], { type: 36, name: 'vor charger-b', yaw: 90 }),
    charger('charger-lone', [0, -1], 'dock-gone'),
    charger('charger-number', [1, -1], 36),
    point('charger-bare', [2, -1], { type: 9, name: 'ohne Partner', yaw: '90' }),
    point('dock-lone', [3, -1], { type: '36', name: 'niemands Ziel', yaw: '90' }),
  ];
}

/** Everything else. */
function oddities(): object[] {
  const angles = [45, '45', 'north', 1.5708, '1.5708', 900, '-82.5', null, true, '', { deg: 90 }];
  const names = [
    '<img src=x onerror="alert(1)">',
    '</script><b>fett</b>',
    '=HYPERLINK("http://127.0.0.1/")',
    '\u001b[31mrot\u0007\n zweite Zeile',
    'Kaffeeküche ☕ 客房 101',
    '\u202egnp.exe',
    `lang ${'x'.repeat(300)}`,
    'A,"B";C\tD',
    '',
    42,
  ];
  return [
    ...angles.map((yaw, index) => point(`yaw-${index}`, cell(index, -2.2), { type: 11, name: `yaw ${index}`, yaw })),
    ...names.map((name, index) => point(`name-${index}`, [hundredth(3.6 + 0.6 * index), -2.2], { type: '11', name })),
    point('twice', [4, -1], { type: '10', name: 'eins' }),
    point('twice', [4.6, -1], { type: '10', name: 'zwei' }),
    point(undefined, [5.2, -1], { type: '3', name: 'ohne id' }),
    zone(undefined, [square([5.6, -1.2], 0.4)], { regionType: '9' }),
    point('', [6.4, -1], { type: '3', name: 'leere id' }),
    point(42, [7, -1], { type: '3', name: 'id als Zahl' }),
    point({ a: 1 }, [7.6, -1], { type: '3', name: 'id als Objekt' }),
    point('outside', [100, 100], { type: '11', name: 'neben dem Bild' }),
    point('far', [1e300, 0], { type: '11', name: 'weit weg' }),
    // Within zone-1, the vendor's no-go zone.
    point('forbidden', [hundredth(cell(1, 2.2)[0] + 0.3), 2.5], { type: '11', name: 'im Sperrgebiet', yaw: '0' }),
    point('place-as-text', ['8.2', '-1'], { type: '11' }),
    point('place-with-height', [8.2, -1, 0.3], { type: '11' }),
    point('place-half', [8.8], { type: '11' }),
    feature('many', { type: 'MultiPoint', coordinates: [[1, 1], [2, 1]] }, { type: '11' }), // biome-ignore format: short
    feature(
      'collection',
      { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [2.5, 1] }] },
      { name: 'Sammlung' },
    ),
    feature('unknown', { type: 'Circle', coordinates: [3, 1], radius: 0.5 }, { regionType: 1 }),
    feature('no-geometry', null, { type: '11', name: 'ohne Ort' }),
    feature('no-properties', { type: 'Point', coordinates: [3, 0] }, null),
    feature(
      'strange-keys',
      { type: 'Point', coordinates: [3.4, 0], note: 'kept' },
      // Own keys, as JSON.parse creates them, that every object also inherits.
      { type: '11', ['__proto__']: { polluted: true }, constructor: { name: 'x' }, toString: 'no function', unknown: { deep: [1, { er: null }] } },
    ),
    { type: 'Feature' },
  ]; // biome-ignore format: one oddity a line
}

function escaped(text: string): string {
  return text.replace(/[^\u0020-\u007e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
