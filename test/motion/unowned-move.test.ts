import { beforeEach, describe, expect, it } from 'vitest';
import type { Planning } from '../../src/lib/chassis/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createMoveWatch } from '../../src/lib/motion/unowned-move.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { moveTo, until } from './bench.ts';
import {
  begin,
  bench,
  cancels,
  chassis,
  connection,
  eachHasChassis,
  foreignMove,
  gate,
  lose,
  motion,
  moves,
  open,
  ordered,
  planned,
  refused,
  status,
  succeed,
  tour,
} from './each-bench.ts';
import { readySnapshot, received, withValues } from './snapshot.ts';
import { time } from './time.ts';

const LEAVE = { file: { motion: { unownedMove: 'leave' } } } as const;
const cancelled = (count = 1) => until(() => cancels() >= count);
const seen = () => until(() => status().unownedMove !== null);
/** Longer than the interval of the guard. */
const notCancelled = async (count = 0) => {
  await time.sleep(1_200);
  expect(cancels()).toBe(count);
};
const idle = async () => {
  await open();
  await gate('open');
};

describe('a move that gw did not order', () => {
  eachHasChassis();

  it('is cancelled when it runs at the start, and the gate opens when it has ended', async () => {
    foreignMove();
    await open();
    await cancelled();
    await gate('open');
    expect(status().unownedMove).toBeNull();
    expect([moves().length, cancels()]).toEqual([0, 1]);
  });

  it('closes the gate for every order while it runs, with its number', async () => {
    foreignMove();
    await open(LEAVE);
    await until(() => planned() === 'moving');
    expect(status()).toMatchObject({
      unownedMove: { moveId: 7_007, isBeingCancelled: false },
      gate: { open: false, reasons: [expect.stringMatching(/move 7007.*gw did not/)] },
    });
    expect(motion.describe?.()).toMatch(/move 7007/);
    await refused(motion.execute(moveTo(3, 4)), 'MOTION_REFUSED', 'move 7007');
    await refused(motion.startTour('short'));
    await notCancelled();
    expect(moves()).toEqual([]);
    succeed();
    await gate('open');
    expect(status().unownedMove).toBeNull();
  });

  it('that begins while gw runs closes the gate, and is not cancelled', async () => {
    await idle();
    foreignMove();
    await gate('closed');
    await notCancelled();
    chassis.plan({ move_state: 'failed', fail_reason: 15 });
    await gate('open');
  });

  it('that began while the connection was lost is cancelled when it is back', async () => {
    await open();
    await lose();
    foreignMove();
    await chassis.restore();
    await cancelled();
    await gate('open');
  });

  it('that began while the service had ended is cancelled when it starts again', async () => {
    await idle();
    await motion.stop();
    foreignMove();
    await until(() => planned() === 'moving');
    await motion.start({ signal: new AbortController().signal, fail: () => {} });
    await cancelled();
    await gate('open');
  });

  it('that was not cancelled before is not cancelled when the connection flaps', async () => {
    await idle();
    foreignMove();
    await seen();
    await lose();
    await chassis.restore();
    await connection('connected');
    await seen();
    await notCancelled();
  });

  it('runs until the chassis reports its end: a rejected message does not end it', async () => {
    await open(LEAVE);
    await gate('open');
    foreignMove();
    await seen();
    chassis.plan({ action_id: 'seven' as unknown as number });
    await until(() => {
      const { planning } = bench.link.snapshot().values;
      return planning.status === 'received' && planning.staleReason === 'newer-rejected';
    });
    expect(status()).toMatchObject({ unownedMove: { moveId: 7_007 }, gate: { open: false } });
    await refused(motion.execute(moveTo(3, 4)), 'MOTION_REFUSED', 'move 7007');
    foreignMove();
    succeed();
    await gate('open');
    expect(moves()).toEqual([]);
  });

  it('is cancelled again while it continues in spite of the cancel', async () => {
    chassis.onCancel = () => ({ status: 200, json: { state: 'cancelled' } });
    foreignMove();
    await open();
    await cancelled(2);
    expect(status()).toMatchObject({ gate: { open: false }, unownedMove: { isBeingCancelled: true } });
    await refused(motion.execute(moveTo(3, 4)));
    chassis.plan({ move_state: 'cancelled' });
    await gate('open');
    await notCancelled(cancels());
  });

  it('is distinct from one cancelled at the start: the later one is not cancelled', async () => {
    foreignMove();
    await open();
    await cancelled();
    await gate('open');
    foreignMove(7_008);
    await until(() => status().unownedMove?.moveId === 7_008);
    await notCancelled(1);
  });

  it('is not assumed to run after a reconnect, until the chassis reports it again', async () => {
    await open(LEAVE);
    foreignMove();
    await seen();
    await lose();
    expect(status().unownedMove).toBeNull();
    succeed();
    await chassis.restore();
    await gate('open');
  });

  it('may reuse the number of a move of gw from before a restart of the chassis', async () => {
    await open();
    const { ended } = await begin();
    succeed();
    await ended;
    await lose();
    foreignMove(chassis.lastMoveId);
    await chassis.restore();
    await cancelled();
  });
});

describe('a chassis that has not reported its move over this connection', () => {
  eachHasChassis({ isPlanSilent: true });
  beforeEach(async () => void (await open({ isPlanSilent: true })));

  it('receives no order: one may be running', async () => {
    expect(status().gate).toMatchObject({ open: false, reasons: [expect.stringContaining('has not reported')] });
    await refused(motion.startTour('short'));
    foreignMove();
    await cancelled();
    await gate('open');
    expect(moves()).toEqual([]);
  });

  it('and never does, receives orders after a delay: it has no move to report', async () => {
    await gate('open');
    foreignMove();
    await seen();
    await notCancelled();
  });
});

describe('a move of gw itself', () => {
  eachHasChassis();

  it('is not mistaken for a move of another client, also while its number is unknown', async () => {
    const { link } = await open();
    const others = new Set<number>();
    using _watch = link.subscribe(() => {
      const { unownedMove } = status();
      if (unownedMove !== null) others.add(unownedMove.moveId);
    });
    const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
    chassis.onMove = async () => {
      chassis.plan({ action_id: 555, move_state: 'moving' });
      await reply;
      return { status: 200, json: { id: 555 } };
    };
    const { ended } = await begin();
    await until(() => planned() === 'moving');
    await time.sleep(200);
    answer();
    await time.sleep(200);
    succeed();
    expect(await ended).toMatchObject({ state: 'succeeded', moveId: 555 });
    expect([[...others], cancels()]).toEqual([[], 0]);
  });

  it('that a query reported as ended does not close the gate because the topic is late', async () => {
    await open(LEAVE);
    chassis.onQuestion = (id) => {
      chassis.pose = { pos: [3, 4], ori: 90 };
      return { status: 200, json: { id, state: 'succeeded' } };
    };
    // The topic still reports 'moving': no message was received since the order.
    expect(await motion.execute(moveTo(3, 4))).toMatchObject({ state: 'succeeded' });
    expect(status()).toMatchObject({ unownedMove: null, gate: { open: true } });
  });

  it('whose result is unknown and that continues closes the gate', async () => {
    chassis.onCancel = () => ({ status: 200 });
    await open();
    const ending = new AbortController();
    const { ended } = await begin(moveTo(3, 4), ending.signal);
    ending.abort(new Error('enough'));
    expect(await ended).toMatchObject({ state: 'unknown' });
    expect(status()).toMatchObject({ gate: { open: false }, unownedMove: { moveId: 41 } });
    chassis.plan({ move_state: 'cancelled' });
    await gate('open');
  });

  it('is tracked across a lost connection', async () => {
    await open();
    const { ended } = await begin();
    await lose();
    await chassis.restore();
    await connection('connected');
    await time.sleep(500);
    expect(status().unownedMove).toBeNull();
    succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
    expect(cancels()).toBe(0);
  });

  it('and a tour of it continue over a lost connection, once poses of the new one prove that the robot stands', async () => {
    await open();
    await motion.startTour('round');
    await ordered();
    await lose();
    chassis.pose = { pos: [1, 2], ori: 90 };
    chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded' } });
    await chassis.restore();
    await connection('connected');
    const connectedMs = time.monotonicMs();
    await ordered(2);
    expect(time.monotonicMs() - connectedMs).toBeGreaterThan(2_900);
    expect(tour()).toMatchObject({ state: 'running', at: 1, outcomes: [{ arrival: { verdict: 'at-goal' } }] });
  });
});

describe('a snapshot without a connection', () => {
  const plan = { moveState: 'moving', actionId: 7_007, actionType: 'standard' } as Planning;
  const moving = withValues({ planning: received(plan) });
  const lost = { kind: 'not-connected', failure: 'timeout', tried: { address: '127.0.0.1' } } as never;
  const watchOf = (policy: 'cancel' | 'leave') => createMoveWatch({ clock: createFakeClock(), log: silentLog, policy });

  it('shows no running move, also when its last plan is not marked stale', () => {
    const watch = watchOf('leave');
    expect(watch.current(moving)).toMatchObject({ moveId: 7_007 });
    expect(watch.current({ ...moving, link: lost })).toBeNull();
  });

  it('orders no cancel and decides nothing: neither the first report, nor that a move has ended', () => {
    const watch = watchOf('cancel');
    expect(watch.update({ ...moving, link: lost })).toBe(false);
    expect(watch.isAwaited).toBe(false);
    expect(watch.update(moving)).toBe(true);
    expect(watch.current(moving)).toMatchObject({ isBeingCancelled: true });
    expect(watch.update({ ...readySnapshot(), link: lost })).toBe(false);
    expect(watch.current(moving)).toMatchObject({ isBeingCancelled: true });
    expect(watch.update(moving)).toBe(true);
  });
});
