import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCodeBook } from '../../../src/lib/overlays/codes.ts';
import { diffOverlays } from '../../../src/lib/overlays/diff/diff.ts';
import { frameOf } from '../../../src/lib/overlays/frame.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { renderDiffPage, renderDiffSvg } from '../../../src/lib/overlays/render/diff/diff.ts';
import type { DiffSubject } from '../../../src/lib/overlays/render/diff/diff-figure.ts';
import { runs } from '../../properties.ts';
import { oddCollection } from '../arbitrary.ts';
import { places } from '../places.ts';
import { byId, find, pageElements, prove as proveElements, readMarkup, textOf } from './markup-reader.ts';
import { collectionOf, lookAt, pointAt, zoneOf } from './rendered.ts';

const labels = { title: 'Difference of overlays: Hall', fromLabel: 'backup.tar.gz', toLabel: 'map 1 of SIM0001' };
const pageOptions = { ...labels, codeBook: createCodeBook(null), warnings: [], madeAt: '2026-01-31T12:00:00.000Z' };

function subjectOf(a: object, b: object): DiffSubject {
  const [from, to] = [readOverlays(JSON.stringify(a)), readOverlays(JSON.stringify(b))];
  return { diff: diffOverlays(from, to), from, to, frame: null, image: null };
}

const svgOf = (a: object, b: object) => renderDiffSvg(subjectOf(a, b), labels);
const pageOf = (a: object, b: object) => renderDiffPage(subjectOf(a, b), pageOptions);

/** No element of foreign text: no part of the page is bold. */
const elements = new Set([...pageElements].filter((name) => name !== 'b'));
const prove = (document: string) => proveElements(document, elements);

describe('the picture of a difference', () => {
  it('is one well-formed document without scripts and external resources, for any input', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddCollection(), oddCollection(), (a, b) => {
        prove(svgOf(a, b));
        prove(pageOf(a, b));
      }),
      { numRuns: runs(60) },
    );
  });

  it('shows the old state dashed, the new state solid, with an arrow and the distance', () => {
    const root = prove(
      svgOf(
        collectionOf(pointAt(0, 0, { type: '11', name: 'A' }, 'a'), pointAt(9, 9, {}, 'z')),
        collectionOf(pointAt(3, 4, { type: '11', name: 'A' }, 'a'), pointAt(9, 9, {}, 'z')),
      ),
    );
    const group = byId(root, 'm-c0');
    const circles = group ? find(group, 'circle') : [];
    expect(circles.map(({ attributes }) => attributes.has('stroke-dasharray'))).toContain(true);
    expect(circles.some(({ attributes }) => !attributes.has('stroke-dasharray'))).toBe(true);
    expect(group && find(group, 'path').length).toBeGreaterThanOrEqual(3);
    expect(textOf(root)).toContain('moved 5 m');
    expect(textOf(root)).toContain('The overlays differ: 1 of 2 changed (1 in place).');
    expect(textOf(root)).toContain('Grey: unchanged.');
  });

  it('renders the old and the new heading, and not that of an icon', () => {
    const turned = (yaw: string, iconYaw: string) => collectionOf(pointAt(0, 0, { yaw, iconYaw }, 'a'));
    const paths = (a: object, b: object) => find(byId(prove(svgOf(a, b)), 'm-c0') ?? readMarkup('<g/>'), 'path').length;
    expect(paths(turned('0', '5'), turned('90', '5'))).toBe(6);
    expect(paths(turned('0', '5'), turned('0', '9'))).toBe(0);
    const one = collectionOf(pointAt(0, 0, { yaw: 'north' }, 'a'));
    expect(paths(one, turned('90', '5'))).toBe(3);
  });

  it('marks added features with a plus and removed ones with a cross', () => {
    const zone = (x: number) => ({ ...zoneOf(places(`${x},0 ${x + 2},0 ${x + 2},2 ${x},2`)), id: `z${x}` });
    const root = prove(
      pageOf(collectionOf(zone(0), pointAt(1, 5, {}, 'p')), collectionOf(zone(9), pointAt(7, 5, {}, 'q'))),
    );
    for (const id of ['m-r0', 'm-r1', 'm-a0', 'm-a1']) expect(byId(root, id), id).toBeDefined();
    const words = textOf(root);
    expect(words).toContain('Plus: only in the new overlays.');
    expect(words).toContain('Cross: only in the old overlays.');
    expect(words).not.toContain('Black arrow');
  });

  it('lies over the picture of the map', () => {
    const { inspection, image } = lookAt('floor');
    const { overlays } = inspection;
    const less = readOverlays(JSON.stringify(collectionOf()));
    const frame = frameOf(overlays.map, image);
    const diff = diffOverlays(overlays, less);
    const root = prove(renderDiffSvg({ diff, from: overlays, to: less, frame, image }, labels));
    const [picture] = find(root, 'image');
    expect(picture?.attributes.get('href')).toBe(`data:image/png;base64,${Buffer.from(image).toString('base64')}`);
    for (const { index } of overlays.features) expect(byId(root, `m-r${index}`), `#${index}`).toBeDefined();
  });

  it('notes what it cannot render', () => {
    const nowhere = { type: 'Feature', id: 'n', geometry: null, properties: { a: 1 } };
    const words = textOf(prove(svgOf(collectionOf(nowhere), collectionOf({ ...nowhere, properties: { a: 2 } }))));
    expect(words).toContain('Not on the sheet, without a place or too far out: #0.');
    expect(words).toContain('Rendered without the map picture');
  });

  it('stays a document where thousands of features differ', () => {
    const many = (dx: number) =>
      collectionOf(...Array.from({ length: 2100 }, (_, i) => pointAt((i % 60) + dx, Math.floor(i / 60), {}, `p${i}`)));
    const page = pageOf(many(0), many(0.2));
    const words = textOf(prove(page));
    expect(words).toContain('2100 differences are too many for labels.');
    expect(words).not.toContain('Not on the sheet');
    expect(words).toContain('and 100 more rows: --format json');
  });
});

describe('the page of a difference', () => {
  it('lists every change with old and new value', () => {
    const a = collectionOf(pointAt(0, 0, { type: 11, name: 'A <b>', yaw: '350', x: 1 }, 'a'), pointAt(4, 4, {}, 'b'));
    const b = {
      ...collectionOf(pointAt(4, 4, {}, 'b'), pointAt(0, 0, { type: '30', name: 'A <b>', yaw: '10' }, 'a')),
      version: 2,
    };
    const root = prove(pageOf(a, b));
    const row = byId(root, 'c1');
    expect(row && textOf(row)).toBe('#0 → #1A <b>aturned +20°"350" → "10"type11 → "30"x1 → —id');
    const words = [
      'Reordered',
      'matters to the chassis is unknown',
      'version—2',
      'Delivery Point',
      'overlays.point-type-11',
    ];
    for (const word of words) expect(textOf(root)).toContain(word);
  });

  it('lists equal numbers in different notation, which count as equal', () => {
    const of = (x: string) => `{"type":"FeatureCollection","features":[{"id":"a","properties":{"x":${x}}}]}`;
    const [from, to] = [readOverlays(of('1.0')), readOverlays(of('1'))];
    const subject = { diff: diffOverlays(from, to), from, to, frame: null, image: null };
    const words = textOf(prove(renderDiffPage(subject, pageOptions)));
    expect(words).toContain('The overlays are the same: 1 feature, same content, written differently.');
    expect(words).toContain('properties/x1.01');
  });

  it('warns first of limits of the comparison', () => {
    const subject = subjectOf(collectionOf(), collectionOf());
    const root = prove(renderDiffPage(subject, { ...pageOptions, warnings: ['The overlays are of two <chassis>.'] }));
    expect(textOf(root)).toContain('The overlays are of two <chassis>.');
  });
});
