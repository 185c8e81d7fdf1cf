import { beforeEach, describe, expect, it } from 'vitest';
import type { Planning } from '../../src/lib/chassis/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createMoveWatch } from '../../src/lib/motion/unowned-move.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { readySnapshot, received, withValues } from './snapshot.ts';
import { time } from './time.ts';

const LEAVE = { file: { motion: { unownedMove: 'leave' } } } as const;
const cancelled = (count = 1) => until(() => rig.cancels() >= count);
const seen = () => until(() => rig.status().unownedMove !== null);
/** Longer than the interval of the guard. */
const notCancelled = async (count = 0) => {
  await time.sleep(1_200);
  expect(rig.cancels()).toBe(count);
};
const idle = async () => {
  await rig.open();
  await rig.gate('open');
};

describe('a move that gw did not order', () => {
  rig.eachHasChassis();

  it('is cancelled when it runs at the start, and the gate opens when it has ended', async () => {
    rig.foreignMove();
    await rig.open();
    await cancelled();
    await rig.gate('open');
    expect(rig.status().unownedMove).toBeNull();
    expect([rig.moves().length, rig.cancels()]).toEqual([0, 1]);
  });

  it('closes the gate for every order while it runs, with its number', async () => {
    rig.foreignMove();
    await rig.open(LEAVE);
    await until(() => rig.planned() === 'moving');
    expect(rig.status()).toMatchObject({
      unownedMove: { moveId: 7_007, isBeingCancelled: false },
      gate: { open: false, reasons: [expect.stringMatching(/move 7007.*gw did not/)] },
    });
    expect(rig.motion.describe?.()).toMatch(/move 7007/);
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_REFUSED', 'move 7007');
    await rig.refused(rig.motion.startTour('short'));
    await notCancelled();
    expect(rig.moves()).toEqual([]);
    rig.succeed();
    await rig.gate('open');
    expect(rig.status().unownedMove).toBeNull();
  });

  it('that begins while gw runs closes the gate, and is not cancelled', async () => {
    await idle();
    rig.foreignMove();
    await rig.gate('closed');
    await notCancelled();
    rig.chassis.plan({ move_state: 'failed', fail_reason: 15 });
    await rig.gate('open');
  });

  it('that began while the connection was lost is cancelled when it is back', async () => {
    await rig.open();
    await rig.lose();
    rig.foreignMove();
    await rig.chassis.restore();
    await cancelled();
    await rig.gate('open');
  });

  it('that began while the service had ended is cancelled when it starts again', async () => {
    await idle();
    await rig.motion.stop();
    rig.foreignMove();
    await until(() => rig.planned() === 'moving');
    await rig.motion.start({ signal: new AbortController().signal, fail: () => {} });
    await cancelled();
    await rig.gate('open');
  });

  it('that was not cancelled before is not cancelled when the connection flaps', async () => {
    await idle();
    rig.foreignMove();
    await seen();
    await rig.lose();
    await rig.chassis.restore();
    await rig.connection('connected');
    await seen();
    await notCancelled();
  });

  it('runs until the chassis reports its end: a rejected message does not end it', async () => {
    await rig.open(LEAVE);
    await rig.gate('open');
    rig.foreignMove();
    await seen();
    rig.chassis.plan({ action_id: 'seven' as unknown as number });
    await until(() => {
      const { planning } = rig.bench.link.snapshot().values;
      return planning.status === 'received' && planning.staleReason === 'newer-rejected';
    });
    expect(rig.status()).toMatchObject({ unownedMove: { moveId: 7_007 }, gate: { open: false } });
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_REFUSED', 'move 7007');
    rig.foreignMove();
    rig.succeed();
    await rig.gate('open');
    expect(rig.moves()).toEqual([]);
  });

  it('is cancelled again while it continues in spite of the cancel', async () => {
    rig.chassis.onCancel = () => ({ status: 200, json: { state: 'cancelled' } });
    rig.foreignMove();
    await rig.open();
    await cancelled(2);
    expect(rig.status()).toMatchObject({ gate: { open: false }, unownedMove: { isBeingCancelled: true } });
    await rig.refused(rig.motion.execute(moveTo(3, 4)));
    rig.chassis.plan({ move_state: 'cancelled' });
    await rig.gate('open');
    await notCancelled(rig.cancels());
  });

  it('is distinct from one cancelled at the start: the later one is not cancelled', async () => {
    rig.foreignMove();
    await rig.open();
    await cancelled();
    await rig.gate('open');
    rig.foreignMove(7_008);
    await until(() => rig.status().unownedMove?.moveId === 7_008);
    await notCancelled(1);
  });

  it('is not assumed to run after a reconnect, until the chassis reports it again', async () => {
    await rig.open(LEAVE);
    rig.foreignMove();
    await seen();
    await rig.lose();
    expect(rig.status().unownedMove).toBeNull();
    rig.succeed();
    await rig.chassis.restore();
    await rig.gate('open');
  });

  it('may reuse the number of a move of gw from before a restart of the chassis', async () => {
    await rig.open();
    const { ended } = await rig.begin();
    rig.succeed();
    await ended;
    await rig.lose();
    rig.foreignMove(rig.chassis.lastMoveId);
    await rig.chassis.restore();
    await cancelled();
  });
});

describe('a chassis that has not reported its move over this connection', () => {
  rig.eachHasChassis({ isPlanSilent: true });
  beforeEach(async () => void (await rig.open({ isPlanSilent: true })));

  it('receives no order: one may be running', async () => {
    expect(rig.status().gate).toMatchObject({ open: false, reasons: [expect.stringContaining('has not reported')] });
    await rig.refused(rig.motion.startTour('short'));
    rig.foreignMove();
    await cancelled();
    await rig.gate('open');
    expect(rig.moves()).toEqual([]);
  });

  it('and never does, receives orders after a delay: it has no move to report', async () => {
    await rig.gate('open');
    rig.foreignMove();
    await seen();
    await notCancelled();
  });
});

describe('a move of gw itself', () => {
  rig.eachHasChassis();

  it('is not mistaken for a move of another client, also while its number is unknown', async () => {
    const { link } = await rig.open();
    const others = new Set<number>();
    using _watch = link.subscribe(() => {
      const { unownedMove } = rig.status();
      if (unownedMove !== null) others.add(unownedMove.moveId);
    });
    const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
    rig.chassis.onMove = async () => {
      rig.chassis.plan({ action_id: 555, move_state: 'moving' });
      await reply;
      return { status: 200, json: { id: 555 } };
    };
    const { ended } = await rig.begin();
    await until(() => rig.planned() === 'moving');
    await time.sleep(200);
    answer();
    await time.sleep(200);
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded', moveId: 555 });
    expect([[...others], rig.cancels()]).toEqual([[], 0]);
  });

  it('that a query reported as ended does not close the gate because the topic is late', async () => {
    await rig.open(LEAVE);
    rig.chassis.onQuestion = (id) => {
      rig.chassis.pose = { pos: [3, 4], ori: 90 };
      return { status: 200, json: { id, state: 'succeeded' } };
    };
    // The topic still reports 'moving': no message was received since the order.
    expect(await rig.motion.execute(moveTo(3, 4))).toMatchObject({ state: 'succeeded' });
    expect(rig.status()).toMatchObject({ unownedMove: null, gate: { open: true } });
  });

  it('whose result is unknown and that continues closes the gate', async () => {
    rig.chassis.onCancel = () => ({ status: 200 });
    await rig.open();
    const ending = new AbortController();
    const { ended } = await rig.begin(moveTo(3, 4), ending.signal);
    ending.abort(new Error('enough'));
    expect(await ended).toMatchObject({ state: 'unknown' });
    expect(rig.status()).toMatchObject({ gate: { open: false }, unownedMove: { moveId: 41 } });
    rig.chassis.plan({ move_state: 'cancelled' });
    await rig.gate('open');
  });

  it('is tracked across a lost connection', async () => {
    await rig.open();
    const { ended } = await rig.begin();
    await rig.lose();
    await rig.chassis.restore();
    await rig.connection('connected');
    await time.sleep(500);
    expect(rig.status().unownedMove).toBeNull();
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
    expect(rig.cancels()).toBe(0);
  });

  it('and a tour of it continue over a lost connection, once poses of the new one prove that the robot stands', async () => {
    await rig.open();
    await rig.motion.startTour('round');
    await rig.ordered();
    await rig.lose();
    rig.chassis.pose = { pos: [1, 2], ori: 90 };
    rig.chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded' } });
    await rig.chassis.restore();
    await rig.connection('connected');
    const connectedMs = time.monotonicMs();
    await rig.ordered(2);
    expect(time.monotonicMs() - connectedMs).toBeGreaterThan(2_900);
    expect(rig.tour()).toMatchObject({ state: 'running', at: 1, outcomes: [{ arrival: { verdict: 'at-goal' } }] });
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
