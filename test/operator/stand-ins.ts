import { degrees } from '../../src/lib/angle/index.ts';
import {
  type ChassisLink,
  type ChassisPart,
  type ChassisSnapshot,
  contentOf,
  type LinkState,
} from '../../src/lib/chassis/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import type { Clock } from '../../src/lib/lifecycle/index.ts';
import type {
  DriveRun,
  Motion,
  MotionStatus,
  RunOptions,
  StopLatch,
  TourRun,
  Trials,
  TrialView,
} from '../../src/lib/motion/index.ts';
import type { GatewayHealth } from '../../src/lib/operator/index.ts';
import { stands } from '../chassis/poses.ts';

/** The answer of the chassis, before any check. */
export interface StandInReply {
  readonly status: number;
  readonly body: Uint8Array;
}

/** A link with state and answers set by the test. */
export interface StandInLink extends ChassisLink {
  setState(state: LinkState): void;
  /** Fields to override in the next snapshots. */
  /** A change of these parts; of all without one. */
  override(change: Partial<ChassisSnapshot>, ...parts: readonly ChassisPart[]): void;
  /** Answers by path; a function may throw. */
  readonly answers: Map<string, () => StandInReply | Promise<StandInReply>>;
  /** Paths that were forwarded, in order. */
  readonly forwarded: string[];
  /** Followers of these parts are called; of all without one. */
  changed(...parts: readonly ChassisPart[]): void;
  /** As it was at first; what follows it goes on. */
  reset(): void;
}

export const SERIAL = 'TEST-0001';
export const tried = { address: '127.0.0.1', port: 8090 } as const;

export function jsonReply(data: unknown, status = 200): StandInReply {
  return { status, body: Buffer.from(JSON.stringify(data)) };
}

export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export function standInLink(first: LinkState = { kind: 'connected', tried }): StandInLink {
  let state = first;
  let overrides: Partial<ChassisSnapshot> = {};
  const listeners = new Set<{ readonly listener: () => void; readonly parts: readonly ChassisPart[] | undefined }>();
  const forwarded: string[] = [];
  const own: readonly (readonly [string, () => StandInReply])[] = [
    ['/device/info', () => jsonReply({ device: { sn: SERIAL }, axbot_version: '2.12.3' })],
    ['/maps/', () => jsonReply([{ id: 7, uid: 'u7', map_name: 'EG' }])],
    ['/maps/7', () => jsonReply({ id: 7, map_name: 'EG', overlays: '{}' })],
    ['/maps/7.png', () => ({ status: 200, body: png })],
  ];
  const answers: StandInLink['answers'] = new Map(own);
  const notUsed = async () => {
    throw new GwError('INTERNAL', 'the operator server does not use this');
  };
  return {
    name: 'chassis',
    start: async () => {},
    stop: async () => {},
    answers,
    forwarded,
    setState(next) {
      state = next;
      this.changed();
    },
    override(change, ...parts) {
      overrides = { ...overrides, ...change };
      this.changed(...parts);
    },
    changed(...changed) {
      for (const { listener, parts } of [...listeners]) {
        if (changed.length === 0 || parts === undefined || changed.some((part) => parts.includes(part))) listener();
      }
    },
    reset() {
      overrides = {};
      forwarded.length = 0;
      answers.clear();
      for (const [path, answer] of own) answers.set(path, answer);
      this.setState(first);
    },
    snapshot: () => ({ ...snapshotWith(state), ...overrides }),
    state: () => ({ ...snapshotWith(state), ...overrides }).link,
    poseWasSet: () => {},
    subscribe(listener, parts) {
      const entry = { listener, parts };
      listeners.add(entry);
      return { [Symbol.dispose]: () => void listeners.delete(entry) };
    },
    client: {
      endpoint: { host: tried.address, port: tried.port },
      ...{ identity: notUsed, deviceInfo: notUsed, bootProgress: notUsed, listMaps: notUsed, map: notUsed },
      ...{ mapBytes: notUsed, currentMap: notUsed, mapLocalisation: notUsed, mapPng: notUsed, mapFile: notUsed },
      async forward(path) {
        forwarded.push(path);
        const { status, body } = (await answers.get(path)?.()) ?? jsonReply({ message: 'error: not found' }, 404);
        // Checked as by the client.
        const { kind = null, problem } = status === 200 ? await contentOf(body) : {};
        if (problem !== undefined) throw new GwError('CHASSIS_BAD_ANSWER', problem, { tried });
        return { status, body, content: kind };
      },
      [Symbol.asyncDispose]: async () => {},
    },
  };
}

export function snapshotWith(link: LinkState): ChassisSnapshot {
  const isConnected = link.kind === 'connected';
  const proof = { mark: 'BELEGT', basis: 'measured', source: 'test' } as const;
  const of = <T>(value: T, unit?: string) =>
    isConnected
      ? ({ status: 'received', value, ...proof, ...(unit && { unit }), ageMs: 400, stale: false } as const)
      : ({ status: 'not-received' } as const);
  return {
    link,
    linkForMs: 1_500,
    roundTripMs: 12,
    identity: isConnected ? { serial: SERIAL, model: 'm1', software: '2.12.3', capabilities: {} } : null,
    values: {
      pose: of({ xM: 1.25, yM: -2.5, yawDeg: degrees(90) }, 'degrees'),
      planning: of({
        ...{ actionId: 0, actionType: 'none', moveState: 'none', failReason: 0, failReasonText: 'none' },
        ...{ remainingDistanceM: 0, raw: {} },
      }),
      battery: of({ percent: 87, status: 'discharging' }, 'percent'),
      wheels: of({ controlMode: 'auto', emergencyStopPressed: false }),
      positioning: of({ state: 'positioning', reliable: true }),
      alerts: of([]),
      map: of({ name: 'EG', uid: 'u7', mapVersion: 3, overlaysVersion: 9 }),
    },
    poses: [],
    standing: stands,
    poseUnit: { verdict: 'not-decided', samples: 0, largest: null, reason: 'no pose was received', doubt: null },
    unitContradicted: false,
    complaints: [],
  };
}

/** A healthy daemon. */
export function standInHealth(over: Partial<GatewayHealth> = {}): GatewayHealth {
  const read = { status: 'as-read', detail: '6 records, as read at the start.' } as const;
  const evidence = { ...read, revoked: [], waiting: [] };
  const free = { freeBytes: 9_000_000_000, totalBytes: 10_000_000_000, detail: '9000 MB of 10000 MB free.' };
  const folder = { status: 'ok', ...free, remedy: null } as const;
  const disk = { state: { path: '/state', ...folder }, media: { path: '/media', ...folder } };
  const log = { status: 'writing', droppedLines: 0, detail: 'The log is written.' } as const;
  const cloud = { status: 'not-configured', detail: 'The site file has no cloud.' } as const;
  const support = { status: 'not-configured', records: 'not-checked', detail: 'The site file has no cloud.' } as const;
  const fleet = { status: 'not-checked', detail: 'No heartbeat is received.' } as const;
  return { status: 'ok', version: '0', upForMs: 0, services: [], evidence, disk, cloud, support, fleet, log, ...over };
}

/** Motion that only records its calls. */
export interface StandInMotion extends Motion {
  set(status: Partial<MotionStatus>): void;
  readonly calls: string[];
  /** Thrown by the next order or start of a tour. */
  failNext?: GwError | undefined;
  /** As it was at first; what follows it goes on. */
  reset(): void;
}

const unlatched = { latched: false, reason: null, by: null, since: null } as const;
const freeLatch: StopLatch = { ...unlatched, saved: true, unsavedBecause: null, repeated: null };

/** The state at first. */
export const freeMotion: MotionStatus = {
  gate: { open: true, reasons: [] },
  stop: freeLatch,
  standstill: { verdict: 'stands', reason: 'it moved less than 0.02 m/s', isOwed: false },
  ...{ keepingTrouble: null, tour: null, drive: null, trial: null, unownedMove: null },
};

const passed = (options?: RunOptions) => (options?.although ? ` although ${options.although.join()}` : '');

export function standInMotion(): StandInMotion {
  let status = freeMotion;
  const listeners = new Set<() => void>();
  const calls: string[] = [];
  const set = (change: Partial<MotionStatus>) => {
    status = { ...status, ...change };
    for (const listener of [...listeners]) listener();
  };
  const throwOnce = () => {
    const { failNext } = motion;
    motion.failNext = undefined;
    if (failNext !== undefined) throw failNext;
  };
  const supervised = (options?: RunOptions) => (options?.keepAlive === true ? ' supervised' : '') + passed(options);
  const trials = standInTrials(calls);
  const motion: StandInMotion = {
    name: 'motion',
    start: async () => {},
    stop: async () => {},
    calls,
    set,
    status: () => status,
    runs: () => status,
    untilStopSaved: async () => {},
    async execute(order) {
      calls.push(`execute ${JSON.stringify(order)}`);
      throwOnce();
      const success = { state: 'succeeded', reason: null, arrival: null, tookMs: 12 } as const;
      return { moveId: null, failReason: null, failReasonText: null, ...success };
    },
    async startTour(tour, options) {
      calls.push(`startTour ${tour}${supervised(options)}`);
      throwOnce();
      const begun = { state: 'running', at: 0, outcomes: [], reason: null } as const;
      const run: TourRun = { id: 'r1', tour, stations: ['A', 'B'], ...begun };
      set({ tour: run });
      return run;
    },
    trials,
    keepAlive(id) {
      calls.push(`keepAlive ${id}`);
      return id === (status.drive ?? status.tour)?.id;
    },
    async startDrive(target, options) {
      calls.push(`startDrive ${JSON.stringify(target)}${supervised(options)}`);
      throwOnce();
      const station = 'station' in target ? target.station : null;
      const kind = station === null ? 'dock' : 'move';
      const drive: DriveRun = { id: 'd1', kind, station, state: 'running', outcome: null, reason: null };
      set({ drive });
      return drive;
    },
    refusalOfUnattended: () => null,
    async pauseTour(by, id) {
      calls.push(`pauseTour ${by} ${id}`);
      const { tour } = status;
      if (tour === null) throw new GwError('TOUR_NOT_RUNNING', 'No tour is running.');
      const run: TourRun = { ...tour, state: 'paused' };
      set({ tour: run });
      return run;
    },
    async resumeTour(name, options) {
      calls.push(`resumeTour ${name}${passed(options)}`);
      throwOnce();
      const { tour } = status;
      if (tour?.state !== 'paused') throw new GwError('TOUR_NOT_PAUSED', 'It is not paused.');
      const run: TourRun = { ...tour, state: 'running' };
      set({ tour: run });
      return run;
    },
    async endTour(by, id) {
      calls.push(`endTour ${by} ${id}`);
      return status.tour;
    },
    async endDrive(by, id) {
      calls.push(`endDrive ${by} ${id}`);
      return status.drive;
    },
    async stopRobot(reason, by) {
      calls.push(`stopRobot ${reason}`);
      set({ stop: { ...freeLatch, latched: true, reason, by, since: '2026-01-01T00:00:00.000Z' } });
      return status.stop;
    },
    async clearStop(by) {
      calls.push(`clearStop ${by}`);
      set({ stop: freeLatch });
      return status.stop;
    },
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    reset() {
      Object.assign(motion, methods, { failNext: undefined });
      trials.forget();
      set(freeMotion);
      calls.length = 0;
    },
  };
  const methods = { ...motion };
  return motion;
}

/** One trial that starts on request, and ends when it is cancelled. */
function standInTrials(calls: string[]): Trials & { forget(): void } {
  let trial: TrialView | null = null;
  return {
    async start({ kind, who, conditions }) {
      calls.push(`trial ${kind} ${who} ${JSON.stringify(conditions)}`);
      trial = {
        ...{ id: 't1', kind, who, state: 'running', phase: 'Begins.', alarm: null, startedAgoMs: 0 },
        ...{ serial: SERIAL, software: '1', simulated: false, outcome: null, reason: null },
        ...{ facts: [], refusals: [], notes: [], report: null, recorded: [] },
      };
      return trial;
    },
    keepAlive(id) {
      calls.push(`alive ${id}`);
      return trial?.id === id ? trial : null;
    },
    async cancel(why) {
      calls.push(`cancel ${why}`);
      if (trial !== null) trial = { ...trial, state: 'ended', outcome: 'cancelled', reason: why };
      return trial;
    },
    view: () => trial,
    forget() {
      trial = null;
    },
    async adoptEvidence() {
      calls.push('adopt evidence');
      return { records: 1, adopted: ['vendor.move.request'], revoked: [] };
    },
  };
}

/** A clock that the test advances; `every` and `after` fire when it does. */
export interface StandInClock extends Clock {
  advance(ms: number): void;
}

export function standInClock(): StandInClock {
  let now = 86_400_000;
  const timers = new Set<{ at: number; every: number | null; fn: () => void }>();
  const add = (ms: number, every: number | null, fn: () => void) => {
    const timer = { at: now + ms, every, fn };
    timers.add(timer);
    return { [Symbol.dispose]: () => void timers.delete(timer) };
  };
  return {
    monotonicMs: () => now,
    wall: () => new Date(Date.UTC(2026, 0, 1) + now),
    sleep: (ms) => new Promise((resolve) => add(ms, null, () => resolve())),
    every: (ms, fn) => add(ms, ms, fn),
    after: (ms, fn) => add(ms, null, fn),
    random: () => 0.5,
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = [...timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        now = next.at;
        if (next.every === null) timers.delete(next);
        else next.at += next.every;
        next.fn();
      }
      now = end;
    },
  };
}
