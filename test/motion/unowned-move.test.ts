import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Planning } from '../../src/lib/chassis/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createMoveWatch } from '../../src/lib/motion/unowned-move.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { type Bench, moveTo, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';
import { readySnapshot, received, withValues } from './snapshot.ts';
import { time } from './time.ts';

let chassis: ScriptedChassis;
let bench: Bench | undefined;
beforeEach(async () => {
  chassis = await startScriptedChassis();
});
afterEach(async () => {
  await bench?.[Symbol.asyncDispose]();
  bench = undefined;
  await chassis[Symbol.asyncDispose]();
});

const planned = () => {
  const planning = bench?.link.snapshot().values.planning;
  return planning?.status === 'received' ? planning.value.moveState : null;
};
const LEAVE = { motion: { unownedMove: 'leave' } } as const;
const sent = (path: string) => chassis.orders.filter((order) => order.path === path);
const cancels = () => sent('/chassis/moves/current').length;
const moves = () => sent('/chassis/moves').length;
const foreignMove = (id = 7_007) => chassis.plan({ action_id: id, move_state: 'moving' });
const open = async (options: Parameters<typeof startBench>[1] = {}) => {
  bench = await startBench(chassis, options);
  return bench;
};
const pause = time.sleep;

describe('a move that gw did not order', () => {
  it('is cancelled when it runs at the start, and the gate opens when it has ended', async () => {
    foreignMove();
    const { motion } = await open();
    await until(() => cancels() === 1, 'the cancel');
    await until(() => motion.status().gate.open, 'the gate');
    expect(motion.status().unownedMove).toBeNull();
    expect(moves()).toBe(0);
  });

  it('closes the gate for every order while it runs, with its number', async () => {
    foreignMove();
    const { motion } = await open({ file: LEAVE });
    await until(() => planned() === 'moving', 'the plan');
    expect(motion.status()).toMatchObject({
      unownedMove: { moveId: 7_007, isBeingCancelled: false },
      gate: { open: false, reasons: [expect.stringMatching(/move 7007.*gw did not/)] },
    });
    expect(motion.describe?.()).toMatch(/move 7007/);
    await expect(motion.execute(moveTo(3, 4))).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
      message: expect.stringContaining('move 7007'),
    });
    await expect(motion.startTour('short')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    await pause(300);
    expect([moves(), cancels()]).toEqual([0, 0]);
    chassis.plan({ move_state: 'succeeded' });
    await until(() => motion.status().gate.open, 'the gate');
    expect(motion.status().unownedMove).toBeNull();
  });

  it('that begins while gw runs closes the gate, and is not cancelled', async () => {
    const { motion } = await open();
    await until(() => motion.status().gate.open, 'the gate');
    foreignMove();
    await until(() => !motion.status().gate.open, 'the gate to close');
    await pause(1_200);
    expect(cancels()).toBe(0);
    chassis.plan({ move_state: 'failed', fail_reason: 15 });
    await until(() => motion.status().gate.open, 'the gate');
  });

  it('that began while the connection was lost is cancelled when it is back', async () => {
    const { motion, link } = await open();
    await chassis.cut();
    await until(() => link.snapshot().link.kind === 'not-connected', 'the loss');
    foreignMove();
    await chassis.restore();
    await until(() => cancels() === 1, 'the cancel', 10_000);
    await until(() => motion.status().gate.open, 'the gate');
  });

  it('that began while the service had ended is cancelled when it starts again', async () => {
    const { motion } = await open();
    await until(() => motion.status().gate.open, 'the gate');
    await motion.stop();
    foreignMove();
    await until(() => planned() === 'moving', 'the plan');
    await motion.start({ signal: new AbortController().signal, fail: () => {} });
    await until(() => cancels() === 1, 'the cancel');
    await until(() => motion.status().gate.open, 'the gate');
  });

  it('that was not cancelled before is not cancelled when the connection flaps', async () => {
    const { motion, link } = await open();
    await until(() => motion.status().gate.open, 'the gate');
    foreignMove();
    await until(() => motion.status().unownedMove !== null, 'the move');
    await chassis.cut();
    await until(() => link.snapshot().link.kind === 'not-connected', 'the loss');
    await chassis.restore();
    await until(() => link.snapshot().link.kind === 'connected', 'the connection', 10_000);
    await until(() => motion.status().unownedMove !== null, 'the move');
    await pause(1_200);
    expect(cancels()).toBe(0);
  });

  it('runs until the chassis reports its end: a rejected message does not end it', async () => {
    const { motion, link } = await open({ file: LEAVE });
    await until(() => motion.status().gate.open, 'the gate');
    foreignMove();
    await until(() => motion.status().unownedMove !== null, 'the move');
    chassis.plan({ action_id: 'seven' as unknown as number });
    await until(() => {
      const { planning } = link.snapshot().values;
      return planning.status === 'received' && planning.staleReason === 'newer-rejected';
    }, 'the rejected message');
    expect(motion.status()).toMatchObject({ unownedMove: { moveId: 7_007 }, gate: { open: false } });
    await expect(motion.execute(moveTo(3, 4))).rejects.toMatchObject({ message: expect.stringContaining('move 7007') });
    foreignMove();
    chassis.plan({ move_state: 'succeeded' });
    await until(() => motion.status().gate.open, 'the gate');
    expect(moves()).toBe(0);
  });

  it('is cancelled again while it continues in spite of the cancel', async () => {
    chassis.onCancel = () => ({ status: 200, json: { state: 'cancelled' } });
    foreignMove();
    const { motion } = await open();
    await until(() => cancels() >= 2, 'the second cancel');
    expect(motion.status()).toMatchObject({ gate: { open: false }, unownedMove: { isBeingCancelled: true } });
    await expect(motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    chassis.plan({ move_state: 'cancelled' });
    await until(() => motion.status().gate.open, 'the gate');
    const before = cancels();
    await pause(1_300);
    expect(cancels()).toBe(before);
  });

  it('is distinct from one cancelled at the start: the later one is not cancelled', async () => {
    foreignMove();
    const { motion } = await open();
    await until(() => cancels() === 1, 'the cancel');
    await until(() => motion.status().gate.open, 'the gate');
    foreignMove(7_008);
    await until(() => motion.status().unownedMove?.moveId === 7_008, 'the next move');
    await pause(1_200);
    expect(cancels()).toBe(1);
  });

  it('is not assumed to run after a reconnect, until the chassis reports it again', async () => {
    const { motion, link } = await open({ file: LEAVE });
    foreignMove();
    await until(() => motion.status().unownedMove !== null, 'the move');
    await chassis.cut();
    await until(() => link.snapshot().link.kind === 'not-connected', 'the loss');
    expect(motion.status().unownedMove).toBeNull();
    chassis.plan({ move_state: 'succeeded' });
    await chassis.restore();
    await until(() => motion.status().gate.open, 'the gate', 10_000);
  });

  it('may reuse the number of a move of gw from before a restart of the chassis', async () => {
    const { motion, link } = await open();
    const moving = motion.execute(moveTo(3, 4));
    await until(() => moves() === 1, 'the order');
    chassis.plan({ move_state: 'succeeded' });
    await moving;
    await chassis.cut();
    await until(() => link.snapshot().link.kind === 'not-connected', 'the loss');
    chassis.plan({ action_id: chassis.lastMoveId, move_state: 'moving' });
    await chassis.restore();
    await until(() => cancels() === 1, 'the cancel', 10_000);
  });
});

describe('a chassis that has not reported its move over this connection', () => {
  beforeEach(async () => {
    await chassis[Symbol.asyncDispose]();
    chassis = await startScriptedChassis({ isPlanSilent: true });
  });

  it('receives no order: one may be running', async () => {
    const { motion } = await open({ isPlanSilent: true });
    expect(motion.status().gate).toMatchObject({
      open: false,
      reasons: [expect.stringContaining('has not reported')],
    });
    await expect(motion.startTour('short')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    foreignMove();
    await until(() => cancels() === 1, 'the cancel');
    await until(() => motion.status().gate.open, 'the gate');
    expect(moves()).toBe(0);
  });

  it('and never does, receives orders after a delay: it has no move to report', async () => {
    const { motion } = await open({ isPlanSilent: true });
    await until(() => motion.status().gate.open, 'the gate');
    foreignMove();
    await until(() => motion.status().unownedMove !== null, 'the move');
    await pause(1_200);
    expect(cancels()).toBe(0);
  });
});

describe('a tour over a lost connection', () => {
  it('continues once the chassis has reported its move: the next order waits for that', async () => {
    const { motion, link } = await open();
    await motion.startTour('round');
    await until(() => moves() === 1, 'the first order');
    await chassis.cut();
    await until(() => link.snapshot().link.kind === 'not-connected', 'the loss');
    chassis.holdsPlan = true;
    chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded' } });
    await chassis.restore();
    await until(() => motion.status().tour?.outcomes.length === 1, 'the end of the first leg', 10_000);
    expect(moves()).toBe(1);
    chassis.holdsPlan = false;
    chassis.plan({ move_state: 'succeeded' });
    await until(() => moves() === 2, 'the second order');
    expect(motion.status().tour).toMatchObject({ state: 'running', at: 1 });
  });
});

describe('a move of gw itself', () => {
  it('is not mistaken for a move of another client, also while its number is unknown', async () => {
    const { motion } = await open();
    const seen = new Set<number>();
    using _watch = bench?.link.subscribe(() => {
      const move = motion.status().unownedMove;
      if (move !== null) seen.add(move.moveId);
    });
    const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
    chassis.onMove = async () => {
      chassis.plan({ action_id: 555, move_state: 'moving' });
      await reply;
      return { status: 200, json: { id: 555 } };
    };
    const moving = motion.execute(moveTo(3, 4));
    await until(() => planned() === 'moving', 'the plan');
    await pause(200);
    answer();
    await pause(200);
    chassis.plan({ move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded', moveId: 555 });
    expect([...seen]).toEqual([]);
    expect(cancels()).toBe(0);
  });

  it('that a query reported as ended does not close the gate because the topic is late', async () => {
    const { motion } = await open({ file: { motion: { unownedMove: 'leave' } } });
    chassis.onQuestion = (id) => ({ status: 200, json: { id, state: 'succeeded' } });
    // The topic still reports 'moving': no message was received since the order.
    expect(await motion.execute(moveTo(3, 4))).toMatchObject({ state: 'succeeded' });
    expect(motion.status()).toMatchObject({ unownedMove: null, gate: { open: true } });
  });

  it('whose result is unknown and that continues closes the gate', async () => {
    chassis.onCancel = () => ({ status: 200 });
    const { motion } = await open();
    const ending = new AbortController();
    const moving = motion.execute(moveTo(3, 4), ending.signal);
    await until(() => moves() === 1, 'the order');
    ending.abort(new Error('enough'));
    expect(await moving).toMatchObject({ state: 'unknown' });
    expect(motion.status()).toMatchObject({ gate: { open: false }, unownedMove: { moveId: 41 } });
    chassis.plan({ move_state: 'cancelled' });
    await until(() => motion.status().gate.open, 'the gate');
  });

  it('is tracked across a lost connection', async () => {
    const { motion, link } = await open();
    const moving = motion.execute(moveTo(3, 4));
    await until(() => moves() === 1, 'the order');
    await chassis.cut();
    await until(() => link.snapshot().link.kind === 'not-connected', 'the loss');
    await chassis.restore();
    await until(() => link.snapshot().link.kind === 'connected', 'the connection', 10_000);
    await pause(500);
    expect(motion.status().unownedMove).toBeNull();
    chassis.plan({ move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded' });
    expect(cancels()).toBe(0);
  });
});

describe('a snapshot without a connection', () => {
  const plan = { moveState: 'moving', actionId: 7_007, actionType: 'standard' } as Planning;
  const moving = { planning: received(plan) };
  const lost = { kind: 'not-connected', failure: 'timeout', tried: { address: '127.0.0.1' } } as never;
  const watchOf = (policy: 'cancel' | 'leave') => createMoveWatch({ clock: createFakeClock(), log: silentLog, policy });

  it('shows no running move, also when its last plan is not marked stale', () => {
    const watch = watchOf('leave');
    expect(watch.current(withValues(moving))).toMatchObject({ moveId: 7_007 });
    expect(watch.current({ ...withValues(moving), link: lost })).toBeNull();
  });

  it('orders no cancel and decides nothing: neither the first report, nor that a move has ended', () => {
    const watch = watchOf('cancel');
    expect(watch.update({ ...withValues(moving), link: lost })).toBe(false);
    expect(watch.isAwaited).toBe(false);
    expect(watch.update(withValues(moving))).toBe(true);
    expect(watch.current(withValues(moving))).toMatchObject({ isBeingCancelled: true });
    expect(watch.update({ ...readySnapshot(), link: lost })).toBe(false);
    expect(watch.current(withValues(moving))).toMatchObject({ isBeingCancelled: true });
    expect(watch.update(withValues(moving))).toBe(true);
  });
});
