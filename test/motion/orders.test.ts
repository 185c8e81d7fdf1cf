import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import type { Order } from '../../src/lib/motion/index.ts';
import { type Bench, moveTo, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';
import { time } from './time.ts';

let chassis: ScriptedChassis;
let bench: Bench;
beforeEach(async () => {
  chassis = await startScriptedChassis();
  bench = await startBench(chassis);
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  await chassis[Symbol.asyncDispose]();
});

const sent = (path: string) => chassis.orders.filter((order) => order.path === path);
const cancels = () => sent('/chassis/moves/current').length;
const planned = () => {
  const { planning } = bench.link.snapshot().values;
  return planning.status === 'received' ? planning.value.moveState : null;
};
const ordered = () => until(() => sent('/chassis/moves').length > 0, 'the order');

describe('a move', () => {
  it('is sent with its heading in radians and succeeds when the topic reports so', async () => {
    const moving = bench.motion.execute(moveTo(3, 4, 90));
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    const outcome = await moving;
    expect(outcome).toMatchObject({ moveId: 41, state: 'succeeded', failReason: null, reason: null });
    const body = sent('/chassis/moves')[0]?.body;
    expect(body).toMatchObject({ type: 'standard', target_x: 3, target_y: 4 });
    expect(body?.target_ori).toBeCloseTo(1.5708, 4);
    expect(cancels()).toBe(0);
  });

  it('leaves the heading to the chassis when none was given', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    await moving;
    expect(sent('/chassis/moves')[0]?.body).not.toHaveProperty('target_ori');
  });

  it('to the dock is a charge order with the pose of the dock', async () => {
    const order: Order = { kind: 'dock', goal: chosen({ xM: 7, yM: 8, yawDeg: degrees(-90) }, 'test') };
    const moving = bench.motion.execute(order);
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded' });
    const body = sent('/chassis/moves')[0]?.body;
    expect(body).toMatchObject({ type: 'charge', target_x: 7, target_y: 8 });
    expect(body?.target_ori).toBeCloseTo(-Math.PI / 2, 9);
  });

  it('that fails reports fail_reason, and describes 103 as it was measured', async () => {
    const moving = bench.motion.execute(moveTo(3, 4, 90));
    await ordered();
    chassis.plan({ move_state: 'failed', fail_reason: 103, fail_reason_str: 'InvalidChargeDock' });
    const outcome = await moving;
    expect(outcome).toMatchObject({ state: 'failed', failReason: 103, failReasonText: 'InvalidChargeDock' });
    expect(outcome.reason).toMatch(/fail_reason 103 \(invalid_charge_dock; measured when target_ori.*degrees/);
  });

  it('that fails with another number reports it without a meaning', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    chassis.plan({ move_state: 'failed', fail_reason: 4711, fail_reason_str: '' });
    expect(await moving).toMatchObject({
      failReason: 4711,
      reason: 'The chassis reports the move as failed: fail_reason 4711.',
    });
  });

  it('is not completed by a success of another move, or by one received before the order', async () => {
    chassis.plan({ action_id: 41, move_state: 'succeeded' });
    await until(() => planned() === 'succeeded', 'the old state');
    chassis.onMove = () => ({ status: 200, json: { id: 41 } });
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    chassis.plan({ action_id: 40, move_state: 'succeeded' });
    let done = false;
    void moving.then(() => {
      done = true;
    });
    await time.sleep(300);
    expect(done).toBe(false);
    chassis.plan({ action_id: 41, move_state: 'failed', fail_reason: 9 });
    expect(await moving).toMatchObject({ state: 'failed', failReason: 9 });
  });

  it.each(['finished', 'idle', 'oscillating', ''])('never treats the state %j as success', async (state) => {
    chassis.onCancel = () => ({ status: 200 });
    chassis.onQuestion = (id) => ({ status: 200, json: { id, state } });
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    chassis.plan({ move_state: state });
    const outcome = await moving;
    expect(outcome.state).toBe('unknown');
    expect(outcome.reason).toContain(`'${state}'`);
    expect(cancels()).toBeGreaterThan(0);
  });

  it('may pass through an unknown state', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    chassis.plan({ move_state: 'oscillating' });
    chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'oscillating' } });
    await time.sleep(200);
    chassis.plan({ move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded' });
  });

  it('that is aborted is cancelled, and the chassis decides its result', async () => {
    const ending = new AbortController();
    const moving = bench.motion.execute(moveTo(3, 4), ending.signal);
    await ordered();
    ending.abort(new Error('aborted by the technician'));
    const outcome = await moving;
    expect(outcome).toMatchObject({ state: 'cancelled', moveId: 41 });
    expect(outcome.reason).toMatch(/aborted by the technician/);
    expect(cancels()).toBe(1);
  });

  it('that went on to its goal although it was aborted has not succeeded', async () => {
    chassis.onCancel = () => {
      chassis.plan({ move_state: 'succeeded' });
      return { status: 200 };
    };
    const ending = new AbortController();
    const moving = bench.motion.execute(moveTo(3, 4), ending.signal);
    await ordered();
    ending.abort(new Error('stopped by the tablet'));
    expect(await moving).toMatchObject({
      state: 'cancelled',
      reason: 'The drive was ended (stopped by the tablet), and the robot went on to its goal.',
      arrival: { verdict: 'at-goal' },
    });
  });

  it('whose cancel is accepted without effect has an unknown result', async () => {
    chassis.onCancel = () => ({ status: 200 });
    const ending = new AbortController();
    const moving = bench.motion.execute(moveTo(3, 4), ending.signal);
    await ordered();
    ending.abort();
    const outcome = await moving;
    expect(outcome.state).toBe('unknown');
    expect(outcome.reason).toMatch(/accepted the cancel, but did not report/);
  });

  it('that was aborted before it began sends no request', async () => {
    const reason = new Error('too late');
    await expect(bench.motion.execute(moveTo(3, 4), AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(chassis.orders).toEqual([]);
  });

  it('excludes a second one', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await expect(bench.motion.execute(moveTo(5, 6))).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    await moving;
    expect(sent('/chassis/moves')).toHaveLength(1);
  });

  it('that the chassis refuses is an error with its answer, without a cancel', async () => {
    chassis.onMove = () => ({ status: 400, json: { message: 'error: no map' } });
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'CHASSIS_REFUSED' });
    expect(cancels()).toBe(0);
    chassis.onMove = () => ({ status: 200, json: { id: 50 } });
    const moving = bench.motion.execute(moveTo(3, 4));
    await until(() => sent('/chassis/moves').length === 2, 'the second order');
    chassis.plan({ action_id: 50, move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded' });
  });
});

describe('a lost reply', () => {
  it.each<['drop' | 'hang']>([['drop'], ['hang']])(
    '(%s) is reported as unknown, and a running move is cancelled',
    async (fate) => {
      chassis.onMove = () => {
        chassis.plan({ action_id: 41, move_state: 'moving' });
        return fate;
      };
      const outcome = await bench.motion.execute(moveTo(3, 4));
      expect(outcome).toMatchObject({ moveId: null, state: 'unknown' });
      expect(outcome.reason).toMatch(/did not confirm the order.*cancelled/);
      expect(chassis.orders.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
    },
  );

  it('counts as lost when it is malformed', async () => {
    chassis.onMove = () => ({ status: 200, json: { number: 'seven' } });
    expect(await bench.motion.execute(moveTo(3, 4))).toMatchObject({ moveId: null, state: 'unknown' });
    expect(cancels()).toBe(1);
  });

  it('counts as lost when it is a server error', async () => {
    chassis.onMove = () => ({ status: 500, json: { message: 'error: crashed' } });
    expect(await bench.motion.execute(moveTo(3, 4))).toMatchObject({ state: 'unknown' });
    expect(cancels()).toBe(1);
  });

  it('is cancelled once more when the robot starts after the cancel', async () => {
    chassis.onMove = () => 'drop';
    let isNotified = false;
    chassis.onCancel = () => {
      if (isNotified) chassis.plan({ move_state: 'cancelled' });
      else time.after(100, () => chassis.plan({ action_id: 41, move_state: 'moving' }));
      isNotified = true;
      return { status: 200 };
    };
    await bench.motion.execute(moveTo(3, 4));
    expect(cancels()).toBe(2);
  });
});

describe('a move under a bad connection', () => {
  it('is queried when the topic does not report it', async () => {
    chassis.onMove = () => ({ status: 200, json: { id: 41 } });
    const moving = bench.motion.execute(moveTo(3, 4));
    await until(() => chassis.questions.length >= 1, 'a query');
    chassis.pose = { pos: [3, 4], ori: 90 };
    chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded' } });
    expect(await moving).toMatchObject({ state: 'succeeded', moveId: 41 });
  });

  it('that ended while the chassis was disconnected is queried after the reconnect', async () => {
    await bench.motion.stop();
    const motion = await bench.again({ silenceMs: 60_000 });
    const moving = motion.execute(moveTo(3, 4));
    await ordered();
    await chassis.cut();
    await until(() => bench.link.snapshot().link.kind === 'not-connected', 'the loss');
    chassis.plan({ action_id: 99, move_state: 'moving' });
    chassis.onQuestion = (id) => ({
      status: 200,
      json: { id, state: 'failed', fail_reason: 15, fail_reason_str: 'T' },
    });
    await chassis.restore();
    expect(await moving).toMatchObject({ state: 'failed', failReason: 15, moveId: 41 });
    expect(chassis.questions).toEqual(['41']);
  });

  it('that the chassis does not report any more has an unknown result, and a running move is cancelled', async () => {
    chassis.onMove = () => ({ status: 200, json: { id: 41 } });
    chassis.onQuestion = () => ({ status: 404, json: { message: 'error: not found' } });
    const outcome = await bench.motion.execute(moveTo(3, 4));
    expect(outcome.state).toBe('unknown');
    expect(outcome.reason).toMatch(/no longer knows this move/);
    expect(cancels()).toBe(1);
  });

  it('is cancelled at its time limit', async () => {
    await bench.motion.stop();
    const motion = await bench.again({ moveMs: 500 });
    const outcome = await motion.execute(moveTo(3, 4));
    expect(outcome).toMatchObject({ state: 'cancelled', moveId: 41 });
    expect(outcome.reason).toMatch(/did not end within/);
    expect(cancels()).toBe(1);
  });

  it('has its time limit from the site file', async () => {
    await bench[Symbol.asyncDispose]();
    bench = await startBench(chassis, { site: { motion: { ...bench.site.motion, moveLimitS: 0.5 } } });
    const outcome = await bench.motion.execute(moveTo(3, 4));
    expect(outcome).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/did not end within 1 s/) });
  });
});

describe('a pose', () => {
  const order: Order = { kind: 'pose', pose: chosen({ xM: 3, yM: 4, yawDeg: degrees(90) }, 'test') };

  it('is sent in radians and succeeds when it is reported back in degrees', async () => {
    chassis.onPose = (body) => {
      // The observation of the specification: 1.5708 sent is reported back as 90.
      expect(body.ori).toBeCloseTo(1.5708, 4);
      chassis.pose = { pos: [3.05, 4], ori: 90.4 };
      return { status: 201 };
    };
    expect(await bench.motion.execute(order)).toMatchObject({ state: 'succeeded', moveId: null });
    expect(sent('/chassis/pose')[0]?.body).toMatchObject({ position: [3, 4, 0], adjust_position: true });
  });

  it('fails when another one is reported back', async () => {
    chassis.onPose = () => {
      chassis.pose = { pos: [3, 4], ori: 1.5708 };
      return { status: 201 };
    };
    const outcome = await bench.motion.execute(order);
    expect(outcome.state).toBe('failed');
    expect(outcome.reason).toMatch(/reports another one: 3 m, 4 m, 1\.5708°/);
  });

  it('is unknown when none is reported back', async () => {
    chassis.onPose = () => {
      chassis.pose = null;
      return { status: 201 };
    };
    expect(await bench.motion.execute(order)).toMatchObject({ state: 'unknown' });
  });
});
