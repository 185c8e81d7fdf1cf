import { describe, expect, it } from 'vitest';
import type { FleetView } from '../../src/lib/fleet/index.ts';
import { fleetHealth, neighboursView, notListening } from '../../src/lib/gateway/neighbours.ts';
import { mapMark } from '../../src/lib/site/index.ts';

type Robot = FleetView['robots'][number];

const robot = (serial: string, conflictWith: string | null, map: string | null = null): Robot =>
  ({
    ...{ serial, address: '127.0.0.201', presence: 'alive', ageMs: 900.4, heartbeats: 7, lost: 0, conflictWith },
    heartbeat: {
      uptimeS: 9,
      state: { moving: null, stopped: null, batteryPercent: null, pose: null, map, software: '' },
    },
  }) as unknown as Robot;

const view = (robots: readonly Robot[], ownSerialFrom: string | null = null, ownMap: string | null = null) =>
  neighboursView(
    {
      ...{ running: true, robots, isTableFull: false, lastTest: null, sending: null, dropped: null, ownSerialFrom },
      rejected: { malformed: 0, otherVersion: 0, otherKey: 0, forged: 0, replayed: 0, tableFull: 0 },
    } as unknown as FleetView,
    null,
    ownMap,
  );

describe('two devices with one serial number', () => {
  it('are named beside the count of the living, and are not ok', () => {
    const cloned = view([robot('SN2', '127.0.0.202'), robot('SN3', null)]);
    expect(cloned.detail).toBe('2 alive, 0 late, 0 gone. SERIAL CONFLICT: SN2 from 127.0.0.201 and 127.0.0.202.');
    expect(fleetHealth(cloned)).toEqual({ status: 'conflict', detail: cloned.detail });
    const own = view([robot('SN2', null)], '127.0.0.203');
    expect(fleetHealth(own)).toMatchObject({ status: 'conflict', detail: expect.stringContaining('127.0.0.203') });
  });

  it('are neither assumed nor excluded without heartbeats', () => {
    expect(fleetHealth(view([robot('SN2', null)]))).toMatchObject({ status: 'ok' });
    expect(fleetHealth(notListening)).toMatchObject({ status: 'not-checked' });
  });
});

describe('the map in which the pose of another robot counts', () => {
  const [hall, attic] = [mapMark({ uid: 'hall', version: 3 }), mapMark({ uid: 'hall', version: 4 })];
  const isOnThisMap = (own: string | null, of: string | null) =>
    view([robot('SN2', null, of)], null, own).robots.map((one) => [one.map, one.isOnThisMap]);

  it('is this one or another one, and is not assumed where either robot does not know its own', () => {
    expect(isOnThisMap(hall, hall)).toEqual([[hall, true]]);
    expect(isOnThisMap(hall, attic)).toEqual([[attic, false]]);
    expect(isOnThisMap(hall, null)).toEqual([[null, null]]);
    expect(isOnThisMap(null, hall)).toEqual([[hall, null]]);
    expect(isOnThisMap(null, null)).toEqual([[null, null]]);
  });
});
