import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Inspection } from '../../../src/lib/overlays/index.ts';
import { createOccupancy, placeLabel } from '../../../src/lib/overlays/render/figure/labels.ts';
import { arrowOf } from '../../../src/lib/overlays/render/figure/plot.ts';
import { renderPage, renderSvg } from '../../../src/lib/overlays/render/index.ts';
import { nameText } from '../../../src/lib/overlays/render/lines.ts';
import { signOrder, signs } from '../../../src/lib/overlays/render/marks.ts';
import { isFull, runs } from '../../properties.ts';
import { oddCollection } from '../arbitrary.ts';
import {
  byId,
  elementsOf,
  find,
  pageElements,
  pictureElements,
  prove,
  type ReadElement,
  readMarkup,
  textOf,
} from './markup-reader.ts';
import { collectionOf, lookAt, lookAtCollection, pageOptions, pointAt, zoneOf } from './rendered.ts';

const picture = { title: 'Hall', image: null };

const idsOf = (root: ReadElement) =>
  new Set([...elementsOf(root)].flatMap(({ attributes }) => attributes.get('id') ?? []));
const shown = (inspection: Inspection) => readMarkup(renderSvg(inspection, picture));

describe('the picture', () => {
  it('has the picture of the map embedded at the position of the grid', () => {
    const { inspection, image } = lookAt('floor');
    const [embedded] = find(prove(renderSvg(inspection, { title: 'Hall', image }), pictureElements), 'image');
    expect(embedded?.attributes.get('href')).toBe(`data:image/png;base64,${Buffer.from(image).toString('base64')}`);
    const [width, height] = ['width', 'height'].map((key) => Number(embedded?.attributes.get(key)));
    expect((width ?? 0) / (height ?? 1)).toBeCloseTo(320 / 180, 2);
    expect(embedded?.attributes.get('x')).toBe('0');
  });

  it('shows every feature of the floor with its name and every reading of its number', () => {
    const { inspection, image } = lookAt('floor');
    const root = readMarkup(renderSvg(inspection, { title: 'Hall', image }));
    for (const { index } of inspection.selected) expect(byId(root, `m${index}`), `#${index}`).toBeDefined();
    const tooltip = textOf(byId(root, 'm0') as ReadElement);
    for (const text of ['type 11', 'V Delivery Point', 'H table number']) expect(tooltip).toContain(text);
    for (const text of ['Rezeption', '0.899 m']) expect(textOf(root)).toContain(text);
  });

  it('has a metre grid without a map picture, and a note on it', () => {
    const text = textOf(shown(lookAtCollection(collectionOf(pointAt(1, 2), pointAt(4, 2)))));
    expect(text).toContain('Rendered without the map picture');
    expect(text).toContain('x in metres');
  });

  it('renders an empty collection', () => {
    const text = textOf(shown(lookAtCollection(collectionOf())));
    expect(text).toContain('0 points, 0 zones, 0 lanes');
  });

  it('shows north as unknown, and the mark of the heading direction', () => {
    const text = textOf(shown(lookAtCollection(collectionOf(pointAt(1, 2, { type: 9, yaw: '90' })))));
    expect(text).toContain('North is unknown');
    expect(text.replace(/\s+/g, ' ')).toContain('yaw in degrees (BELEGT stated)');
  });

  it('keeps the size of the sheet when one feature lies far away, and lists that one', () => {
    const near = Array.from({ length: 20 }, (_, at) => pointAt(at, at % 5));
    const text = textOf(shown(lookAtCollection(collectionOf(...near, pointAt(90_000, 3)))));
    expect(text).toContain('Beyond the sheet: #20 at (90000, 3) m.');
    expect(text).toContain('5 m');
  });

  it('lists features that cannot be rendered', () => {
    const multi = { type: 'Feature', geometry: { type: 'GeometryCollection', geometries: [] }, properties: {} };
    const none = { type: 'Feature', geometry: null, properties: {} };
    const text = textOf(shown(lookAtCollection(collectionOf(pointAt(0, 0), multi, none)))).replace(/\s+/g, ' ');
    expect(text).toContain('Not rendered: #1 (GeometryCollection), #2 (no geometry)');
  });

  it('shows only the filtered features, on a sheet of their size', () => {
    const { inspection, image } = lookAt('floor', { near: { at: [0, -2], radiusM: 1.2 } });
    expect(inspection.selected.length).toBeLessThan(inspection.overlays.features.length);
    const root = readMarkup(renderSvg(inspection, { title: 'Hall', image }));
    expect(byId(root, 'm3')).toBeDefined();
    expect(byId(root, 'm6')).toBeUndefined();
    expect(textOf(root)).toContain('Filtered: ');
  });

  it('renders a ring of very many corners in a few hundred kilobytes', { tags: 'property' }, () => {
    const corners = isFull ? 1_000_000 : 150_000;
    const ring = Array.from({ length: corners }, (_, at) => {
      const angle = (at / corners) * 2 * Math.PI;
      return [10 * Math.cos(angle), 10 * Math.sin(angle)] as const;
    });
    const { selected } = lookAtCollection(collectionOf(zoneOf(ring)));
    expect(renderSvg({ ...lookAtCollection(collectionOf()), selected }, picture).length).toBeLessThan(600_000);
  });

  it('omits labels, links and badges for thousands of features, with a note', () => {
    const many = Array.from({ length: 4500 }, (_, at) => pointAt(at % 90, Math.floor(at / 90), { type: 11, yaw: 0 }));
    const root = prove(renderSvg(lookAtCollection(collectionOf(...many)), picture), pictureElements);
    expect(byId(root, 'm0')).toBeUndefined();
    expect(textOf(root)).toContain('4500 features are too many for labels');
  });

  it('is well-formed and consists of shapes and text only, for any features', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddCollection(), (collection) => {
        prove(renderSvg(lookAtCollection(collection), { title: '<b>&"\u0000', image: null }), pictureElements);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe('headings', () => {
  it.each([
    [0, 1, 0],
    [90, 0, -1],
    [180, -1, 0],
    [-90, 0, 1],
    [450, 0, -1],
  ])('%s degrees point as on the map: counter-clockwise, y up', (deg, x, y) => {
    const { x0, y0, x1, y1 } = arrowOf(100, 100, deg, 10);
    const length = Math.hypot(x1 - x0, y1 - y0);
    expect((x1 - x0) / length).toBeCloseTo(x, 9);
    expect((y1 - y0) / length).toBeCloseTo(y, 9);
  });

  it('renders a larger y higher', () => {
    const root = shown(lookAtCollection(collectionOf(pointAt(0, 0), pointAt(0, 3))));
    const height = (id: string) => {
      const last = find(byId(root, id) as ReadElement, 'path').at(-1);
      return Number(/^M[-\d.]+ ([-\d.]+)/.exec(last?.attributes.get('d') ?? '')?.[1]);
    };
    expect(height('m1')).toBeLessThan(height('m0'));
  });
});

describe('marks', () => {
  it('differ in letter, shape and line pattern, not in colour alone', () => {
    const all = signOrder.map((sign) => signs[sign]);
    for (const key of ['letter', 'shape', 'color'] as const)
      expect(new Set(all.map((style) => style[key])).size).toBe(all.length);
    expect(new Set(all.map(({ dash }) => JSON.stringify(dash))).size).toBe(all.length);
  });

  it('have the contrast of text against white', () => {
    const luminance = (color: string) =>
      [1, 3, 5]
        .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, at) => sum + part * ([0.2126, 0.7152, 0.0722][at] ?? 0), 0);
    for (const sign of signOrder) expect(1.05 / (luminance(signs[sign].color) + 0.05), sign).toBeGreaterThan(5);
  });
});

describe('labels', () => {
  it('never lie over each other or beyond the sheet', { tags: 'property' }, () => {
    const within = (min: number, max: number) => fc.integer({ min, max });
    const wish = fc.record({
      x: fc.double({ min: 0, max: 400, noNaN: true }),
      y: fc.double({ min: 0, max: 300, noNaN: true }),
      clearance: fc.constantFrom(2, 12),
      around: fc.constant(null),
      avoidDeg: fc.option(fc.integer({ min: -720, max: 720 })),
      wordings: fc.array(fc.record({ width: within(5, 150), height: within(8, 40), content: fc.nat() }), {
        ...{ minLength: 1, maxLength: 3 },
      }),
    });
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 40 }), (wishes) => {
        const occupancy = createOccupancy(400, 300);
        const boxes = wishes.flatMap((it) => placeLabel(it, occupancy)?.box ?? []);
        for (const [at, a] of boxes.entries()) {
          expect(a.x0 >= 0 && a.y0 >= 0 && a.x1 <= 400 && a.y1 <= 300).toBe(true);
          for (const b of boxes.slice(at + 1))
            expect(a.x0 < b.x1 && a.x1 > b.x0 && a.y0 < b.y1 && a.y1 > b.y0).toBe(false);
        }
      }),
    );
  });
});

describe('the page', () => {
  it('is one file without scripts and external resources, and its policy allows its style', () => {
    const { inspection, image } = lookAt('sheet');
    const document = renderPage(inspection, { ...pageOptions, image });
    const root = prove(document, pageElements);
    const style = textOf(find(root, 'style')[0] as ReadElement);
    const equivalent = find(root, 'meta').find(({ attributes }) => attributes.has('http-equiv'));
    const policy = equivalent?.attributes.get('content');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(style.includes('url(') || style.includes('@import')).toBe(false);
  });

  it('names the chassis, the number of features and of findings', () => {
    const { inspection, image } = lookAt('floor');
    const root = readMarkup(renderPage(inspection, { ...pageOptions, image }));
    const front = textOf(find(root, 'header')[0] as ReadElement);
    const facts = ['9 points, 4 zones, 2 lanes', 'SIM0001, software 2.12.3', 'map 2, overlays 5'];
    for (const text of [...facts, '16 m × 9 m, 0.05 m per pixel']) expect(front).toContain(text);
  });

  it('links every feature on the map to its row and back', () => {
    const { inspection, image } = lookAt('sheet');
    const root = readMarkup(renderPage(inspection, { ...pageOptions, image }));
    const ids = idsOf(root);
    expect(find(find(root, 'svg')[0] as ReadElement, 'a').length).toBeGreaterThan(100);
    for (const { index } of inspection.selected) expect(ids).toContain(`d${index}`);
  });

  it('shows the numbers with every reading, mark and source, the one measured pair, and the open questions', () => {
    const { inspection, image } = lookAt('floor');
    const root = readMarkup(renderPage(inspection, { ...pageOptions, image }));
    const text = (id: string) => textOf(byId(root, id) as ReadElement);
    expect(text('numbers')).toMatch(/type 11.*VORSICHT: Delivery Point.*overlays\.point-type-11/);
    expect(text('numbers')).toMatch(/HINWEIS: table number.*vendor\.overlays\.point-types/);
    expect(text('chargers')).toContain('measured four times, gave 0.899 m');
    expect(text('chargers')).toContain('constant of the series is not shown');
    expect(text('unknown')).toContain('overlays.lane-direction-3');
    expect(text('known')).toContain('overlays.charging-pair-distance');
    expect(text('points')).toContain('yaw − 82');
    expect(text('carried')).toContain('mapOverlay');
  });

  it('shows names, ids and codes as plain text', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddCollection(), (collection) => {
        const inspection = lookAtCollection(collection);
        const root = prove(renderPage(inspection, { ...pageOptions, title: '</title><script>' }), pageElements);
        for (const { index, name } of inspection.selected) {
          const row = byId(root, `d${index}`);
          expect(row, `#${index}`).toBeDefined();
          const cells = find(row as ReadElement, 'td').filter(({ attributes }) => attributes.get('data-c') === 'Name');
          const [strong] = cells.flatMap((cell) => find(cell, 'strong'));
          expect(strong === undefined ? null : textOf(strong)).toBe(name === null ? null : nameText(name));
        }
      }),
      { numRuns: runs(60) },
    );
  });
});
