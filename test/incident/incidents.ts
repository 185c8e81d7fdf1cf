import type { Sight } from '../../src/lib/incident/index.ts';
import type { IncidentBody, IncidentHead } from '../../src/lib/pages/index.ts';

const fact = { isUnreadable: false, stale: null, doubts: [] };

/** A robot that stands at rest and in order. */
export const calm: Sight = {
  linkForMs: 3_600_000,
  runForMs: null,
  runFailure: null,
  scene: {
    headline: { level: 'good', code: 'ready', notes: [] },
    link: { kind: 'connected', failure: null },
    stop: {
      ...{ latched: false, state: 'not-known', reason: null, origin: null, by: null, since: null },
      ...{ repeats: 0, repeatedBy: null },
    },
    standing: 'stands',
    stopPath: { chassis: 'ready', cancel: 'ready', disk: 'ready' },
    gate: { isOpen: true, notes: [] },
    run: null,
    battery: { ...fact, value: { percent: 80, orPercent: null, status: 'discharging' } },
    positioning: { ...fact, value: { quality: 'reliable', state: 'positioning' } },
    wheels: { ...fact, value: { emergencyStopPressed: false, controlMode: 'auto', wheelsReleased: false } },
    planning: {
      ...fact,
      value: { moveState: 'idle', actionType: 'none', failReason: 0, failReasonText: '', remainingDistanceM: null },
    },
    alerts: { ...fact, value: [] },
    map: { ...fact, value: { name: 'hall', uid: 'u-1', mapVersion: 1, overlaysVersion: 1 } },
    lamps: [{ id: 'cloud', level: 'good' }],
  },
};

/** The same with other parts of the scene, and of the sight. */
export function sightWith(scene: Partial<Sight['scene']>, more: Partial<Omit<Sight, 'scene'>> = {}): Sight {
  return { ...calm, ...more, scene: { ...calm.scene, ...scene } };
}

export const stopped = sightWith({
  headline: { level: 'bad', code: 'stopped', notes: [{ code: 'stop-latched' }] },
  stop: {
    ...{ ...calm.scene.stop, latched: true, state: 'stopped', reason: 'STOPP', origin: 'surface', by: '192.0.2.9' },
    since: '2026-01-31T12:00:00.000Z',
  },
  gate: { isOpen: false, notes: [{ code: 'stop-latched' }] },
});

/** A kept incident: a stop on the operator surface. */
export const sampleHead: IncidentHead = {
  ...{ format: 'gw/incident/1', id: 3, serial: 'TEST-1', site: 'Lobby', version: '1.0.0' },
  ...{ at: '2026-01-31T12:00:00.000Z', timeZone: 'Europe/Vienna' },
  causes: [{ code: 'stop', atMs: 0, origin: 'surface', by: '192.0.2.9' }],
  ...{ moreCauses: 0, fromMs: -60_000, toMs: 10_000, isComplete: true },
};
export const sampleBody: IncidentBody = {
  maps: [{ uid: 'u-1', version: 1, title: 'hall' }],
  stations: [{ name: 'A', xM: 1, yM: 2, map: 0 }],
  dock: null,
  poses: [{ atMs: -100, xM: 1, yM: 2, yawDeg: 270, map: 0 }],
  scenes: [
    { atMs: -60_000, ...calm.scene },
    { atMs: 0, ...stopped.scene },
  ],
  log: [{ atMs: 0, level: 'warn', message: 'stop', fields: { by: 'x' }, count: 2 }],
  leftOut: { poses: 0, scenes: 0, log: 0 },
};
