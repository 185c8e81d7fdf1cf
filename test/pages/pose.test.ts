import fc from 'fast-check';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { MapView } from '../../src/lib/pages/map/map-view.tsx';
import { headingOfDrag, placeOf } from '../../src/lib/pages/map/pose-geometry.ts';
import { noPose, orderEnd, poseOf } from '../../src/lib/pages/service/pose-draft.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { type Interaction, still } from '../../src/lib/pages/ui.ts';
import { ready } from './states.ts';

const alive = { ...still, map: 'none', act: {} } as unknown as Interaction;
const mapOf = (change: object, ui: Partial<Interaction> = {}) =>
  renderToString(
    h(MapView, {
      state: { ...ready, ...change },
      viewer: { language: 'de', readOnly: false, signedIn: true },
      ui: { ...alive, ...ui },
      ...textsOf('de', 'UTC'),
      isPosing: true,
    }),
  );

/** Where the arrow of a group of the map points on the screen, x to the right and y down, as SVG turns it. */
function pointsTo(map: string, group: 'robot' | 'draft') {
  const inside = map.slice(map.indexOf(`id="${group}"`));
  const turn = Number(/class="arrow" transform="rotate\((-?[\d.e+-]+)\)"/.exec(inside)?.[1]);
  const angle = (turn * Math.PI) / 180;
  // The tip of the arrow is on the x axis of its group.
  expect(inside).toMatch(/<path d="M18 0L/);
  return { x: Math.cos(angle), y: Math.sin(angle) };
}

/** Every direction of a drag that is long enough, in all four quadrants and along the axes. */
const drag = fc
  .oneof(
    fc.tuple(fc.integer({ min: -900, max: 900 }), fc.integer({ min: -900, max: 900 })),
    fc.constantFrom([400, 0], [0, 400], [-400, 0], [0, -400], [-400, -0], [30, 30], [-30, 30], [-30, -30], [30, -30]),
  )
  .filter(([dx = 0, dy = 0]) => Math.hypot(dx, dy) >= 16);

describe('the pose that a person sets on the map', () => {
  it.each([
    ['to the right', 100, 0, 0],
    ['up', 0, -100, 90],
    ['to the left', -100, 0, 180],
    ['down', 0, 100, -90],
    ['up to the right', 100, -100, 45],
    ['up to the left', -100, -100, 135],
    ['down to the left', -100, 100, -135],
    ['down to the right', 100, 100, -45],
  ])('%s is a heading in degrees, counter-clockwise from the x axis', (_where, dx, dy, yawDeg) => {
    expect(headingOfDrag(dx, dy)).toBeCloseTo(yawDeg, 9);
  });

  it('has the heading with which the arrow of the robot points along the drag', { tags: 'property' }, () => {
    fc.assert(
      fc.property(drag, ([dx = 0, dy = 0]) => {
        const yawDeg = headingOfDrag(dx, dy) ?? Number.NaN;
        expect(yawDeg).toBeGreaterThan(-180);
        expect(yawDeg).toBeLessThanOrEqual(180);
        const map = mapOf(
          { heading: { ...ready.heading, value: yawDeg } },
          { pose: { ...noPose, xM: '1', yM: '2', yawDeg: yawDeg.toFixed(1) } },
        );
        const length = Math.hypot(dx, dy);
        for (const [group, digits] of [
          ['robot', 6],
          ['draft', 2],
        ] as const) {
          const arrow = pointsTo(map, group);
          expect(arrow.x).toBeCloseTo(dx / length, digits);
          expect(arrow.y).toBeCloseTo(dy / length, digits);
        }
      }),
    );
  });

  it('is where it was touched: the place of a point is shown at that point', { tags: 'property' }, () => {
    const cm = fc.integer({ min: -900_000, max: 900_000 });
    fc.assert(
      fc.property(cm, cm, (x, y) => {
        const { xM, yM } = placeOf(x, y);
        const map = mapOf({}, { pose: { ...noPose, xM: `${xM}`, yM: `${yM}` } });
        expect(map).toContain(`class="draft" transform="translate(${x} ${y})"`);
      }),
    );
  });

  it('has no heading from a finger that trembles, and is not whole without one', () => {
    expect(headingOfDrag(9, -9)).toBeNull();
    expect(poseOf({ xM: '1', yM: '2', yawDeg: '' })).toBeNull();
    expect(poseOf({ xM: '1', yM: '-', yawDeg: '0' })).toBeNull();
    expect(poseOf({ xM: '1.5', yM: '-2', yawDeg: '-90' })).toEqual({ xM: 1.5, yM: -2, yawDeg: -90 });
    const map = mapOf({}, { pose: { ...noPose, xM: '1', yM: '2' } });
    expect(map.slice(map.indexOf('id="draft"'))).not.toContain('class="arrow"');
  });
});

describe('the answer to the order', () => {
  it('is set only by the reported success', () => {
    expect(orderEnd({ ok: true, body: { outcome: { state: 'succeeded' } } })).toBe('set');
    expect(orderEnd({ ok: false, body: { outcome: { state: 'succeeded' } } })).not.toBe('set');
    const failed = { outcome: { state: 'failed', reason: 'elsewhere' } };
    expect(orderEnd({ ok: true, body: failed })).toEqual({ code: 'failed', technical: 'elsewhere' });
    const error = { code: 'MOTION_REFUSED', message: 'closed' };
    expect(orderEnd({ ok: false, body: { error } })).toEqual({ code: 'MOTION_REFUSED', technical: 'closed' });
    expect(orderEnd(null)).toEqual({ code: 'NO_ANSWER', technical: '' });
  });

  it('whatever else it is, is not set', { tags: 'property' }, () => {
    const any = fc.anything({ withBigInt: false });
    const body = fc.oneof(any, fc.record({ outcome: any, error: any }, { requiredKeys: [] }));
    fc.assert(
      fc.property(fc.boolean(), body, (ok, answer) => {
        const json = JSON.parse(JSON.stringify(answer) ?? 'null');
        expect(orderEnd({ ok, body: json })).toMatchObject({ code: expect.any(String), technical: expect.any(String) });
      }),
    );
  });
});

it('the map draws other robots on this map alone, and counts those that it leaves out', () => {
  const robot = (serial: string, isOnThisMap: boolean | null, presence = 'alive') => ({
    ...{ serial, presence, ageMs: 1, address: '127.0.0.2', conflictWith: null, isOnThisMap },
    pose: isOnThisMap === true ? { xM: 1, yM: 2, yawDeg: 3 } : null,
  });
  const neighbours = [robot('R1', true), robot('R2', false), robot('R3', null), robot('R4', null, 'gone')];
  const map = mapOf({ neighbours });
  expect([...map.matchAll(/class="neighbour alive"[\s\S]*?<text[^>]*>(.*?)<\/text>/g)].map(([, name]) => name)).toEqual(
    ['R1'],
  );
  expect(map).toContain('Nicht gezeigt: Roboter auf anderer oder unbekannter Karte (2)');
  expect(mapOf({ neighbours: [robot('R1', true)] })).not.toContain('Nicht gezeigt');
});
