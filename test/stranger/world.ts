import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { degrees } from '../../src/lib/angle/index.ts';
import { createChassisLink } from '../../src/lib/chassis/index.ts';
import { type appendRecord, chosen, fixedEvidence, loadEvidenceFile } from '../../src/lib/evidence/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createMotion, createTrialStore, type TrialKind, type TrialView } from '../../src/lib/motion/index.ts';
import '../../src/lib/net/http/index.ts';
import type { Dialer } from '../../src/lib/net/index.ts';
import { type Site, siteSchema } from '../../src/lib/site/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { isDiskPending } from '../lifecycle/paced-clock.ts';
import { recordsFor } from '../motion/snapshot.ts';
import { type ChassisOptions, createChassis } from './chassis.ts';
import { connect, type Stall, traffic } from './wire.ts';

const [SERIAL, SOFTWARE] = ['STRANGER-1', '9.9.1'];
export const house = { uid: 'map-house', version: 2, title: 'House' } as const;
const mapNow = { name: house.title, uid: house.uid, map_version: house.version, overlays_version: 1 };

const QUIET_ROUNDS = 2;
/** Nothing is under way: no bytes between robot and gateway, and no request of the disk. There is no other outside. */
async function settled(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_ROUNDS; ) {
    const before = traffic.chunks;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = traffic.chunks === before && !isDiskPending() ? quiet + 1 : 0;
  }
}

type RobotOptions = Omit<ChassisOptions, 'clock' | 'serial' | 'software' | 'map'>;

interface WorldOptions {
  /** Of a record, where it is not the disk. */
  readonly append?: typeof appendRecord;
  /** The gateway is started while the robot executes a move so far ahead that another system ordered, this long before. */
  readonly foreign?: { readonly aheadM: number; readonly forMs: number };
  /** When the gateway reads nothing, in ms since its start. */
  readonly stalls?: readonly Stall[];
  /** How long what the robot sends is under way. */
  readonly delayMs?: () => number;
  /** Whether the robot answers a ping now. */
  readonly pongs?: () => boolean;
}

function ahead({ xM, yM, deg }: { xM: number; yM: number; deg: number }, aheadM: number) {
  const yaw = (deg * Math.PI) / 180;
  return { xM: xM + aheadM * Math.cos(yaw), yM: yM + aheadM * Math.sin(yaw) };
}

/** A stranger's robot and the link and motion of gw, on a clock that a test advances. */
export async function createWorld(
  robot: RobotOptions,
  { append, foreign, stalls = [], delayMs = () => 0, pongs = () => true }: WorldOptions = {},
) {
  const clock = createFakeClock({ startMs: 1_000_000, settled });
  const dir = mkdtempSync(join(tmpdir(), 'gw-stranger-'));
  const chassis = createChassis({ ...robot, clock, serial: SERIAL, software: SOFTWARE, map: mapNow });
  if (foreign !== undefined) {
    const { xM, yM } = ahead(chassis.truth(), foreign.aheadM);
    const body = JSON.stringify({ target_x: xM, target_y: yM });
    const ordered = chassis.served.answer({ method: 'POST', path: '/chassis/moves', body });
    await clock.advance(foreign.forMs);
    await ordered;
  }
  const startMs = clock.monotonicMs();
  const network = {
    clock,
    delayMs,
    pongs,
    stalls: stalls.map((stall) => ({ ...stall, fromMs: startMs + stall.fromMs })),
  };
  const dialer: Dialer = { way: 'direct', dial: async () => connect(chassis.served, network) };
  const file = siteSchema.parse({
    name: 'stranger',
    chassis: { host: '127.0.0.1', port: 8090, serial: SERIAL },
    maps: { house },
    stations: { A: { xM: 1, yM: 1 } },
  });
  const site: Site = {
    ...file,
    ...{ path: join(dir, 'site.yaml'), dir, stateDir: join(dir, 'state'), evidenceFile: join(dir, 'evidence.jsonl') },
  };
  const base = { clock, log: silentLog };
  const endpoint = { host: '127.0.0.1', port: 8090 };
  const link = createChassisLink({ ...base, endpoint, expectedSerial: SERIAL, dialer });
  const ledger = { adopt: () => {}, adoptFile: async () => ({ records: 0, adopted: [], revoked: [] }) };
  const motion = createMotion({
    ...{ ...base, link, site, evidence: fixedEvidence(recordsFor(SERIAL, SOFTWARE)) },
    trialStore: createTrialStore({ path: site.evidenceFile, log: silentLog, ledger, ...(append && { append }) }),
    limits: {},
  });
  /** Time passes until this holds; false: not within that time. */
  async function until(holds: () => boolean, maxMs: number, each: () => void = () => {}): Promise<boolean> {
    for (let ms = 0; ms < maxMs; ms += 100) {
      if (holds()) return true;
      await clock.advance(100);
      each();
    }
    return holds();
  }
  async function during<T>(work: Promise<T>, maxMs: number, each: () => void = () => {}): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    if (!(await until(() => isOver, maxMs, each))) throw new Error(`not over after ${maxMs / 1_000} s`);
    return await work;
  }
  const context = { signal: new AbortController().signal, fail: () => {} };
  await during(link.start(context), 1_000);
  await during(motion.start(context), 5_000);
  if (foreign === undefined) {
    await until(() => link.snapshot().values.pose.status === 'received', 10_000);
    await clock.advance(3_000);
  }

  return {
    ...{ clock, chassis, link, motion, until, during },
    /** What was recorded and counts. */
    records: () => loadEvidenceFile(site.evidenceFile),
    /** A move ahead of the robot, in its own map. */
    order(aheadM: number, turnDeg: number | null = null) {
      const { deg } = chassis.truth();
      const place = ahead(chassis.truth(), aheadM);
      const yawDeg =
        turnDeg === null ? {} : { yawDeg: degrees(deg + turnDeg - 360 * Math.round((deg + turnDeg) / 360)) };
      return { kind: 'move', goal: chosen({ ...place, ...yawDeg, map: house }, 'test') } as const;
    },
    /** A trial to its end, with a person beside the robot. */
    async verify(kind: TrialKind, each: () => void = () => {}): Promise<TrialView> {
      const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
      const { id } = await during(motion.trials.start({ kind, who: 'J. Doe', conditions }), 5_000);
      await until(() => motion.trials.keepAlive(id)?.state === 'ended', 200_000, each);
      const view = motion.trials.view();
      if (view?.state !== 'ended') throw new Error('the trial did not end');
      return view;
    },
    async [Symbol.asyncDispose]() {
      await during(motion.stop(), 20_000);
      chassis[Symbol.dispose]();
      await during(link.stop(), 20_000);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;
export type { RobotOptions };
