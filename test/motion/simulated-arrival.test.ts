import { describe, expect, it } from 'vitest';
import type { MoveOutcome } from '../../src/lib/motion/index.ts';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { until } from './bench.ts';
import { startSupervised } from './trial/supervised.ts';

/** A simulated robot with evidence whose heading was verified; `faults` are set when it drives. */
async function driven() {
  const robot = await startSupervised({ evidence: true, isUnitShown: true });
  const { motion, sim, site } = robot;
  const tour = () => motion.status().tour;
  const drive = () => motion.status().drive;
  const orders = () =>
    sim.requests().filter(({ method, path }) => method === 'POST' && path === '/chassis/moves').length;
  return {
    ...robot,
    async tour(faults: readonly FaultName[] = []) {
      // A robot that was turned would creep at once, and get no order.
      const isLate = (fault: FaultName) => fault === 'creeping';
      for (const fault of faults) sim.setFault(fault, !isLate(fault));
      await robot.clock.sleep(1_000);
      await motion.startTour(Object.keys(site.tours)[0] ?? '');
      for (const fault of faults) sim.setFault(fault, true);
      await until(() => tour()?.state !== 'running');
      return { ...tour(), orders: orders() };
    },
    async dock() {
      await motion.startDrive({ dock: true });
      await until(() => drive()?.state !== 'running');
      return drive();
    },
  };
}
const reached = (run: { outcomes?: readonly MoveOutcome[]; stations?: readonly string[] }) =>
  expect(run.outcomes?.map(({ arrival }) => arrival?.verdict)).toEqual(run.stations?.map(() => 'at-goal'));

describe('a tour of the simulated robot', () => {
  it('reaches every station, and the dock afterwards; where it ends in front of the dock it has failed', {
    tags: 'large',
  }, async () => {
    await using robot = await driven();
    const run = await robot.tour();
    expect(run).toMatchObject({ state: 'succeeded', reason: null });
    reached(run);
    const failed = { state: 'failed', arrival: { verdict: 'elsewhere' } };
    robot.sim.setFault('misses', true);
    expect(await robot.dock()).toMatchObject({ state: 'failed', outcome: failed });
    robot.sim.setFault('misses', false);
    await until(() => robot.motion.status().gate.open);
    expect(await robot.dock()).toMatchObject({ state: 'succeeded', outcome: { arrival: { verdict: 'at-goal' } } });
  });

  it.each([
    ['one pose a second at rest', 'rest-rates'],
    ['noise of 1 cm', 'noisy-pose'],
  ] as const)('reaches every station with %s', { tags: 'large' }, async (_what, fault) => {
    await using robot = await driven();
    const run = await robot.tour([fault]);
    expect(run).toMatchObject({ state: 'succeeded', reason: null });
    reached(run);
  });

  it.each([
    [
      'misses its goals',
      'misses',
      { arrival: { verdict: 'elsewhere' } },
      /reports success, but the robot stands (?:0\.9|1\.\d)\d? m from the goal/,
    ],
    ['creeps after its arrival', 'creeping', { state: 'unknown' }, /reports success, but the robot still moves/],
  ] as const)('that %s ends at the first station', { tags: 'large' }, async (_what, fault, outcome, why) => {
    await using robot = await driven();
    const run = await robot.tour([fault]);
    expect(run).toMatchObject({ state: 'failed', at: 0, orders: 1, outcomes: [outcome] });
    expect(run.reason).toMatch(why);
  });

  it('that reports success halfway gets no order before it stands at the station', { tags: 'large' }, async () => {
    await using robot = await driven();
    const run = await robot.tour(['succeeds-early']);
    if (run.state === 'succeeded') reached(run);
    else expect(run).toMatchObject({ state: 'failed', orders: run.outcomes?.length });
  });
});
