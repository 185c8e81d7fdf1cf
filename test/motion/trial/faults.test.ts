import { describe, expect, it } from 'vitest';
import type { GwError } from '../../../src/lib/error/index.ts';
import { loadEvidenceFile } from '../../../src/lib/evidence/index.ts';
import type { FaultName } from '../../../src/lib/sim/index.ts';
import { isFull } from '../../properties.ts';
import { until } from '../bench.ts';
import { attended, onSite, startSupervised, verdicts } from './supervised.ts';

describe('a robot with a fault', () => {
  const drifts = /drifts while the robot should stand|radians|in doubt/;
  const others = [
    ['localisation-lost', /lost its position/],
    ['manual-control', /control mode 'manual'/],
    ['radians-0-2pi', drifts],
    ['radians-unwrapped', drifts],
  ] as const;
  it.each([
    ['emergency-stop', /emergency stop of the robot is pressed/],
    [
      'drifting-pose',
      /^The reported pose drifts while the robot should stand still: (it moves|it turns|its heading changes) /,
    ],
    ['radians', drifts],
    ...(isFull ? others : []),
  ] as const)('%s: nothing is ordered, and the reason is recorded', { tags: 'property' }, async (fault, why) => {
    await using robot = await startSupervised({ faults: [fault] });
    const ended = await robot.conduct({ kind: 'stop' }).catch(() => robot.motion.trials.view());
    if (ended === null) throw new Error('no record');
    expect(ended).toMatchObject({ outcome: 'refused', recorded: [] });
    expect(ended.refusals.join(' ')).toMatch(why);
    expect(await robot.report(ended)).toMatchObject({ outcome: 'refused', refusals: ended.refusals });
    expect(robot.sim.state().moving).toBe(false);
    expect(await loadEvidenceFile(robot.site.evidenceFile)).toEqual([]);
  });

  it('cancel-ignored: contradicted, the person is alerted at once, and the gate stays closed for every order', async () => {
    await using robot = await startSupervised({ faults: ['cancel-ignored'] });
    const { motion } = robot;
    const began = await motion.trials.start({ kind: 'stop', ...attended });
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
    const second = motion.trials.start({ kind: 'stop', ...attended });
    await expect(second).rejects.toMatchObject({
      code: 'MOTION_STOPPED',
      message: expect.stringMatching(/vendor.move.cancel was contradicted/),
    });
    robot.sim.setFault('cancel-ignored', false);
  });
});

/** What the judges say of such robots is proven without a simulator, in the tests of the judges and of their rates. */
describe('a robot with a fault that its trial shows', { tags: 'large' }, () => {
  it.each([
    ['cancel-lies', 0.06, 'contradicted', /it (went|moves at) 0\.\d+ m/],
    ['cancel-lies', 0.5, 'contradicted', /it (went|moves at) 0\.\d+ m/],
    ['cancel-ignored', 0.06, 'contradicted', /it (went|moves at) 0\.\d+ m/],
    ['coasting', 0.1, 'contradicted', /it (went|moves at) 0\.\d+ m.*it came to rest later/],
    ['cancel-refused', 0.06, 'not-decided', /did not accept the cancel: .*500/],
  ] as const)('%s at %d m/s: not verified, and the person is alerted', async (fault, speedMS, outcome, why) => {
    await using robot = await startSupervised({ faults: [fault], speedMS });
    const ended = await robot.conduct({ kind: 'stop' });
    expect(ended).toMatchObject({ outcome, alarm: expect.stringMatching(/^PRESS THE EMERGENCY STOP/) });
    expect(ended.facts[0]?.why).toMatch(why);
    expect(ended.facts[0]?.why).not.toMatch(/ 20 ms/);
  });

  it.each(['creeping', 'spinning'] as const)(
    '%s after the cancel: not verified, and the person is alerted',
    async (fault) => {
      await using robot = await startSupervised({ speedMS: 0.3 });
      const { trials } = robot.motion;
      const began = await trials.start({ kind: 'stop', ...attended });
      await until(() => trials.keepAlive(began.id) !== null && robot.sim.state().moving);
      robot.sim.setFault(fault, true);
      using _pressed = robot.motion.subscribe(() => {
        if (trials.view()?.alarm !== null) robot.sim.setFault(fault, false);
      });
      const ended = await robot.follow(began);
      // A turn contradicts nothing before the unit of the heading is decided.
      expect(['contradicted', ...(fault === 'spinning' ? ['not-decided'] : [])]).toContain(ended.outcome);
      expect(ended.alarm).toMatch(/^PRESS THE EMERGENCY STOP: the robot/);
    },
  );

  it('noisy-pose: a robot that stops is verified, with a time to its rest that is true', async () => {
    await using robot = await startSupervised({ faults: ['noisy-pose'], speedMS: 0.3 });
    const ended = await robot.conduct({ kind: 'stop' });
    expect(ended).toMatchObject({ outcome: 'verified', alarm: null });
    expect(ended.facts[0]?.why).toMatch(/at rest within \d\.\d s, still at rest \d+ s later/);
  });

  it.each<[FaultName, Record<string, string>]>([
    ['misses', { 'vendor.move.request': 'not-decided' }],
    ['succeeds-early', { 'vendor.move.state': 'differs' }],
    ['unknown-state', { 'vendor.move.state': 'differs', 'vendor.move.request': 'not-decided' }],
    ['clockwise', { 'angles.tracked-pose-ori': 'differs', 'angles.target-ori': 'not-decided' }],
    [
      'target-in-degrees',
      {
        ...{ 'angles.tracked-pose-ori': 'holds', 'angles.target-ori': 'differs' },
        // It ended in another heading than the order meant.
        ...{ 'vendor.move.request': 'not-decided', 'vendor.move.state': 'not-decided' },
      },
    ],
  ])('%s: the trial of move does not verify what is false, and the gate stays closed', async (fault, expected) => {
    await using robot = await startSupervised();
    await robot.conduct({ kind: 'stop' });
    robot.sim.setFault(fault, true);
    const ended = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    expect(ended.outcome).not.toBe('verified');
    expect(verdicts(ended)).toMatchObject(expected);
    expect(robot.motion.status().gate.open).toBe(false);
  });

  it('pose-in-degrees: contradicted, the person is alerted that the original pose could not be restored', async () => {
    await using robot = await startSupervised({ evidence: true, isUnitShown: true });
    robot.sim.setFault('pose-in-degrees', true);
    expect(await robot.conduct({ kind: 'pose' })).toMatchObject({
      ...{ outcome: 'contradicted', alarm: expect.stringMatching(/THE POSE OF THE ROBOT IS WRONG/) },
      facts: [
        { fact: 'angles.pose-ori', verdict: 'differs', value: 'degrees' },
        { fact: 'vendor.pose.request', verdict: 'not-decided' },
      ],
    });
  });

  it('blocked: a move that the chassis gives up verifies nothing', async () => {
    await using robot = await startSupervised({ evidence: true, limits: { moveMs: 4_000 } });
    robot.sim.setFault('blocked', true);
    const ended = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    expect(ended).toMatchObject({ outcome: 'not-decided', recorded: [] });
    expect(Object.values(verdicts(ended))).not.toContain('holds');
  });
});

describe('a trial that is ended early', () => {
  it('by a lost client: after 3 s without a keepalive the move is cancelled, and nothing is verified', async () => {
    await using robot = await startSupervised({ evidence: true });
    const { motion } = robot;
    await motion.trials.start({ kind: 'move', ...attended });
    await until(() => motion.trials.view()?.state === 'ended');
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
    const began = await motion.trials.start({ kind: 'stop', ...attended });
    const following = robot.follow(began);
    await until(() => robot.sim.state().moving);
    await motion.stopRobot('person in the way', 'tablet');
    expect(await following).toMatchObject({ outcome: 'cancelled', recorded: [] });
    expect(motion.status().stop.latched).toBe(true);
    await expect(motion.trials.start({ kind: 'stop', who: 'x', conditions: onSite })).rejects.toMatchObject({
      code: 'MOTION_STOPPED',
    });
  });

  it('by a switch to another map: its poses are not of one frame', async () => {
    await using robot = await startSupervised({ evidence: true });
    const began = await robot.motion.trials.start({ kind: 'move', ...attended });
    const following = robot.follow(began);
    await until(() => robot.sim.state().moving);
    const { host, port } = robot.sim.chassis;
    const base = `http://${host}:${port}`;
    const picture = Buffer.from(await (await fetch(`${base}/maps/1.png`)).arrayBuffer()).toString('base64');
    const grid = { occupancy_grid: picture, grid_resolution: 0.05, grid_origin_x: 0, grid_origin_y: 0 };
    const body = JSON.stringify({ map_name: 'First floor', carto_map: '', ...grid });
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${base}/chassis/current-map`, { method: 'POST', body, headers })).status).toBe(200);
    const ended = await following;
    expect(ended).toMatchObject({ outcome: 'cancelled', recorded: [], reason: expect.stringMatching(/map/) });
    expect(Object.values(verdicts(ended))).not.toContain('holds');
  });

  it('by the emergency stop, and by a lost connection', async () => {
    for (const fault of ['emergency-stop', 'cut'] as const) {
      await using robot = await startSupervised({ evidence: true, limits: { cancelTries: 3 } });
      const began = await robot.motion.trials.start({ kind: 'move', ...attended });
      const following = robot.follow(began);
      await until(() => robot.sim.state().moving);
      robot.sim.setFault(fault, true);
      const ended = await following;
      expect(ended, fault).toMatchObject({ outcome: 'cancelled', recorded: [] });
      expect(Object.values(verdicts(ended))).not.toContain('holds');
      // Without a connection to the robot the person beside it is alerted.
      if (fault === 'cut') expect(ended.alarm).toMatch(/^PRESS THE EMERGENCY STOP/);
    }
  });
});

describe('a trial is refused', () => {
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
    const stop = { kind: 'stop', ...attended } as const;
    expect(await code(trials.start(stop))).toMatchObject(['TOUR_RUNNING', expect.anything()]);
    await robot.motion.stopRobot('test', 'test');
    await robot.motion.clearStop('test');
    await until(() => robot.motion.status().tour?.state !== 'running');
    await until(() => robot.motion.status().standstill.verdict === 'stands');
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
    for (const [kind, why] of [
      ['move', /vendor.move.cancel is from a vendor description/],
      ['dock', /vendor.move.request/],
      ['pose', /Run `gw evidence verify move` first/],
    ] as const) {
      const found = await code(robot.motion.trials.start({ kind, ...attended }));
      expect(found, kind).toMatchObject(['MOTION_REFUSED', expect.stringMatching(why)]);
    }
  });
});

it('a trial cancelled after its last observation verifies nothing and records nothing', async () => {
  await using robot = await startSupervised({ evidence: true, isUnitShown: true });
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

it('a trial that follows a cancelled tour at once waits until the robot is seen to obey, and is not refused', async () => {
  await using robot = await startSupervised({ evidence: true, speedMS: 0.1 });
  const { motion } = robot;
  await motion.startTour(Object.keys(robot.site.tours)[0] ?? '');
  await motion.endTour('test');
  const ended = await robot.conduct({ kind: 'stop' });
  expect(ended).toMatchObject({ outcome: 'verified', reason: 'Every fact on trial holds.' });
});
