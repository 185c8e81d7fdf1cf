import { expect, it } from 'vitest';
import { startSupervised } from './supervised.ts';

it('a trial that follows a cancelled tour at once waits until the robot is seen to obey, and is not refused', async () => {
  await using robot = await startSupervised({ evidence: true, speedMS: 0.1 });
  const { motion } = robot;
  await motion.startTour(Object.keys(robot.site.tours)[0] ?? '');
  await motion.endTour('test');
  const ended = await robot.conduct({ kind: 'stop' });
  expect(ended).toMatchObject({ outcome: 'verified', reason: 'Every fact on trial holds.' });
});
