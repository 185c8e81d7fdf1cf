import { describe, expect, it } from 'vitest';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { notListening } from '../../../src/lib/gateway/neighbours.ts';
import type { MotionStatus } from '../../../src/lib/motion/index.ts';
import { noSupport } from '../../../src/lib/operator/index.ts';
import { createPageStates } from '../../../src/lib/operator/view/page-state.ts';
import type { Parts } from '../../../src/lib/operator/view/parts.ts';
import { createRunView } from '../../../src/lib/operator/view/run-view.ts';
import { pageStateSchema } from '../../../src/lib/pages/index.ts';
import { type Site, siteSchema } from '../../../src/lib/site/index.ts';
import { shownName } from '../../../src/lib/toolkit/motion/shown-name.ts';
import { freeMotion, snapshotWith, standInClock, standInHealth, tried } from '../stand-ins.ts';
import { standInFailedDrive } from './runs.ts';

const kitchen = { de: 'Küche', en: 'Kitchen' };
const floor = { de: 'Erdgeschoss', en: 'Ground floor' };
const site = {
  ...siteSchema.parse({
    name: 'Lobby',
    title: 'Lobby-Roboter',
    chassis: { host: '127.0.0.1', serial: 'TEST-0001' },
    maps: { eg: { uid: 'u', version: 1, title: floor }, og: { uid: 'v', version: 1 } },
    stations: {
      k1: { title: kitchen, group: floor, xM: 1, yM: 2, map: 'eg' },
      B: { xM: 3, yM: 4, map: 'eg' },
      up: { title: 'Zimmer 204', xM: 3, yM: 4, map: 'og' },
    },
    tours: { lunch: { title: 'Mittag', stations: ['k1', 'B'] } },
  }),
  path: '/site.yaml',
  dir: '/',
} as Site;
const on = (uid: string, name = 'map_3') => {
  const snapshot = snapshotWith({ kind: 'connected', tried });
  const value = { id: 1, uid, name, mapVersion: 1, overlaysVersion: 1 };
  const map = { status: 'received', value, ageMs: 1, stale: false, mark: 'HINWEIS', basis: 'vendor', source: 'test' };
  return { ...snapshot, values: { ...snapshot.values, map: map as never } };
};
const stateOf = (change: Partial<Parts>) => {
  const clock = standInClock();
  const runs = createRunView(clock, standInFailedDrive(), site);
  const parts: Parts = {
    ...{ snapshot: on('u'), motion: freeMotion, health: standInHealth(), cloud: { view: noCloud, now: new Date(0) } },
    ...{ support: noSupport, neighbours: notListening, viewers: { onSite: [], remote: [] } },
    ...change,
  };
  const state = createPageStates(site, 'b1', clock, runs).compose(parts);
  expect(pageStateSchema.parse(state)).toEqual(state);
  return state;
};
const drive = (station: string): MotionStatus => ({
  ...freeMotion,
  drive: { id: 'd1', kind: 'move', station, state: 'running', outcome: null, reason: null },
});

describe('the state of the pages has the names of the site file', () => {
  it('beside the keys of robot, stations, groups, tours and the present map', () => {
    const { site: shown, map } = stateOf({});
    expect(shown).toMatchObject({ name: 'Lobby', title: 'Lobby-Roboter' });
    expect(shown.stations).toEqual([
      { name: 'k1', title: kitchen, group: floor, xM: 1, yM: 2 },
      { name: 'B', xM: 3, yM: 4 },
    ]);
    expect(shown.tours).toEqual([{ name: 'lunch', title: 'Mittag', stations: ['k1', 'B'] }]);
    expect(map.value).toMatchObject({ name: 'map_3', title: floor });
    expect(stateOf({ snapshot: on('v') }).map.value).not.toHaveProperty('title');
  });

  it('beside the keys of a drive and of a tour, also where the robot is on another map by now', () => {
    expect(stateOf({ motion: drive('k1') }).run).toMatchObject({ name: 'k1', title: kitchen });
    expect(stateOf({ snapshot: on('u'), motion: drive('up') }).run).toMatchObject({ name: 'up', title: 'Zimmer 204' });
    expect(stateOf({ motion: drive('B') }).run).not.toHaveProperty('title');
    expect(stateOf({ motion: drive('toString') }).run).not.toHaveProperty('title');
    const tour = {
      id: 't1',
      tour: 'lunch',
      stations: ['k1', 'B'],
      at: 0,
      state: 'running',
      outcomes: [],
      reason: null,
    };
    expect(stateOf({ motion: { ...freeMotion, tour } as never }).run).toMatchObject({
      ...{ name: 'lunch', title: 'Mittag', stations: ['k1', 'B'], stationTitles: [kitchen, 'B'] },
    });
  });

  it('in the notes of a closed gate, for the map of the stations and the one that the robot uses', () => {
    const frame = { code: 'other-map', map: 'map_3', measured: 'Ground floor', reason: 'x' } as const;
    const gate = { ...freeMotion.gate, open: false };
    const motion = { ...freeMotion, gate, frame };
    const noteOn = (uid: string) => stateOf({ snapshot: on(uid), motion }).gate.notes[0];
    expect(noteOn('w')).toEqual({ code: 'other-map', map: 'map_3', measured: floor });
    expect(noteOn('u')).toEqual({ code: 'other-map', map: floor, measured: floor });
    expect(stateOf({ snapshot: on('u'), motion }).headline.notes[0]).toEqual(noteOn('u'));
  });
});

describe('a command that drives', () => {
  it('names the place by its title and its key', () => {
    expect(shownName(site, 'stations', 'k1')).toBe('Kitchen (k1)');
    expect(shownName(site, 'tours', 'lunch')).toBe('Mittag (lunch)');
    expect(shownName(site, 'stations', 'B')).toBe('B');
    expect(shownName(site, 'stations', 'constructor')).toBe('constructor');
  });
});

describe('the stations used last', () => {
  it('are those of the last drives, the newest first, each once, at most four, on this map', () => {
    const runs = createRunView(standInClock(), standInFailedDrive(), site);
    const go = (station: string | null, id: string) =>
      runs.follow({ ...drive('x'), drive: { ...drive('x').drive, station, id } as never });
    for (const [at, station] of ['k1', 'B', 'up', 'B', null, 'k1', 'k1', 'a', 'b'].entries()) go(station, `d${at}`);
    expect(runs.recent()).toEqual(['b', 'a', 'k1', 'B']);
    // The same drive, seen again.
    go('zzz', 'd8');
    expect(runs.recent()).toEqual(['b', 'a', 'k1', 'B']);
    const state = createPageStates(site, 'b1', standInClock(), runs).compose({
      ...{ snapshot: on('u'), motion: freeMotion, health: standInHealth(), cloud: { view: noCloud, now: new Date(0) } },
      ...{ support: noSupport, neighbours: notListening, viewers: { onSite: [], remote: [] } },
    });
    expect(state.site.recent).toEqual(['k1', 'B']);
  });
});
