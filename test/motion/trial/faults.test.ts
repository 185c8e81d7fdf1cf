import { describe, expect, it } from 'vitest';
import type { GwError } from '../../../src/lib/error/index.ts';
import { loadEvidenceFile } from '../../../src/lib/evidence/index.ts';
import type { TrialKind } from '../../../src/lib/motion/index.ts';
import type { FaultName } from '../../../src/lib/sim/index.ts';
import { until } from '../bench.ts';
import { onSite, startSupervised, verdicts } from './supervised.ts';

/** The result of a trial that the gate refuses: the error, and its records. */
async function refused(fault: FaultName, kind: TrialKind = 'stop') {
  await using robot = await startSupervised({ faults: [fault], evidence: kind === 'dock' });
  const ended = await robot.conduct({ kind }).catch(() => robot.motion.trials.view());
  if (ended === null) throw new Error('no record');
  const report = await robot.report(ended);
  const moved = robot.sim.state().moving;
  return { ended, report, moved, records: await loadEvidenceFile(robot.site.evidenceFile) };
}

describe('a robot with a fault', { timeout: 120_000 }, () => {
  it.each([
    ['emergency-stop', /emergency stop of the robot is pressed/],
    ['localisation-lost', /lost its position/],
    ['manual-control', /control mode 'manual'/],
    [
      'drifting-pose',
      /^The reported pose drifts while the robot should stand still: (it moves|it turns|its heading changes) /,
    ],
    ['radians', /drifts while the robot should stand|radians/],
    ['radians-0-2pi', /drifts while the robot should stand|radians/],
    ['radians-unwrapped', /drifts while the robot should stand|radians|in doubt/],
  ] as const)('%s: nothing is ordered, and the reason is recorded', async (fault, why) => {
    const { ended, report, moved, records } = await refused(fault);
    expect(ended).toMatchObject({ outcome: 'refused', recorded: [] });
    expect(ended.refusals.join(' ')).toMatch(why);
    expect(report).toMatchObject({ outcome: 'refused', refusals: ended.refusals });
    expect(moved).toBe(false);
    expect(records).toEqual([]);
  });

  it('cancel-ignored: contradicted, the person is alerted at once, and the gate stays closed for every order', async () => {
    await using robot = await startSupervised({ faults: ['cancel-ignored'] });
    const { motion } = robot;
    const began = await motion.trials.start({ kind: 'stop', who: 'J. Doe', conditions: onSite });
    const alarms: string[] = [];
    using _watching = motion.subscribe(() => {
      const { alarm, state } = motion.trials.view() ?? {};
      if (typeof alarm === 'string' && state === 'running') alarms.push(alarm);
    });
    const ended = await robot.follow(began);
    expect(ended).toMatchObject({ outcome: 'contradicted', recorded: ['vendor.move.cancel'] });
    expect(ended.facts[0]).toMatchObject({
      verdict: 'differs',
      value: false,
      why: expect.stringMatching(/did not stop at the accepted cancel: it went 0/),
    });
    expect(alarms[0]).toMatch(/^PRESS THE EMERGENCY STOP/);
    expect(robot.sim.state().moving).toBe(false);
    // A cancel that does not work closes the gate for everything that relies on it, trials too.
    const second = motion.trials.start({ kind: 'stop', who: 'J. Doe', conditions: onSite });
    await expect(second).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
      message: expect.stringMatching(/vendor.move.cancel was contradicted/),
    });
    robot.sim.setFault('cancel-ignored', false);
  });

  const lying = [
    ['cancel-lies', 0.06, 'contradicted', /it (went|moves at) 0\.\d+ m/],
    ['cancel-lies', 0.5, 'contradicted', /it (went|moves at) 0\.\d+ m/],
    ['cancel-ignored', 0.06, 'contradicted', /it (went|moves at) 0\.\d+ m/],
    ['coasting', 0.1, 'contradicted', /it (went|moves at) 0\.\d+ m.*it came to rest later/],
    ['cancel-refused', 0.06, 'not-decided', /did not accept the cancel: .*500/],
  ] as const;

  it.each(lying)('%s at %d m/s: not verified, and the person is alerted', async (fault, speedMS, outcome, why) => {
    await using robot = await startSupervised({ faults: [fault], speedMS });
    const ended = await robot.conduct({ kind: 'stop' });
    expect(ended).toMatchObject({ outcome, alarm: expect.stringMatching(/^PRESS THE EMERGENCY STOP/) });
    expect(ended.facts[0]?.why).toMatch(why);
    expect(ended.facts[0]?.why).not.toMatch(/ 20 ms/);
  });

  it.each([['creeping'], ['spinning']] as const)(
    '%s after the cancel: not verified, and the person is alerted',
    async (fault) => {
      await using robot = await startSupervised({ speedMS: 0.3 });
      const began = await robot.motion.trials.start({ kind: 'stop', who: 'J. Doe', conditions: onSite });
      await until(
        () => robot.motion.trials.keepAlive(began.id) !== null && robot.sim.state().moving,
        'the drive',
        10_000,
      );
      robot.sim.setFault(fault, true);
      using _pressed = robot.motion.subscribe(() => {
        if (robot.motion.trials.view()?.alarm !== null) robot.sim.setFault(fault, false);
      });
      const ended = await robot.follow(began);
      // A turn contradicts nothing before the unit of the heading is decided.
      expect(['contradicted', ...(fault === 'spinning' ? ['not-decided'] : [])]).toContain(ended.outcome);
      expect(ended.alarm).toMatch(/^PRESS THE EMERGENCY STOP: the robot/);
    },
  );

  it.each([
    ['misses', 'vendor.move.request'],
    ['succeeds-early', 'vendor.move.state'],
  ] as const)('%s: the trial of move does not verify %s', async (fault, fact) => {
    await using robot = await startSupervised();
    await robot.conduct({ kind: 'stop' });
    robot.sim.setFault(fault, true);
    const ended = await robot.conduct({ kind: 'move', towardsDeg: 45 });
    expect(ended.outcome).not.toBe('verified');
    expect(ended.facts.find((one) => one.fact === fact)?.verdict ?? 'not judged').not.toBe('agrees');
    robot.sim.setFault(fault, false);
  });

  it('noisy-pose: a robot that stops is verified, with a time to its rest that is true', async () => {
    await using robot = await startSupervised({ faults: ['noisy-pose'], speedMS: 0.3 });
    const ended = await robot.conduct({ kind: 'stop' });
    expect(ended).toMatchObject({ outcome: 'verified', alarm: null });
    expect(ended.facts[0]?.why).toMatch(/at rest within \d\.\d s, still at rest \d+ s later/);
  });

  it('target-in-degrees: the final heading reveals it, and the other observations still count', async () => {
    await using robot = await startSupervised({ faults: ['target-in-degrees'] });
    await robot.conduct({ kind: 'stop' });
    const ended = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    expect(ended.outcome).toBe('contradicted');
    expect(verdicts(ended)).toEqual({
      'angles.tracked-pose-ori': 'holds',
      'angles.target-ori': 'differs',
      'vendor.move.request': 'holds',
      'vendor.move.state': 'holds',
    });
    expect(robot.motion.status().gate.reasons.join()).toMatch(/angles.target-ori was contradicted/);
  });

  it('clockwise: the report of the heading is contradicted, and target_ori is not blamed', async () => {
    await using robot = await startSupervised();
    await robot.conduct({ kind: 'stop' });
    robot.sim.setFault('clockwise', true);
    const ended = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    const unit = ended.facts.find(({ fact }) => fact === 'angles.tracked-pose-ori');
    expect([unit?.verdict, unit?.value], unit?.why).toEqual(['differs', 'degrees clockwise']);
    expect(verdicts(ended)).toMatchObject({ 'angles.target-ori': 'not-decided' });
    expect(robot.motion.status().gate.open).toBe(false);
  });

  it('unknown-state: an unknown final state is not a success', async () => {
    await using robot = await startSupervised();
    await robot.conduct({ kind: 'stop' });
    robot.sim.setFault('unknown-state', true);
    const ended = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    expect(verdicts(ended)).toMatchObject({ 'vendor.move.state': 'differs', 'vendor.move.request': 'not-decided' });
    expect(robot.motion.status().gate.open).toBe(false);
  });

  it('pose-in-degrees: contradicted, and the person is alerted that the original pose could not be restored', async () => {
    await using robot = await startSupervised();
    await robot.conduct({ kind: 'stop' });
    await robot.conduct({ kind: 'move', distanceM: 0.6 });
    robot.sim.setFault('pose-in-degrees', true);
    const ended = await robot.conduct({ kind: 'pose' });
    expect(ended).toMatchObject({
      outcome: 'contradicted',
      alarm: expect.stringMatching(/THE POSE OF THE ROBOT IS WRONG/),
    });
    expect(ended.facts).toMatchObject([
      { fact: 'angles.pose-ori', verdict: 'differs', value: 'degrees' },
      { fact: 'vendor.pose.request', verdict: 'not-decided' },
    ]);
  });

  it('blocked: a move that the chassis gives up verifies nothing', async () => {
    await using robot = await startSupervised({ evidence: true, limits: { moveMs: 4_000 } });
    robot.sim.setFault('blocked', true);
    const ended = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    expect(ended.outcome).toBe('not-decided');
    expect(Object.values(verdicts(ended))).not.toContain('holds');
    expect(ended.recorded).toEqual([]);
  });
});

describe('a trial that is ended early', { timeout: 60_000 }, () => {
  it('by a lost client: after 3 s without a keepalive the move is cancelled, and nothing is verified', async () => {
    await using robot = await startSupervised({ evidence: true });
    const { motion } = robot;
    await motion.trials.start({ kind: 'move', who: 'J. Doe', conditions: onSite });
    await until(() => motion.trials.view()?.state === 'ended', 'the end', 20_000);
    expect(motion.trials.view()).toMatchObject({
      outcome: 'cancelled',
      recorded: [],
      reason: expect.stringMatching(/no keepalive/),
    });
    expect(robot.sim.state().moving).toBe(false);
    expect(motion.status().stop.latched).toBe(false);
  });

  it('by a stop: the stop has priority and stays latched', async () => {
    await using robot = await startSupervised();
    const { motion } = robot;
    const began = await motion.trials.start({ kind: 'stop', who: 'J. Doe', conditions: onSite });
    const following = robot.follow(began);
    await until(() => robot.sim.state().moving, 'the drive', 10_000);
    await motion.stopRobot('person in the way', 'tablet');
    expect(await following).toMatchObject({ outcome: 'cancelled', recorded: [] });
    expect(motion.status().stop.latched).toBe(true);
    await expect(motion.trials.start({ kind: 'stop', who: 'x', conditions: onSite })).rejects.toMatchObject({
      code: 'MOTION_STOPPED',
    });
  });

  it('by the emergency stop, and by a lost connection', async () => {
    for (const fault of ['emergency-stop', 'cut'] as const) {
      await using robot = await startSupervised({ evidence: true, limits: { cancelTries: 3 } });
      const began = await robot.motion.trials.start({ kind: 'move', who: 'J. Doe', conditions: onSite });
      const following = robot.follow(began);
      await until(() => robot.sim.state().moving, 'the drive', 10_000);
      robot.sim.setFault(fault, true);
      const ended = await following;
      expect(ended, fault).toMatchObject({ outcome: 'cancelled', recorded: [] });
      expect(Object.values(verdicts(ended))).not.toContain('holds');
      // Without a connection to the robot the person beside it is alerted.
      if (fault === 'cut') expect(ended.alarm).toMatch(/^PRESS THE EMERGENCY STOP/);
    }
  });
});

describe('a trial is refused', { timeout: 60_000 }, () => {
  const code = async (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: GwError) => [error.code, error.message],
    );

  it('without the conditions that only a person can give, or unattended on a chassis that is not simulated', async () => {
    await using robot = await startSupervised();
    const { trials } = robot.motion;
    const start = (conditions: object) =>
      code(trials.start({ kind: 'stop', who: 'J. Doe', conditions: conditions as typeof onSite }));
    expect(await start({ ...onSite, spaceFree: false, emergencyStopInHand: 1 })).toEqual([
      'MOTION_REFUSED',
      'A person on site must confirm that the space around the robot is free, that a hand is on the emergency stop.',
    ]);
    expect(await start({})).toMatchObject(['MOTION_REFUSED', expect.stringMatching(/that the robot may move/)]);
    const ended = await robot.conduct({ kind: 'stop', conditions: { unattended: true } });
    expect(ended.outcome).toBe('verified');
  });

  it('beside a tour, beside another trial, or for an invalid request', async () => {
    await using robot = await startSupervised({ evidence: true });
    const { trials } = robot.motion;
    await robot.motion.startTour('demo');
    const stop = { kind: 'stop', who: 'J. Doe', conditions: onSite } as const;
    expect(await code(trials.start(stop))).toMatchObject(['TOUR_RUNNING', expect.anything()]);
    await robot.motion.stopRobot('test', 'test');
    await robot.motion.clearStop('test');
    await until(() => robot.motion.status().tour?.state !== 'running', 'the end of the tour');
    await until(() => robot.motion.status().standstill.verdict === 'stands', 'rest', 15_000);
    const two = await Promise.all([code(trials.start(stop)), code(trials.start(stop))]);
    expect(two.filter((one) => one === null)).toHaveLength(1);
    expect(two.flat()).toContain('A trial is running.');
    await expect(robot.motion.startTour('demo')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    await trials.cancel('test');
    for (const wrong of [
      { kind: 'move', towardsDeg: 10 },
      { kind: 'move', towardsDeg: 175 },
      { kind: 'move', towardsDeg: 80 },
      { kind: 'stop', distanceM: 2.1 },
      { kind: 'pose', distanceM: 1 },
      { kind: 'move', distanceM: 1.2 },
      { kind: 'dock', towardsDeg: 90 },
      { kind: 'stop', who: ' ' },
      { kind: 'drive' },
    ]) {
      expect(await code(trials.start({ ...stop, ...wrong } as typeof stop)), JSON.stringify(wrong)).toMatchObject([
        'USAGE',
        expect.anything(),
      ]);
    }
  });

  it('in another order than stop first: a move requires an observed cancel', async () => {
    await using robot = await startSupervised();
    expect(await code(robot.motion.trials.start({ kind: 'move', who: 'x', conditions: onSite }))).toMatchObject([
      'MOTION_REFUSED',
      expect.stringMatching(/vendor.move.cancel is from a vendor description/),
    ]);
    expect(await code(robot.motion.trials.start({ kind: 'dock', who: 'x', conditions: onSite }))).toMatchObject([
      'MOTION_REFUSED',
      expect.stringMatching(/vendor.move.request/),
    ]);
    expect(await code(robot.motion.trials.start({ kind: 'pose', who: 'x', conditions: onSite }))).toMatchObject([
      'MOTION_REFUSED',
      expect.stringMatching(/Run `gw evidence verify move` first/),
    ]);
  });

  it('with motion.requireVerified before the angles are verified by trial', async () => {
    await using robot = await startSupervised({
      site: (site) => ({ ...site, motion: { ...site.motion, requireVerified: true } }),
    });
    const { motion } = robot;
    for (const kind of ['stop', 'move', 'dock', 'pose'] as const) {
      const ended = await robot.conduct({ kind, ...(kind === 'move' && { distanceM: 0.6 }) });
      expect(ended, kind).toMatchObject({ outcome: 'verified' });
    }
    expect(motion.status().gate).toEqual({ open: true, reasons: [] });
  });
});
