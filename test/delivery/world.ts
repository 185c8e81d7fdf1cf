import { createDelivery, type Delivery } from '../../src/lib/delivery/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { type Clock, silentLog } from '../../src/lib/lifecycle/index.ts';
import type { DriveRun, DriveTarget, MotionStatus, RunOptions } from '../../src/lib/motion/index.ts';
import { siteSchema } from '../../src/lib/site/index.ts';

export const COUNTDOWN_MS = 10_000;
export const TICK_MS = 500;

/** An order that the chassis received. */
interface SeenOrder {
  readonly atMs: number;
  /** null: the dock. */
  readonly station: string | null;
  readonly by: RunOptions['by'];
}

const places: Record<string, { xM: number; yM: number }> = {
  A: { xM: 1, yM: 0 },
  B: { xM: 5, yM: 0 },
  C: { xM: 9, yM: 0 },
};
const dockPlace = { xM: 0, yM: 9 };

const siteWith = (delivery: object, more: object) =>
  siteSchema.parse({
    name: 'bench',
    chassis: { host: '127.0.0.1', serial: 'SN0001' },
    maps: { ground: { uid: 'u1', version: 1 } },
    stations: places,
    dock: { ...dockPlace, yawDeg: 0 },
    delivery: { countdownSeconds: COUNTDOWN_MS / 1_000, ...delivery },
    ...more,
  });

/** A robot and its motion in a few lines. Its gate refuses only a second order, so that nothing but the delivery itself holds one back. */
export function createWorld(delivery: object, more: object = {}) {
  const site = siteWith(delivery, more);
  let nowMs = 1_000_000;
  let wallMs = 0;
  let count = 0;
  let lives = -1;
  const timers = new Set<() => void>();
  const listeners = new Set<() => void>();
  const robot = {
    at: { xM: 1, yM: 0 },
    standing: 'stands' as MotionStatus['standstill']['verdict'],
    isConnected: true,
    map: 'u1',
    stop: false,
    alarm: false,
    unowned: false,
    trial: false,
    fault: false,
    percent: 80,
    isPoseStale: false,
    /** The gate refuses what begins by itself: a fact lacks its verification. */
    isUnverified: false,
    drive: null as DriveRun | null,
    orders: [] as SeenOrder[],
  };
  const clock: Clock = {
    monotonicMs: () => nowMs,
    wall: () => new Date(wallMs),
    sleep: () => Promise.reject(new Error('no sleep here')),
    every(_ms, fn) {
      timers.add(fn);
      return { [Symbol.dispose]: () => void timers.delete(fn) };
    },
    after: () => ({ [Symbol.dispose]: () => {} }),
    // Another one in each process.
    random: () => Math.max(0, lives) / 2 ** 20,
  };
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  const subscribe = (listener: () => void) => {
    const mine = () => listener();
    listeners.add(mine);
    return { [Symbol.dispose]: () => void listeners.delete(mine) };
  };
  const status = (): MotionStatus => ({
    gate: { open: !robot.fault && !robot.stop && robot.isConnected, reasons: robot.fault ? ['a fault'] : [] },
    // Of u2 a site file may have places too.
    frame: robot.map !== 'u3' ? null : { code: 'other-map', map: robot.map, measured: 'ground', reason: 'other map' },
    standstill: { verdict: robot.drive?.state === 'running' ? 'moves' : robot.standing, reason: '', isOwed: false },
    poseAlarm: robot.alarm ? { reason: 'wrong', since: null } : null,
    poseAlarmTrouble: null,
    stop: {
      ...{ latched: robot.stop, reason: 'drill', by: 'page', since: null, saved: true, unsavedBecause: null },
      repeated: null,
    },
    keepingTrouble: null,
    tour: null,
    drive: robot.drive,
    trial: robot.trial ? { kind: 'stop' } : null,
    unownedMove: robot.unowned ? { moveId: 7, type: 'standard', isBeingCancelled: true } : null,
  });
  const motion = {
    status,
    runs: () => ({ tour: null, drive: robot.drive, stop: status().stop }),
    subscribe,
    async startDrive(target: DriveTarget, { by }: RunOptions = {}): Promise<DriveRun> {
      if (robot.drive?.state === 'running') throw new GwError('MOTION_REFUSED', 'A drive is running.');
      count += 1;
      const station = 'station' in target ? target.station : null;
      robot.orders.push({ atMs: nowMs, station, by });
      robot.drive = {
        ...{ id: `d${count}`, kind: station === null ? 'dock' : 'move', station, state: 'running' },
        ...{ outcome: null, reason: null, ...(by && { by }) },
      };
      changed();
      return robot.drive;
    },
    async endDrive() {
      end('stopped');
      return robot.drive;
    },
    refusalOfUnattended: () => (robot.isUnverified ? new GwError('MOTION_REFUSED', 'not verified') : null),
  };
  function end(state: DriveRun['state']): void {
    if (robot.drive?.state !== 'running') return;
    if (state === 'succeeded')
      robot.at = robot.drive.station === null ? dockPlace : (places[robot.drive.station] ?? dockPlace);
    robot.drive = { ...robot.drive, state };
    changed();
  }
  const value = <T>(of: T, stale = false) => ({ status: 'received' as const, value: of, stale, ageMs: 0 });
  const link = {
    snapshot: () => ({
      link: robot.isConnected ? { kind: 'connected' } : { kind: 'not-connected' },
      values: {
        pose: value({ ...robot.at, yawDeg: 0 }, robot.isPoseStale),
        map: value({ uid: robot.map, mapVersion: 1, name: 'ground' }),
        battery: value({ percent: robot.percent, status: 'discharging' }),
      },
    }),
    subscribe,
  };
  let made: Delivery | null = null;

  const world = {
    robot,
    clock,
    motion,
    nowMs: () => nowMs,
    changed,
    end,
    delivery: () => made as Delivery,
    /** A new process of the gateway; of the one before nothing is left, as after a kill. */
    async restart() {
      lives += 1;
      timers.clear();
      listeners.clear();
      if (robot.drive?.state === 'running') robot.unowned = true;
      robot.drive = null;
      // What is built in the real one too: only the parts that the delivery reads.
      made = createDelivery({ site, clock, log: silentLog, motion, link: link as never });
      await made.start({ signal: new AbortController().signal, fail: () => {} });
    },
    setWall(ms: number) {
      wallMs = ms;
    },
    /** The process did not run meanwhile. */
    freeze(ms: number) {
      nowMs += ms;
    },
    async tick() {
      nowMs += TICK_MS;
      for (const timer of [...timers]) timer();
      await settled();
    },
  };
  return world;
}

export async function settled(): Promise<void> {
  for (let round = 0; round < 6; round += 1) await Promise.resolve();
}
