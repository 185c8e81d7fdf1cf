import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { degrees } from '../../src/lib/angle/index.ts';
import { type ChassisLink, createChassisLink, judgeStanding } from '../../src/lib/chassis/index.ts';
import { chosen, type EvidenceRecord, type EvidenceSource, fixedEvidence } from '../../src/lib/evidence/index.ts';
import { type Clock, silentLog } from '../../src/lib/lifecycle/index.ts';
import {
  createMotion,
  createTrialStore,
  type DriveOrder,
  type Motion,
  type OrderLimits,
} from '../../src/lib/motion/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type PlaceMap, type Site, siteSchema } from '../../src/lib/site/index.ts';
import { ground, recordsFor, SERIAL } from './snapshot.ts';
import { time } from './time.ts';

/** Shorter than the defaults. */
const quick: Partial<OrderLimits> = { silenceMs: 300, unclearMs: 300, settleMs: 500, readBackMs: 500 };

export const moveTo = (xM: number, yM: number, yawDeg?: number, map: PlaceMap = ground): DriveOrder => ({
  kind: 'move',
  goal: chosen({ xM, yM, map, ...(yawDeg !== undefined && { yawDeg: degrees(yawDeg) }) }, 'test'),
});

export interface Bench extends AsyncDisposable {
  readonly site: Site;
  readonly link: ChassisLink;
  readonly motion: Motion;
  readonly stateDir: string;
  /** Waits until the poses show that the robot stands, and that no cancel is open. */
  stands(): Promise<void>;
  /** A new instance of motion on the same state, as after a restart of gw. */
  again(limits?: Partial<OrderLimits>): Promise<Motion>;
}

export interface BenchOptions {
  limits?: Partial<OrderLimits>;
  evidence?: EvidenceRecord[] | EvidenceSource;
  file?: object;
  /** Values that the schema would reject. */
  site?: Partial<Site>;
  connect?: boolean;
  /** The clock of the chassis, where it is not a scripted one. */
  clock?: Clock;
  /** Its poses have not shown over this connection that they are in degrees. By default a turn before the test has. */
  isUnitOpen?: boolean;
  /** The disk never answers. */
  isDiskHung?: boolean;
  /** The chassis reports no move for now: only its pose is awaited. */
  isPlanSilent?: boolean;
  /** Records written by a trial. */
  onRecords?: (records: readonly EvidenceRecord[]) => void;
}

/** Motion and link against a chassis at this address, with a state folder of its own. */
export async function startBench(
  address: { host: string; port: number; serial?: string },
  options: BenchOptions = {},
): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-motion-'));
  const serial = address.serial ?? SERIAL;
  const file = siteSchema.parse({
    name: 'bench',
    chassis: { host: address.host, port: address.port, serial },
    maps: { ground },
    stations: { A: { xM: 1, yM: 2 }, B: { xM: 3, yM: 4, yawDeg: 90 }, C: { xM: 5, yM: 6 } },
    tours: { round: { stations: ['A', 'B', 'C'] }, short: { stations: ['B'] } },
    ...options.file,
  });
  const site: Site = {
    ...file,
    path: join(dir, 'site.yaml'),
    dir,
    stateDir: join(dir, 'state'),
    evidenceFile: join(dir, 'evidence.jsonl'),
    ...options.site,
  };
  const context = { signal: new AbortController().signal, fail: () => {} };
  const { clock = time } = options;
  const real = createChassisLink({
    endpoint: { host: address.host, port: address.port },
    expectedSerial: serial,
    dialer: directDialer,
    clock,
    log: silentLog,
  });
  const link: ChassisLink = {
    ...real,
    snapshot() {
      const seen = real.snapshot();
      const { verdict, doubt } = seen.poseUnit;
      if (options.isUnitOpen === true || verdict !== 'not-decided' || doubt !== null) return seen;
      const standing = judgeStanding({ poses: seen.poses, nowMs: clock.monotonicMs(), unit: 'degrees' });
      return { ...seen, poseUnit: { ...seen.poseUnit, verdict: 'degrees' }, standing };
    },
  };
  const made: Motion[] = [];
  const create = async (limits?: Partial<OrderLimits>) => {
    const given = options.evidence ?? recordsFor(serial);
    const evidence = Array.isArray(given) ? fixedEvidence(given) : given;
    const motion = createMotion({
      link,
      site,
      evidence,
      trialStore: createTrialStore({
        path: site.evidenceFile,
        log: silentLog,
        ledger: {
          adopt: (records) => options.onRecords?.(records),
          adoptFile: async () => ({ records: 0, adopted: [], revoked: [] }),
        },
      }),
      clock,
      log: silentLog,
      limits: { ...quick, ...limits },
    });
    made.push(motion);
    await motion.start(context);
    return motion;
  };
  await link.start(context);
  const motion = await create(options.limits);
  const isReceived = (name: 'pose' | 'planning') => () => link.snapshot().values[name].status === 'received';
  if (options.connect !== false) {
    await until(isReceived('pose'));
    // Until then the gate is closed, whatever the other conditions.
    if (options.isDiskHung !== true) await until(() => isLatchRead(motion));
    await until(() => link.snapshot().values.map.status === 'received');
    if (options.isPlanSilent !== true) await until(isReceived('planning'));
  }
  return {
    site,
    link,
    motion,
    stateDir: site.stateDir,
    stands: () => until(() => motion.status().standstill.verdict === 'stands'),
    again: create,
    async [Symbol.asyncDispose]() {
      for (const each of made) await each.stop();
      await link.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Whether the stop latch was read from the disk. */
export function isLatchRead(motion: Motion): boolean {
  return !motion.status().gate.reasons.some((reason) => reason.includes('has not been read yet'));
}

/** Time passes until this holds: looked at by the clock of the robot, so that it has gone no further on a slow machine. */
export async function until(holds: () => boolean): Promise<void> {
  await time.until('the state', holds, Number.POSITIVE_INFINITY);
}
