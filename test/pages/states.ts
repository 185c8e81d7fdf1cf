import type { FailedRun, Live, PageState } from '../../src/lib/pages/index.ts';

const live = <T>(value: T | null): Live<T> => {
  const common = { isUnreadable: false, stale: null, doubts: [] };
  return value === null
    ? { value, ...common, ageMs: null, mark: null, basis: null, source: null }
    : { value, ...common, ageMs: 300, mark: 'HINWEIS', basis: 'vendor', source: 'test' };
};

/** A robot in order, at station A. */
export const ready: PageState = {
  ...{ id: 'p-1', build: 'b1', time: '2026-11-22T19:12:00.000Z', timeZone: 'Europe/Berlin', clock: '20:12' },
  site: {
    name: 'Haus <1>',
    serial: 'SN-1',
    contact: { name: 'T. Echnik', phone: '030 123' },
    stations: [
      { name: 'A', xM: 1, yM: 2 },
      { name: 'B', xM: 3, yM: -4 },
    ],
    recent: [],
    dock: { xM: 0, yM: 0, yawDeg: 180 },
    tours: [{ name: 'lunch', stations: ['A', 'B'] }],
    needsSignIn: false,
  },
  screen: { dimAfterMs: null, shifts: false },
  headline: { level: 'good', code: 'ready', notes: [] },
  link: { kind: 'connected', failure: null, tried: '127.0.0.1:8090', forMs: 5_000, progress: null, foundSerial: null },
  identity: { serial: 'SN-1', model: 'm1', software: '2.12' },
  stop: {
    ...{ latched: false, state: 'stopped', reason: null, origin: null, by: null, since: null, saved: true },
    ...{ repeats: 0, repeatedBy: null },
  },
  standing: 'stands',
  stopPath: { chassis: 'ready', cancel: 'ready', disk: 'ready' },
  gate: { isOpen: true, notes: [], unverified: [], technical: [], passable: [] },
  run: null,
  failed: null,
  pose: live({ xM: 1, yM: 2 }),
  heading: live(90),
  battery: live({ percent: 86, orPercent: null, status: 'charging' }),
  positioning: live({ quality: 'reliable', state: 'positioning' }),
  wheels: live({ emergencyStopPressed: false, controlMode: 'auto', wheelsReleased: false }),
  planning: live({
    ...{ moveState: 'idle', actionType: 'none', failReason: 0, failReasonText: 'none', remainingDistanceM: null },
  }),
  ...{ alerts: live([]), map: live({ name: 'EG', uid: 'u', mapVersion: 1, overlaysVersion: 2 }), neighbours: [] },
  ...{ support: null, lamps: [] },
};

export const latched: PageState = {
  ...ready,
  headline: { level: 'bad', code: 'stopped', notes: [{ code: 'stop-latched' }] },
  stop: {
    ...{ ...ready.stop, latched: true, origin: 'surface', by: '127.0.0.1', reason: 'STOPP' },
    since: '2026-11-22T19:11:00.000Z',
  },
  gate: { ...ready.gate, isOpen: false, notes: [{ code: 'stop-latched' }] },
};

export const driving: PageState = {
  ...ready,
  headline: { level: 'good', code: 'drives', notes: [] },
  standing: 'moves',
  run: {
    ...{ kind: 'tour', name: 'lunch', stations: ['A', 'B'], at: 1, state: 'running', forMs: 40_000 },
    ...{ id: 'r-1', failReason: null, although: [], failure: null },
  },
};

export const failed: FailedRun = {
  ...{ id: 'r-0', kind: 'drive', name: 'B', stations: [], at: 0, state: 'failed', failReason: 5, although: [] },
  ...{ failure: { cause: 'given-up', offM: null, offDeg: null, technical: 'it is stuck' }, earlier: 0 },
};
