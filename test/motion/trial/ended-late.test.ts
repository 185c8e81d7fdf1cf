import { expect, it } from 'vitest';
import { appendRecord } from '../../../src/lib/evidence/index.ts';
import { until } from '../bench.ts';
import { onSite, startSupervised } from './supervised.ts';

it('a trial cancelled after its last observation verifies nothing and records nothing', {
  timeout: 60_000,
}, async () => {
  await using robot = await startSupervised({ evidence: true });
  const { trials } = robot.motion;
  const { serial, software } = robot.sim.chassis;
  const when = '2026-02-01T12:00:00Z';
  const about = { serial, software, how: 'turned by hand', who: 'J. Doe', when, simulated: true as const };
  const proven = { fact: 'angles.tracked-pose-ori', value: 'degrees', ...about };
  await appendRecord(robot.site.evidenceFile, proven);
  robot.evidence.adopt([proven]);
  const { id } = await trials.start({ kind: 'pose', who: 'J. Doe', conditions: onSite });
  // By then both headings were set and reported.
  await until(() => trials.keepAlive(id)?.phase.startsWith('Restores the original pose') === true, 'the end', 40_000);
  await trials.cancel('person in the way');
  await until(() => trials.view()?.state === 'ended', 'the end', 20_000);
  const ended = trials.view();
  expect(ended).toMatchObject({
    outcome: 'cancelled',
    recorded: [],
    reason: expect.stringContaining('person in the way'),
  });
  expect(ended?.facts).toHaveLength(2);
  for (const fact of ended?.facts ?? []) {
    expect(fact).toMatchObject({
      verdict: 'not-decided',
      value: null,
      why: expect.stringContaining('person in the way'),
    });
  }
});

it('a robot that drives on after its trial was ended is cancelled again until it is at rest', {
  timeout: 60_000,
}, async () => {
  await using robot = await startSupervised({
    ...{ evidence: true, faults: ['cancel-ignored'], limits: { settleMs: 400 } },
  });
  const { trials } = robot.motion;
  const from = robot.sim.state();
  const wayM = () => Math.hypot(robot.sim.state().xM - from.xM, robot.sim.state().yM - from.yM);
  const { id } = await trials.start({ kind: 'move', who: 'J. Doe', conditions: onSite, distanceM: 1 });
  await until(() => trials.keepAlive(id) !== null && wayM() > 0.1, 'the way', 20_000);
  const ending = trials.cancel('person in the way');
  await robot.clock.sleep(100);
  robot.sim.setFault('cancel-ignored', false);
  await ending;
  await until(() => trials.view()?.state === 'ended', 'the end', 20_000);
  expect(robot.sim.state().moving).toBe(false);
  expect(wayM()).toBeLessThan(0.9);
});
