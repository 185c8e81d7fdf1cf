import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChassisLink } from '../../../src/lib/chassis/index.ts';
import {
  attachmentFolder,
  createEvidenceWatch,
  type EvidenceWatch,
  loadEvidenceFile,
} from '../../../src/lib/evidence/index.ts';
import { type Clock, silentLog } from '../../../src/lib/lifecycle/index.ts';
import {
  createMotion,
  createTrialStore,
  type Motion,
  type OrderLimits,
  type TrialRequest,
  type TrialView,
} from '../../../src/lib/motion/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { type FaultName, type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { loadSite, type Site } from '../../../src/lib/site/index.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { isLatchRead, until } from '../bench.ts';

export interface Supervised extends AsyncDisposable {
  /** The common clock of the robot and of gw. */
  readonly clock: Clock;
  readonly sim: Sim;
  readonly site: Site;
  readonly motion: Motion;
  readonly evidence: EvidenceWatch;
  /** Runs a trial to its end, with keepalives. */
  conduct(request: Partial<TrialRequest> & Pick<TrialRequest, 'kind'>): Promise<TrialView>;
  /** Waits for its end, with keepalives. */
  follow(trial: TrialView): Promise<TrialView>;
  report(
    trial: TrialView,
  ): Promise<{ readonly samples: { poses: unknown[]; plans: unknown[]; events: unknown[] } | null }>;
}

export const onSite = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true } as const;
export const attended = { who: 'J. Doe', conditions: onSite };

/** A simulated robot without evidence, with link, motion and evidence as in the daemon. */
export async function startSupervised(
  options: {
    faults?: readonly FaultName[];
    site?: (site: Site) => Site;
    evidence?: boolean;
    /** A turn has shown that the heading is reported in degrees. */
    isUnitShown?: boolean;
    limits?: Partial<OrderLimits>;
    /** Of the robot, at most. */
    speedMS?: number;
  } = {},
): Promise<Supervised> {
  await using stack = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), 'gw-trial-'));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const clock = createPacedClock();
  const sim = stack.use(
    await startSim({
      ...{ dir, clock, evidence: options.evidence ?? false },
      ...(options.speedMS !== undefined && { speedMS: options.speedMS }),
    }),
  );
  for (const fault of options.faults ?? []) sim.setFault(fault, true);
  if (sim.sitePath === null) throw new Error('expected no folder');
  const loaded = await loadSite(sim.sitePath);
  const site = options.site?.(loaded) ?? loaded;
  const path = site.evidenceFile;
  const base = { clock, log: silentLog };
  const endpoint = { host: sim.chassis.host, port: sim.chassis.port };
  const { serial } = sim.chassis;
  const link = createChassisLink({ ...base, endpoint, expectedSerial: serial, dialer: directDialer });
  const evidence = createEvidenceWatch({ ...base, path, serial, records: await loadEvidenceFile(path) });
  const trialStore = createTrialStore({ path, log: silentLog, ledger: evidence });
  const limits = options.limits ?? {};
  const motion = createMotion({ ...base, link, site, evidence, trialStore, limits });
  for (const service of [link, evidence, motion]) {
    await service.start({ signal: new AbortController().signal, fail() {} });
    stack.defer(() => service.stop());
  }
  await until(() => link.snapshot().values.pose.status === 'received');
  await until(() => link.snapshot().values.wheels.status === 'received');
  await until(() => isLatchRead(motion));
  if (options.isUnitShown === true) {
    sim.setFault('turned-by-hand', true);
    await until(() => link.snapshot().poseUnit.shown === true);
    sim.setFault('turned-by-hand', false);
    await until(() => motion.status().standstill.verdict === 'stands');
  }
  const follow = async (trial: TrialView) => {
    const untilMs = clock.monotonicMs() + 90_000;
    for (let now: TrialView | null = trial; clock.monotonicMs() < untilMs; now = motion.trials.keepAlive(trial.id)) {
      if (now === null) throw new Error('the trial is unknown');
      if (now.state === 'ended') return now;
      await clock.sleep(50);
    }
    throw new Error('the trial did not end');
  };
  const all = stack.move();
  return {
    clock,
    sim,
    site,
    motion,
    evidence,
    follow,
    conduct: async (request) => follow(await motion.trials.start({ ...attended, ...request })),
    report: async ({ report }) => JSON.parse(await readFile(join(attachmentFolder(path), report?.file ?? ''), 'utf8')),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

export const verdicts = ({ facts }: TrialView) => Object.fromEntries(facts.map(({ fact, verdict }) => [fact, verdict]));
