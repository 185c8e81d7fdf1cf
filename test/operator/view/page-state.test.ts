import { describe, expect, it } from 'vitest';
import type { ChassisSnapshot } from '../../../src/lib/chassis/index.ts';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { notListening } from '../../../src/lib/gateway/neighbours.ts';
import type { Clock } from '../../../src/lib/lifecycle/index.ts';
import type { MotionStatus } from '../../../src/lib/motion/index.ts';
import { noSupport } from '../../../src/lib/operator/index.ts';
import { createPageStates } from '../../../src/lib/operator/view/page-state.ts';
import type { Parts } from '../../../src/lib/operator/view/parts.ts';
import { type LampId, type PageState, pageStateSchema } from '../../../src/lib/pages/index.ts';
import { siteSchema } from '../../../src/lib/site/index.ts';
import { endReasons, refusalReasons } from '../../../src/lib/tunnel/index.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { snapshotWith, standInClock, standInHealth, standInMotion, tried } from '../stand-ins.ts';
import { runningSupport, waitingSupport } from '../support-stand-in.ts';
import { runsOf } from './runs.ts';

const now = new Date('2026-11-22T19:12:00.000Z');
const site = {
  ...siteSchema.parse({
    name: 'Lobby',
    chassis: { host: '127.0.0.1', serial: 'TEST-0001' },
    contacts: { operator: { name: 'T. Echnik', phone: '123' } },
    stations: { A: { xM: 1, yM: 2, yawDeg: 90 }, B: { xM: 3, yM: 4 } },
    tours: { lunch: { stations: ['A', 'B'] } },
  }),
  path: '/site.yaml',
  dir: '/',
} as never;
const connected = snapshotWith({ kind: 'connected', tried });
const calm: Parts = {
  ...{ snapshot: connected, motion: standInMotion().status(), health: standInHealth(), cloud: { view: noCloud, now } },
  ...{ support: noSupport, neighbours: notListening, viewers: { onSite: [], remote: [] } },
};

const statesOf = (of: typeof site, clock: Clock = standInClock()) => createPageStates(of, 'b1', clock, runsOf(clock));

function stateOf(change: Partial<Parts> = {}): PageState {
  return statesOf(site).compose({ ...calm, ...change });
}
const service = { name: 'cloud', status: 'running', restarts: 0, detail: '', lastError: null } as const;
const lampOf = (state: PageState, id: LampId) => {
  const found = state.lamps.find((lamp) => lamp.id === id);
  if (found === undefined) throw new Error(`no lamp ${id}`);
  return found;
};

describe('the state of the pages', () => {
  const wrongDevice = { kind: 'not-connected', failure: 'wrong-device', detail: 'x', foundSerial: 'y', tried } as const;
  it.each<[string, Partial<Parts>]>([
    ['a robot in order', {}],
    ['a lost link', { snapshot: snapshotWith(wrongDevice) }],
    ['a start', { snapshot: snapshotWith({ kind: 'booting', progress: 0.4, step: 's', tried }) }],
    ['a cloud with everything', { cloud: { view: connectedView, now }, support: runningSupport }],
    ['a lost cloud', { cloud: { view: lostView, now }, support: waitingSupport }],
  ])('is what its schema says, with %s', (_what, change) => {
    const state = stateOf(change);
    expect(pageStateSchema.parse(state)).toEqual(state);
  });

  it('names whom staff call, the stations and the tours, and no more of the site file', () => {
    const stations = [
      { name: 'A', xM: 1, yM: 2 },
      { name: 'B', xM: 3, yM: 4 },
    ];
    expect(stateOf().site).toEqual({
      ...{ name: 'Lobby', serial: 'TEST-0001', contact: { name: 'T. Echnik', phone: '123' }, stations, dock: null },
      ...{ tours: [{ name: 'lunch', stations: ['A', 'B'] }], recent: [], needsSignIn: false },
    });
  });

  it('has an id of its own, whose age is known by the monotonic clock; other ids are not known', () => {
    const clock = standInClock();
    const states = statesOf(site, clock);
    const first = states.compose(calm);
    clock.advance(1_500);
    const second = states.compose(calm);
    expect(first.id).not.toBe(second.id);
    expect([states.ageMs(first.id), states.ageMs(second.id)]).toEqual([1_500, 0]);
    expect(states.ageMs('another-1')).toBeNull();
    for (let more = 0; more < 600; more += 1) states.compose(calm);
    expect(states.ageMs(first.id)).toBeNull();
  });

  it('has the time of day in the time zone of the gateway', () => {
    const zone = process.env.TZ;
    try {
      process.env.TZ = 'America/Halifax';
      const clock = { ...standInClock(), wall: () => new Date('2026-11-25T04:05:00Z') };
      const state = statesOf(site, clock).compose(calm);
      expect([state.timeZone, state.clock]).toEqual(['America/Halifax', '00:05']);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it('keeps mark and source of the position and of the heading apart', () => {
    const pose = { ...connected.values.pose, parts: { yawDeg: { mark: 'HINWEIS', basis: 'vendor', source: 'other' } } };
    const snapshot = { ...connected, values: { ...connected.values, pose } } as ChassisSnapshot;
    const state = stateOf({ snapshot });
    expect([state.pose.mark, state.pose.source]).toEqual(['BELEGT', 'test']);
    expect([state.heading.mark, state.heading.source]).toEqual(['HINWEIS', 'other']);
  });

  it('doubts the heading, not the position, under radians, and both where the position is lost', () => {
    const radians = stateOf({ snapshot: { ...connected, unitContradicted: true } });
    expect([radians.heading.doubts, radians.pose.doubts]).toEqual([['radians'], []]);
    const positioning = { ...connected.values.positioning, value: { state: 'positioning', reliable: false } };
    const snapshot = { ...connected, values: { ...connected.values, positioning } } as ChassisSnapshot;
    const lost = stateOf({ snapshot });
    expect([lost.heading.doubts, lost.pose.doubts]).toEqual([['position-lost'], ['position-lost']]);
  });

  it('counts a run from the order of its present station', () => {
    const clock = standInClock();
    const states = statesOf(site, clock);
    const begun = { state: 'running', at: 0, outcomes: [], reason: null } as const;
    const tour = { id: '1', tour: 'lunch', stations: ['A', 'B'], ...begun };
    const at = (station: number): Partial<Parts> => ({ motion: { ...calm.motion, tour: { ...tour, at: station } } });
    states.compose({ ...calm, ...at(0) });
    clock.advance(4_000);
    const first = { kind: 'tour', name: 'lunch', at: 0, forMs: 4_000 };
    expect(states.compose({ ...calm, ...at(0) }).run).toMatchObject(first);
    expect(states.compose({ ...calm, ...at(1) }).run).toMatchObject({ at: 1, forMs: 0 });
  });

  it('shows the later of a tour and a single drive, and the running one first', () => {
    const ended = { state: 'succeeded', at: 0, outcomes: [], reason: null } as const;
    const tour = { id: '2026-1', tour: 't', stations: ['A'], ...ended };
    const drive = { id: '2026-2', kind: 'move', station: 'B', state: 'failed', outcome: null, reason: 'x' } as const;
    const runOf = (change: Partial<MotionStatus>) => stateOf({ motion: { ...calm.motion, ...change } }).run;
    expect(runOf({})).toBeNull();
    expect(runOf({ tour, drive })).toMatchObject({ kind: 'drive', name: 'B', state: 'failed' });
    for (const state of ['running', 'paused'] as const) {
      expect(runOf({ tour: { ...tour, state }, drive })).toMatchObject({ kind: 'tour', state });
    }
    expect(runOf({ tour, drive, trial: { kind: 'move' } })).toMatchObject({ kind: 'trial' });
  });

  it.each([
    ['operator surface, 127.0.0.1', 'surface', '127.0.0.1'],
    ['cloud, desk', 'cloud', 'desk'],
    ['cloud', 'cloud', null],
    ['clouds, x', 'other', 'clouds, x'],
    ['a signed-in person', 'other', 'a signed-in person'],
  ])('takes the requester of a stop apart: %s', (by, origin, rest) => {
    const motion = { ...calm.motion, stop: { ...calm.motion.stop, latched: true, by } };
    expect(stateOf({ motion }).stop).toMatchObject({ origin, by: rest });
  });

  it('says of the stop path what it can know: the link, and a cancel that is still owed', () => {
    expect(stateOf().stopPath).toEqual({ chassis: 'ready', cancel: 'ready', disk: 'ready' });
    const away = stateOf({ snapshot: snapshotWith({ kind: 'connecting', tried }) });
    expect(away.stopPath).toMatchObject({ chassis: 'away', cancel: 'away' });
    const standstill = { verdict: 'not-known', reason: 'x', isOwed: true } as const;
    expect(stateOf({ motion: { ...calm.motion, standstill } }).stopPath.cancel).toBe('awaited');
  });
});

describe('the lamps', () => {
  const levels = ['bad', 'attention', 'unknown', 'good', 'off'];

  it('stand in the order of their urgency, and none is green without a look', () => {
    const { lamps } = stateOf({ snapshot: snapshotWith({ kind: 'connecting', tried }) });
    const ranks = lamps.map(({ level }) => levels.indexOf(level));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    expect(lamps.find(({ id }) => id === 'clock')?.level).toBe('unknown');
  });

  const clock = (status: 'ok' | 'wrong' | 'not-decided' | 'not-checked' | 'not-configured') => ({
    health: standInHealth({
      clock: {
        ...{ status, behindMs: -1_234, uncertainMs: 700, ageMs: 60_000, from: ['a.example', 'b.example'], jumps: 2 },
        ...{ lastJump: { at: now.toISOString(), byMs: -3_000 }, detail: 'd', remedy: null },
      },
    }),
  });

  it('show the clock as right or wrong only where several endpoints agreed, with its age and how often it was set', () => {
    const levels = { ok: 'good', wrong: 'bad', 'not-decided': 'unknown', 'not-checked': 'unknown' } as const;
    for (const [status, level] of Object.entries(levels)) {
      const state = stateOf(clock(status as keyof typeof levels));
      expect(pageStateSchema.parse(state)).toEqual(state);
      expect(lampOf(state, 'clock').level).toBe(level);
    }
    const rows = lampOf(stateOf(clock('ok')), 'clock').rows;
    expect(rows.find(({ label }) => label === 'timeSource')?.cells).toEqual([
      ...[{ text: 'a.example' }, { text: 'b.example' }],
    ]);
    expect(rows.find(({ label }) => label === 'comparedAgo')?.cells).toEqual([{ spanMs: 60_000 }]);
    expect(rows.find(({ label }) => label === 'clockJumps')?.cells[0]).toEqual({ number: 2, digits: 0, unit: '×' });
    expect(lampOf(stateOf(clock('not-configured')), 'clock')).toMatchObject({
      ...{ level: 'unknown', state: [{ word: 'no-time-source' }] },
    });
  });

  const device = (status: 'accepts' | 'not-reached' | 'not-checked', isHere = false) => ({
    ...{ name: 'Lift A', kind: 'lift' as const, host: '192.0.2.30', port: 3100, isHere, status },
    ...{ ageMs: status === 'not-checked' ? null : 60_000, detail: 'd' },
  });
  const devicesLamp = (...devices: ReturnType<typeof device>[]) =>
    lampOf(stateOf({ health: standInHealth({ devices }) }), 'devices');

  it('say of a device what was seen at the last look, and that gw does not use it; none of them is bad', () => {
    expect(devicesLamp().level).toBe('off');
    expect(devicesLamp(device('accepts'), device('not-checked')).level).toBe('unknown');
    expect(devicesLamp(device('not-checked'), device('not-reached')).level).toBe('attention');
    const lamp = devicesLamp(device('accepts'), device('accepts', true));
    expect(lamp).toMatchObject({ level: 'good', state: [{ text: '2 / 2' }, { word: 'devices-accept' }] });
    expect(lamp.rows.map(({ cells }) => cells)).toEqual([
      [
        ...[{ text: 'Lift A' }, { text: '192.0.2.30:3100' }, { word: 'device-accepts' }, { spanMs: 60_000 }],
        { word: 'checked-not-used' },
      ],
      [
        ...[{ text: 'Lift A' }, { word: 'on-this-gateway' }, { text: 'TCP 3100' }, { word: 'device-accepts' }],
        ...[{ spanMs: 60_000 }, { word: 'checked-not-used' }],
      ],
    ]);
    const state = stateOf({ health: standInHealth({ devices: [device('not-reached')] }) });
    expect(pageStateSchema.parse(state)).toEqual(state);
  });

  it.each<[LampId, Partial<Parts>, string]>([
    ['chassis', { snapshot: { ...connected, unitContradicted: true } }, 'bad'],
    [
      'chassis',
      { snapshot: { ...connected, complaints: [{ what: 'x', count: 1, ageMs: 1, isLate: true }] } },
      'attention',
    ],
    ['gate', { motion: { ...calm.motion, gate: { open: false, reasons: ['x'] } } }, 'bad'],
    ['stop-path', { snapshot: snapshotWith({ kind: 'connecting', tried }) }, 'bad'],
    ['stop-path', { motion: { ...calm.motion, keepingTrouble: { reason: 'x', remedy: 'y' } } }, 'bad'],
    ['stop-path', { motion: { ...calm.motion, stop: { ...calm.motion.stop, latched: true } } }, 'attention'],
    ['cloud', { cloud: { view: lostView, now } }, 'bad'],
    ['cloud', { cloud: { view: { ...connectedView, seen: null, link: soundLink() }, now } }, 'good'],
    ['cloud', {}, 'off'],
    ['outbox', { cloud: { view: { ...connectedView, outbox: null }, now } }, 'unknown'],
    ['outbox', { cloud: { view: { ...connectedView, outbox: { ...outbox(), status: 'failing' } }, now } }, 'bad'],
    ['outbox', { cloud: { view: { ...connectedView, outbox: { ...outbox(), remedy: 'x' } }, now } }, 'attention'],
    ['support', { support: waitingSupport, cloud: { view: connectedView, now } }, 'good'],
    ['support', { support: waitingSupport, cloud: { view: lostView, now } }, 'attention'],
    ['support', { support: { ...waitingSupport, remedy: 'x' }, cloud: { view: connectedView, now } }, 'attention'],
    ['cloud', { cloud: { view: { ...connectedView, link: soundLink(), remedy: 'Enrol it.' }, now } }, 'attention'],
    ['gateway', { health: standInHealth({ services: [{ ...service, remedy: 'x' }] }) }, 'attention'],
    ['support', { support: runningSupport }, 'attention'],
    ['support', { support: { ...waitingSupport, status: 'not-checked' } }, 'unknown'],
    ['support', { support: { ...waitingSupport, records: { status: 'failing', detail: 'x', notSentYet: 1 } } }, 'bad'],
    ['disk', { health: withMedia('low') }, 'bad'],
    ['disk', { health: withMedia('not-checked') }, 'unknown'],
    ['gateway', { health: { ...calm.health, status: 'degraded' } }, 'bad'],
    ['heartbeat', {}, 'off'],
    ['tablet', { viewers: { onSite: ['127.0.0.9'], remote: [] } }, 'off'],
  ])('%s with %o is %s', (id, change, level) => expect(lampOf(stateOf(change), id).level).toBe(level));

  it('give every reason of an ended and of a refused session in words', () => {
    const at = now.toISOString();
    const cellsOf = (change: Partial<typeof waitingSupport>, row: string) =>
      lampOf(stateOf({ support: { ...waitingSupport, ...change } }), 'support').rows.find(({ label }) => label === row)
        ?.cells;
    for (const reason of endReasons) {
      const lastEnded = { session: 's', reason, at, detail: '' };
      expect(cellsOf({ lastEnded }, 'ended')).toEqual([{ at }, { word: reason }]);
    }
    for (const reason of refusalReasons) {
      expect(cellsOf({ lastRefused: { reason, at, detail: '' } }, 'refused')).toEqual([{ at }, { word: reason }]);
    }
  });

  it('the heartbeat is green only where every robot of the site was received and is alive', () => {
    const fleet = { keyFile: 'k', robots: ['TEST-0001', 'R2'], acceptedKeyFiles: [], broadcast: true, unicast: [] };
    const withFleet = (robots: readonly string[]) => ({ ...(site as object), fleet: { ...fleet, robots } }) as never;
    const robot = { serial: 'R2', presence: 'alive', address: '127.0.0.2', ageMs: 1, conflictWith: null, pose: null };
    const levelOf = (expected: readonly string[], received: readonly object[]) =>
      statesOf(withFleet(expected))
        .compose({ ...calm, neighbours: { ...notListening, status: 'listening', robots: received } as never })
        .lamps.find(({ id }) => id === 'heartbeat')?.level;
    expect(levelOf(['TEST-0001', 'R2'], [robot])).toBe('good');
    expect(levelOf(['TEST-0001', 'R2'], [])).toBe('attention');
    expect(levelOf(['TEST-0001', 'R2'], [{ ...robot, presence: 'late' }])).toBe('attention');
    expect(levelOf([], [])).toBe('unknown');
  });

  it('other robots have a place only on the map that this robot uses', () => {
    const pose = { xM: 1, yM: 2, yawDeg: 3 };
    const robot = { presence: 'alive', address: '127.0.0.2', ageMs: 1, conflictWith: null, pose };
    const received = [true, false, null].map((isOnThisMap, index) => ({ ...robot, serial: `R${index}`, isOnThisMap }));
    const { neighbours } = stateOf({ neighbours: { ...notListening, status: 'listening', robots: received } as never });
    expect(neighbours.map((one) => [one.serial, one.isOnThisMap, one.pose])).toEqual([
      ['R0', true, pose],
      ['R1', false, null],
      ['R2', null, null],
    ]);
  });

  it('the tablet is there only by its own address', () => {
    const withTablet = { ...(site as object), tablet: { host: '127.0.0.9', adbPort: 5555, profileFile: 'k' } } as never;
    const lampWith = (onSite: string[]) =>
      statesOf(withTablet)
        .compose({ ...calm, viewers: { onSite, remote: [] } })
        .lamps.find(({ id }) => id === 'tablet')?.level;
    expect([lampWith(['127.0.0.9']), lampWith(['127.0.0.1']), lampWith([])]).toEqual(['good', 'unknown', 'unknown']);
  });
});

function outbox() {
  if (connectedView.outbox === null) throw new Error('the connected view has an outbox');
  return connectedView.outbox;
}

function withMedia(status: 'low' | 'not-checked') {
  const { disk } = standInHealth();
  return standInHealth({ disk: { ...disk, media: { ...disk.media, status } } });
}

function soundLink() {
  return connectedView.link && { ...connectedView.link, troubles: [] };
}
