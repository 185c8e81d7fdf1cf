import { appendFileSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FaultName } from '../../src/lib/sim/index.ts';
import type { Site } from '../../src/lib/site/index.ts';
import { startSupervised } from './trial/supervised.ts';

/** As the move trial writes it. */
function verifyDegrees({ evidenceFile }: Site): void {
  const [first = ''] = readFileSync(evidenceFile, 'utf8').split('\n');
  const record = { ...JSON.parse(first), fact: 'angles.tracked-pose-ori', value: 'degrees' };
  appendFileSync(evidenceFile, `${JSON.stringify(record)}\n`);
}

/** A tour of the simulated robot, with the faults set before it starts. */
async function tour(...faults: FaultName[]) {
  await using robot = await startSupervised({
    evidence: true,
    site: (site) => {
      verifyDegrees(site);
      return site;
    },
  });
  const { motion, clock, sim } = robot;
  for (const fault of faults) sim.setFault(fault, true);
  await clock.sleep(1_000);
  await motion.startTour(Object.keys(robot.site.tours)[0] ?? '');
  const run = () => motion.status().tour;
  await ended(clock, run);
  const orders = sim.requests().filter(({ method, path }) => method === 'POST' && path === '/chassis/moves').length;
  return { ...run(), orders };
}

async function ended(clock: { sleep(ms: number): Promise<void> }, run: () => { state: string } | null): Promise<void> {
  for (let tries = 0; run()?.state === 'running'; tries += 1) {
    if (tries > 2_000) throw new Error('the run did not end');
    await clock.sleep(100);
  }
}

/** The robot stands in its dock at first. */
async function dockAgain(...faults: FaultName[]) {
  await using robot = await startSupervised({ evidence: true });
  const { motion, clock, sim } = robot;
  await motion.startDrive({ station: Object.keys(robot.site.stations)[0] ?? '' });
  await ended(clock, () => motion.status().drive);
  expect(motion.status().drive).toMatchObject({ state: 'succeeded' });
  for (const fault of faults) sim.setFault(fault, true);
  await motion.startDrive({ dock: true });
  await ended(clock, () => motion.status().drive);
  return motion.status().drive;
}

describe('a tour of the simulated robot', { timeout: 120_000 }, () => {
  it.each([
    ['without a fault', []],
    ['with one pose a second at rest', ['rest-rates']],
    ['with noise of 1 cm', ['noisy-pose']],
  ] as const)('%s reaches every station', async (_what, faults) => {
    const run = await tour(...faults);
    expect(run).toMatchObject({ state: 'succeeded', reason: null });
    expect(run.outcomes?.map(({ arrival }) => arrival?.verdict)).toEqual(run.stations?.map(() => 'at-goal'));
  });

  it('that misses its goals ends at the first station, with the distance', async () => {
    const run = await tour('misses');
    expect(run).toMatchObject({ state: 'failed', at: 0, orders: 1, outcomes: [{ arrival: { verdict: 'elsewhere' } }] });
    expect(run.reason).toMatch(/reports success, but the robot stands (?:0\.9|1\.\d)\d? m from the goal/);
  });

  it('that reports success halfway gets no order before it stands at the station', async () => {
    const run = await tour('succeeds-early');
    if (run.state === 'succeeded') {
      expect(run.outcomes?.map(({ arrival }) => arrival?.verdict)).toEqual(run.stations?.map(() => 'at-goal'));
    } else {
      expect(run).toMatchObject({ state: 'failed', orders: run.outcomes?.length });
    }
  });

  it('that creeps after its arrival ends at the first station', async () => {
    const run = await tour('creeping');
    expect(run).toMatchObject({ state: 'failed', at: 0, orders: 1, outcomes: [{ state: 'unknown' }] });
    expect(run.reason).toMatch(/reports success, but the robot still moves/);
  });
});

describe('a drive of the simulated robot to its dock', { timeout: 120_000 }, () => {
  it('is compared with the pose of the dock', async () => {
    expect(await dockAgain()).toMatchObject({
      state: 'succeeded',
      outcome: { arrival: { verdict: 'at-goal' } },
    });
  });

  it('that ends in front of it has failed', async () => {
    expect(await dockAgain('misses')).toMatchObject({
      state: 'failed',
      outcome: { state: 'failed', arrival: { verdict: 'elsewhere' } },
    });
  });
});
