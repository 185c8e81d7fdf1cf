import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { decodeIncident } from '../../../src/lib/incident/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { openIncidents } from '../../../src/lib/operator/incidents/incidents.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { calm, stopped } from '../../incident/incidents.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-operator-incidents-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('an incident has the places with the maps of the site file, and poses with the map that was current then', async () => {
  const clock = createFakeClock();
  const text = JSON.stringify({
    ...{ name: 'Lobby', chassis: { host: '127.0.0.1', serial: 'SN0001' }, stateDir: dir },
    maps: { hall: { uid: 'u-1', version: 1, title: 'Hall' }, attic: { uid: 'u-2', version: 4 } },
    stations: { A: { xM: 1, yM: 2, map: 'hall' }, U: { xM: 3, yM: 4, yawDeg: 90, map: 'attic' } },
    dock: { xM: 0, yM: 0, yawDeg: 180, map: 'hall' },
  });
  const map = {
    status: 'received',
    stale: false,
    value: { name: 'Hall', uid: 'u-1', mapVersion: 1, overlaysVersion: 1 },
  };
  const values: { pose: object; map: object } = { pose: { status: 'not-received' }, map };
  let [posed, changed] = [() => {}, () => {}];
  let sight = calm;
  const incidents = openIncidents({
    ...{ site: parseSite(text, join(dir, 'site.yaml')), clock, log: silentLog, version: '1' },
    journal: { since: () => [] },
    withoutPaths: (data) => data,
    link: {
      snapshot: () => ({ values }) as never,
      subscribe(fn) {
        posed = fn;
        return { [Symbol.dispose]: () => {} };
      },
    },
    look: () => sight,
    subscribe(fn) {
      changed = fn;
      return { [Symbol.dispose]: () => {} };
    },
  });
  const pose = async (xM: number) => {
    await clock.advance(1_000);
    values.pose = { status: 'received', stale: false, ageMs: 0, value: { xM, yM: 0, yawDeg: 0 } };
    posed();
  };
  await pose(1);
  // After a reconnect the chassis has not reported its map yet.
  values.map = { ...map, stale: true, staleReason: 'not-received-since-reconnect' };
  await pose(2);
  values.map = { ...map, value: { ...map.value, name: 'Attic', uid: 'u-2', mapVersion: 4 } };
  await pose(3);
  sight = stopped;
  changed();
  await clock.advance(300);
  await incidents[Symbol.asyncDispose]();
  const { body } = decodeIncident((await incidents.read(1)) ?? new Uint8Array(), 'x');
  const titleOf = (index: number | null | undefined) => body.maps?.[index ?? -1]?.title ?? null;
  expect(body.poses.map(({ xM, map: at }) => [xM, titleOf(at)])).toEqual([
    [1, 'Hall'],
    [2, null],
    [3, 'attic'],
  ]);
  expect(body.stations.map(({ name, map: at }) => [name, titleOf(at)])).toEqual([
    ['A', 'Hall'],
    ['U', 'attic'],
  ]);
  expect(titleOf(body.dock?.map)).toBe('Hall');
});
