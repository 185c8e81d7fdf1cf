import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { ground } from './snapshot.ts';
import { time } from './time.ts';

rig.eachHasBench();

describe('a move', () => {
  it('is sent with its heading in radians and succeeds when the topic reports so', async () => {
    const { ended } = await rig.begin(moveTo(3, 4, 90));
    rig.succeed();
    expect(await ended).toMatchObject({ moveId: 41, state: 'succeeded', failReason: null, reason: null });
    const body = rig.moves()[0]?.body;
    expect(body).toMatchObject({ type: 'standard', target_x: 3, target_y: 4 });
    expect(body?.target_ori).toBeCloseTo(1.5708, 4);
    expect(rig.cancels()).toBe(0);
  });

  it('leaves the heading to the chassis when none was given', async () => {
    const { ended } = await rig.begin();
    rig.succeed();
    await ended;
    expect(rig.moves()[0]?.body).not.toHaveProperty('target_ori');
  });

  it('to the dock is a charge order with the pose of the dock', async () => {
    const goal = chosen({ xM: 7, yM: 8, yawDeg: degrees(-90), map: ground }, 'test');
    const { ended } = await rig.begin({ kind: 'dock', goal });
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
    const body = rig.moves()[0]?.body;
    expect(body).toMatchObject({ type: 'charge', target_x: 7, target_y: 8 });
    expect(body?.target_ori).toBeCloseTo(-Math.PI / 2, 9);
  });

  it.each([
    [103, 'InvalidChargeDock', /fail_reason 103 \(invalid_charge_dock; measured when target_ori.*degrees/],
    [4711, '', /^The chassis reports the move as failed: fail_reason 4711\.$/],
  ])('that fails reports fail_reason %d, and only a measured one with a meaning', async (failReason, text, reason) => {
    const { ended } = await rig.begin(moveTo(3, 4, 90));
    rig.chassis.plan({ move_state: 'failed', fail_reason: failReason, fail_reason_str: text });
    expect(await ended).toMatchObject({ state: 'failed', failReason, reason: expect.stringMatching(reason) });
    if (text !== '') expect(await ended).toMatchObject({ failReasonText: text });
  });

  it('is not completed by a success of another move', async () => {
    const { ended } = await rig.begin();
    rig.chassis.plan({ action_id: 40, move_state: 'succeeded' });
    let done = false;
    void ended.then(() => {
      done = true;
    });
    await time.sleep(300);
    expect(done).toBe(false);
    rig.chassis.plan({ action_id: 41, move_state: 'failed', fail_reason: 9 });
    expect(await ended).toMatchObject({ state: 'failed', failReason: 9 });
  });

  it.each(['a foreign move', 'an earlier order'])(
    'has an unknown result, and is cancelled, where its number is that of %s',
    async (earlier) => {
      if (earlier === 'an earlier order') {
        const first = await rig.begin();
        rig.succeed();
        expect(await first.ended).toMatchObject({ moveId: 41, state: 'succeeded' });
        await rig.bench.stands();
      } else {
        rig.chassis.plan({ action_id: 41, move_state: 'succeeded' });
        await until(() => rig.planned() === 'succeeded');
      }
      rig.chassis.onMove = () => {
        // As a chassis does that publishes the state of the earlier one again.
        rig.chassis.plan({ action_id: 41, move_state: 'succeeded' });
        return { status: 200, json: { id: 41 } };
      };
      const outcome = await rig.motion.execute(moveTo(3, 4));
      expect(outcome).toMatchObject({ state: 'unknown', reason: expect.stringContaining('number 41') });
      expect(rig.cancels()).toBeGreaterThan(0);
    },
  );

  it('is no success that names a reason of its failure', async () => {
    rig.chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded', fail_reason: 5 } });
    const { ended } = await rig.begin();
    rig.chassis.plan({ move_state: 'succeeded', fail_reason: 5, fail_reason_str: 'x' });
    expect(await ended).toMatchObject({
      state: 'unknown',
      reason: expect.stringContaining("'succeeded' with fail_reason 5"),
    });
    expect(rig.cancels()).toBeGreaterThan(0);
  });

  it('is a success once that is reported without such a reason', async () => {
    const { ended } = await rig.begin();
    rig.chassis.plan({ move_state: 'succeeded', fail_reason: 5 });
    await time.sleep(200);
    rig.chassis.plan({ fail_reason: 0 });
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded', failReason: null });
  });

  it.each(['finished', 'idle', 'oscillating', ''])('never treats the state %j as success', async (state) => {
    rig.chassis.onCancel = () => ({ status: 200 });
    rig.chassis.onQuestion = (id) => ({ status: 200, json: { id, state } });
    const { ended } = await rig.begin();
    rig.chassis.plan({ move_state: state });
    expect(await ended).toMatchObject({ state: 'unknown', reason: expect.stringContaining(`'${state}'`) });
    expect(rig.cancels()).toBeGreaterThan(0);
  });

  it('may pass through an unknown state', async () => {
    const { ended } = await rig.begin();
    rig.chassis.plan({ move_state: 'oscillating' });
    rig.chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'oscillating' } });
    await time.sleep(200);
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
  });

  it('that is aborted is cancelled, and the chassis decides its result', async () => {
    const ending = new AbortController();
    const { ended } = await rig.begin(moveTo(3, 4), ending.signal);
    ending.abort(new Error('aborted by the technician'));
    const reason = expect.stringContaining('aborted by the technician');
    expect(await ended).toMatchObject({ state: 'cancelled', moveId: 41, reason });
    expect(rig.cancels()).toBe(1);
  });

  it('that went on to its goal although it was aborted has not succeeded', async () => {
    rig.chassis.onCancel = () => {
      rig.succeed();
      return { status: 200 };
    };
    const ending = new AbortController();
    const { ended } = await rig.begin(moveTo(3, 4), ending.signal);
    ending.abort(new Error('stopped by the tablet'));
    expect(await ended).toMatchObject({
      state: 'cancelled',
      reason: 'The drive was ended (stopped by the tablet), and the robot went on to its goal.',
      arrival: { verdict: 'at-goal' },
    });
  });

  it('whose cancel is accepted without effect has an unknown result', async () => {
    rig.chassis.onCancel = () => ({ status: 200 });
    const ending = new AbortController();
    const { ended } = await rig.begin(moveTo(3, 4), ending.signal);
    ending.abort();
    const reason = expect.stringMatching(/accepted the cancel, but did not report/);
    expect(await ended).toMatchObject({ state: 'unknown', reason });
  });

  it('that was aborted before it began sends no request', async () => {
    const reason = new Error('too late');
    await expect(rig.motion.execute(moveTo(3, 4), AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(rig.chassis.orders).toEqual([]);
  });

  it('excludes a second one', async () => {
    const moving = rig.motion.execute(moveTo(3, 4));
    await rig.refused(rig.motion.execute(moveTo(5, 6)));
    await rig.ordered();
    rig.succeed();
    await moving;
    expect(rig.moves()).toHaveLength(1);
  });

  it('that the chassis refuses is an error with its answer, without a cancel', async () => {
    rig.chassis.onMove = () => ({ status: 400, json: { message: 'error: no map' } });
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'CHASSIS_REFUSED');
    expect(rig.cancels()).toBe(0);
    rig.chassis.onMove = () => ({ status: 200, json: { id: 50 } });
    const { ended } = await rig.begin();
    rig.chassis.plan({ action_id: 50, move_state: 'succeeded' });
    expect(await ended).toMatchObject({ state: 'succeeded' });
  });
});

describe('a lost reply', () => {
  it.each(['drop', 'hang'] as const)('(%s) is reported as unknown, and a running move is cancelled', async (fate) => {
    rig.chassis.onMove = () => {
      rig.chassis.plan({ action_id: 41, move_state: 'moving' });
      return fate;
    };
    const reason = expect.stringMatching(/did not confirm the order.*cancelled/);
    expect(await rig.motion.execute(moveTo(3, 4))).toMatchObject({ moveId: null, state: 'unknown', reason });
    expect(rig.chassis.orders.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  it.each([
    ['malformed', { status: 200, json: { number: 'seven' } }],
    ['a server error', { status: 500, json: { message: 'error: crashed' } }],
  ])('counts as lost when it is %s', async (_what, answer) => {
    rig.chassis.onMove = () => answer;
    expect(await rig.motion.execute(moveTo(3, 4))).toMatchObject({ moveId: null, state: 'unknown' });
    expect(rig.cancels()).toBe(1);
  });

  it('is cancelled once more when the robot starts after the cancel', async () => {
    rig.chassis.onMove = () => 'drop';
    let isNotified = false;
    rig.chassis.onCancel = () => {
      if (isNotified) rig.chassis.plan({ move_state: 'cancelled' });
      else time.after(100, () => rig.chassis.plan({ action_id: 41, move_state: 'moving' }));
      isNotified = true;
      return { status: 200 };
    };
    await rig.motion.execute(moveTo(3, 4));
    expect(rig.cancels()).toBe(2);
  });
});

describe('a move under a bad connection', () => {
  it('is queried when the topic does not report it', async () => {
    rig.chassis.onMove = () => ({ status: 200, json: { id: 41 } });
    const { ended } = await rig.begin();
    await until(() => rig.chassis.questions.length >= 1);
    rig.chassis.pose = { pos: [3, 4], ori: 90 };
    rig.chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded' } });
    expect(await ended).toMatchObject({ state: 'succeeded', moveId: 41 });
  });

  it('that ended while the chassis was disconnected is queried after the reconnect', async () => {
    await rig.motion.stop();
    const again = await rig.bench.again({ silenceMs: 60_000 });
    const moving = again.execute(moveTo(3, 4));
    await rig.ordered();
    await rig.lose();
    rig.chassis.plan({ action_id: 99, move_state: 'moving' });
    const json = { state: 'failed', fail_reason: 15, fail_reason_str: 'T' };
    rig.chassis.onQuestion = (id) => ({ status: 200, json: { id, ...json } });
    await rig.chassis.restore();
    expect(await moving).toMatchObject({ state: 'failed', failReason: 15, moveId: 41 });
    expect(rig.chassis.questions).toEqual(['41']);
  });

  it('that the chassis does not report any more has an unknown result, and a running move is cancelled', async () => {
    rig.chassis.onMove = () => ({ status: 200, json: { id: 41 } });
    rig.chassis.onQuestion = () => ({ status: 404, json: { message: 'error: not found' } });
    const reason = expect.stringMatching(/no longer knows this move/);
    expect(await rig.motion.execute(moveTo(3, 4))).toMatchObject({ state: 'unknown', reason });
    expect(rig.cancels()).toBe(1);
  });

  it('is cancelled at its time limit, that of the site file too', async () => {
    const expired = { state: 'cancelled', moveId: 41, reason: expect.stringMatching(/did not end within/) };
    await rig.motion.stop();
    expect(await (await rig.bench.again({ moveMs: 500 })).execute(moveTo(3, 4))).toMatchObject(expired);
    expect(rig.cancels()).toBe(1);
    await rig.open({ site: { motion: { ...rig.bench.site.motion, moveLimitS: 0.5 } } });
    const reason = expect.stringMatching(/did not end within 1 s/);
    expect(await rig.motion.execute(moveTo(3, 4))).toMatchObject({ state: 'cancelled', reason });
  });
});

describe('a pose', () => {
  const order = chosenPose({ xM: 3, yM: 4, yawDeg: 90, map: ground }, 'test');
  const shows = (pose: typeof rig.chassis.pose) => {
    rig.chassis.onPose = () => {
      rig.chassis.pose = pose;
      return { status: 201 };
    };
  };

  it('is sent in radians and succeeds when it is reported back in degrees', async () => {
    shows({ pos: [3.05, 4], ori: 90.4 });
    expect(await rig.motion.execute(order)).toMatchObject({ state: 'succeeded', moveId: null });
    // The observation of the specification: 1.5708 sent is reported back as 90.
    expect(rig.poses()[0]?.body).toMatchObject({
      ...{ position: [3, 4, 0], adjust_position: true, ori: expect.closeTo(1.5708, 4) },
    });
  });

  it.each([100, 81])('fails where a chassis that counts in gradians reports %d of 90 degrees', async (ori) => {
    shows({ pos: [3, 4], ori });
    expect(await rig.motion.execute(order)).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(`reports another one: 3 m, 4 m, ${ori}°`),
    });
    expect(rig.status().poseAlarm).not.toBeNull();
  });

  it('fails where the chassis takes it and returns to another one a moment later', async () => {
    shows({ pos: [3, 4], ori: 90 });
    const ended = rig.motion.execute(order);
    await until(() => rig.chassis.pose?.pos[0] === 3);
    await time.sleep(1_000);
    rig.chassis.pose = { pos: [1, 2], ori: 90 };
    expect(await ended).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/took the pose, and then reports 1 m/),
    });
    expect(rig.status().poseAlarm).not.toBeNull();
  });

  it.each([
    ['drifts from it', 0.01, 0],
    ['turns there', 0, 0.4],
  ])('is not done where the robot %s within the tolerance', async (_what, stepM, stepDeg) => {
    shows({ pos: [3, 4], ori: 90 });
    const ended = rig.motion.execute(order);
    await until(() => rig.chassis.pose?.pos[0] === 3);
    let poses = 0;
    rig.chassis.beforePose = () => {
      poses += 1;
      // To and fro, so that it stays near.
      const steps = poses % 40 < 20 ? poses % 20 : 20 - (poses % 20);
      rig.chassis.pose = { pos: [3 + steps * stepM, 4], ori: 90 + steps * stepDeg };
    };
    const { state, reason } = await ended;
    expect(state).not.toBe('succeeded');
    expect(reason).toMatch(/does not rest there/);
    expect(rig.status().poseAlarm).not.toBeNull();
  });

  it('is unknown where the chassis falls silent after it', async () => {
    shows({ pos: [3, 4], ori: 90 });
    const ended = rig.motion.execute(order);
    await until(() => rig.chassis.pose?.pos[0] === 3);
    await time.sleep(300);
    rig.chassis.pose = null;
    expect(await ended).toMatchObject({ state: 'unknown', reason: expect.stringMatching(/too few poses since/) });
  });

  it('is not proven by two poses three seconds apart', async () => {
    shows({ pos: [3, 4], ori: 90 });
    const ended = rig.motion.execute(order);
    await until(() => rig.chassis.pose?.pos[0] === 3);
    const shown = rig.chassis.pose;
    let left = 1;
    rig.chassis.beforePose = () => {
      left -= 1;
      rig.chassis.pose = left < 0 ? null : shown;
    };
    await until(() => left < 0);
    await time.sleep(3_200);
    left = 1;
    rig.chassis.pose = shown;
    expect(await ended).toMatchObject({ state: 'unknown', reason: expect.stringMatching(/too few poses since/) });
  });

  it('fails when another one is reported back, and is unknown without one', async () => {
    shows({ pos: [3, 4], ori: 1.5708 });
    const reason = expect.stringMatching(/reports another one: 3 m, 4 m, 1\.5708°/);
    expect(await rig.motion.execute(order)).toMatchObject({ state: 'failed', reason });
    shows(null);
    expect(await rig.motion.execute(order)).toMatchObject({ state: 'unknown' });
  });
});
