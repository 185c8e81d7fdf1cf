import { expect, it } from 'vitest';
import { until } from '../bench.ts';
import { attended, startSupervised } from './supervised.ts';

it('a trial cancelled after its last observation verifies nothing and records nothing', async () => {
  await using robot = await startSupervised({ evidence: true, isUnitVerified: true });
  const { trials } = robot.motion;
  const { id } = await trials.start({ kind: 'pose', ...attended });
  // By then both headings were set and reported.
  await until(() => trials.keepAlive(id)?.phase.startsWith('Restores the original pose') === true);
  await trials.cancel('person in the way');
  await until(() => trials.view()?.state === 'ended');
  const ended = trials.view();
  const why = expect.stringContaining('person in the way');
  const open = { verdict: 'not-decided', value: null, why };
  expect(ended).toMatchObject({ outcome: 'cancelled', recorded: [], reason: why, facts: [open, open] });
});

it('a robot that drives on after its trial was ended is cancelled again until it is at rest', async () => {
  await using robot = await startSupervised({
    ...{ evidence: true, faults: ['cancel-ignored'], limits: { settleMs: 400 } },
  });
  const { trials } = robot.motion;
  const from = robot.sim.state();
  const wayM = () => Math.hypot(robot.sim.state().xM - from.xM, robot.sim.state().yM - from.yM);
  const { id } = await trials.start({ kind: 'move', ...attended, distanceM: 1 });
  await until(() => trials.keepAlive(id) !== null && wayM() > 0.1);
  const ending = trials.cancel('person in the way');
  await robot.clock.sleep(100);
  robot.sim.setFault('cancel-ignored', false);
  await ending;
  await until(() => trials.view()?.state === 'ended');
  expect(robot.sim.state().moving).toBe(false);
  expect(wayM()).toBeLessThan(0.9);
});
