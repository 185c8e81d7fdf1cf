import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judgeState } from '../../src/lib/motion/gate.ts';
import type { StopLatch } from '../../src/lib/motion/index.ts';
import { type Bench, moveTo, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';
import { openGate } from './snapshot.ts';
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
const ordered = () => until(() => sent('/chassis/moves').length > 0, 'the order');
const latchFile = () => join(bench.stateDir, 'stop-latch.json');
const foreignMove = () => chassis.plan({ action_id: 77, move_state: 'moving' });

describe('a stop', () => {
  it('is sent to the chassis at once, whatever the state of the disk, and reports whether it is saved', async () => {
    // A pipe in place of the folder would block an open, a file fails: neither may delay the cancel.
    rmSync(bench.stateDir, { recursive: true });
    writeFileSync(bench.stateDir, 'a file where the folder was');
    foreignMove();
    let atCancel: StopLatch | undefined;
    chassis.onCancel = () => {
      atCancel ??= bench.motion.status().stop;
      return { status: 200 };
    };
    const answered = await bench.motion.stopRobot('person in the way', 'tablet');
    expect(atCancel).toMatchObject({ latched: true, by: 'tablet' });
    expect(atCancel?.saved).not.toBe(true);
    expect(answered).toMatchObject({ latched: true, saved: false });
    rmSync(bench.stateDir);
  });

  it('that could not be saved closes the gate for every kind of order, and opens it once it could', async () => {
    await bench.motion.stop();
    rmSync(bench.stateDir, { recursive: true, force: true });
    writeFileSync(bench.stateDir, 'a file where the folder was');
    const motion = await bench.again();
    expect(motion.status()).toMatchObject({
      gate: { open: false },
      keepingTrouble: { reason: expect.stringContaining('it is not a folder') },
    });
    await expect(motion.execute(moveTo(3, 4))).rejects.toBeDefined();
    for (const kind of ['move', 'dock', 'pose'] as const) {
      const trouble = { reason: 'The stop latch cannot be saved.', remedy: 'Free disk space.' };
      expect(judgeState(kind, openGate())).toEqual([]);
      expect(judgeState(kind, openGate({ keepingTrouble: trouble }))).toEqual([
        { code: 'MOTION_REFUSED', reason: 'The stop latch cannot be saved. Free disk space.' },
      ]);
    }
    expect(sent('/chassis/moves')).toEqual([]);
    rmSync(bench.stateDir);
    await motion.stop();
    const second = await bench.again();
    expect(second.status().keepingTrouble).toBeNull();
    await until(() => second.status().gate.open, 'the gate');
  });

  it('that is reported as saved is on the disk', async () => {
    const answered = await bench.motion.stopRobot('person in the way', 'tablet');
    expect(answered).toMatchObject({ latched: true, saved: true, unsavedBecause: null });
    const kept = JSON.parse(readFileSync(latchFile(), 'utf8'));
    expect(kept).toMatchObject({ latched: true, reason: 'person in the way', by: 'tablet' });
  });

  it('ends the current move and refuses the next one, until it is cleared', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    const latch = await bench.motion.stopRobot('person in the way', 'tablet');
    expect(latch).toMatchObject({ latched: true, by: 'tablet' });
    expect(await moving).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/person in the way/) });
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    expect(sent('/chassis/moves')).toHaveLength(1);
    expect(bench.motion.status().gate).toMatchObject({ open: false });

    await bench.stands();
    await bench.motion.clearStop('technician');
    expect(bench.motion.status()).toMatchObject({ gate: { open: true }, stop: { latched: false } });
    const again = bench.motion.execute(moveTo(3, 4));
    await until(() => sent('/chassis/moves').length === 2, 'the order after the stop');
    chassis.plan({ move_state: 'succeeded' });
    expect(await again).toMatchObject({ state: 'succeeded' });
  });

  it('also cancels moves that gw did not order', async () => {
    foreignMove();
    await bench.motion.stopRobot('drill', 'tablet');
    expect(cancels()).toBe(1);
  });

  it('is in the status and notified to listeners', async () => {
    const seen: boolean[] = [];
    using _listening = bench.motion.subscribe(() => seen.push(bench.motion.status().stop.latched));
    await bench.motion.stopRobot('drill', 'tablet');
    await bench.motion.clearStop('technician');
    // Set, saved, cleared.
    expect(seen).toEqual([true, true, false]);
    await bench.stands();
    expect(bench.motion.describe?.()).toBe('gate open');
  });

  it('during the sending of an order has priority: the move is cancelled again once the chassis has accepted it', async () => {
    const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
    chassis.onMove = async () => {
      await reply;
      chassis.plan({ action_id: 41, move_state: 'moving' });
      return { status: 200, json: { id: 41 } };
    };
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    await bench.motion.stopRobot('person in the way', 'tablet');
    const before = cancels();
    expect(before).toBeGreaterThanOrEqual(1);
    answer();
    expect(await moving).toMatchObject({ state: 'cancelled' });
    expect(cancels()).toBeGreaterThan(before);
    expect(chassis.orders.at(-1)?.method).toBe('PATCH');
  });

  it('is acknowledged as soon as it is saved, and within 150 ms, also when the chassis hangs', async () => {
    chassis.onCancel = () => 'hang';
    const beganMs = time.monotonicMs();
    expect(await bench.motion.stopRobot('drill', 'tablet')).toMatchObject({ latched: true, saved: true });
    // Well below the 500 ms for the disk and the time-out of the cancel.
    expect(time.monotonicMs() - beganMs).toBeLessThan(400);
    expect(cancels()).toBe(1);
    expect(bench.motion.status().gate.open).toBe(false);
  });

  it('is repeated when the first cancel is lost', async () => {
    let lost = 2;
    chassis.onCancel = () => {
      lost -= 1;
      return lost >= 0 ? 'drop' : { status: 200 };
    };
    await bench.motion.stopRobot('drill', 'tablet');
    await until(() => cancels() >= 3, 'the third attempt');
  });

  it('while the chassis is disconnected is delivered after the reconnect', async () => {
    foreignMove();
    await chassis.cut();
    await until(() => bench.link.snapshot().link.kind === 'not-connected', 'the loss');
    const latch = await bench.motion.stopRobot('drill', 'tablet');
    expect(latch.latched).toBe(true);
    expect(cancels()).toBe(0);
    await chassis.restore();
    await until(() => cancels() >= 1, 'the cancel', 10_000);
  });

  it('keeps the gate closed while its cancel is pending, although it was cleared meanwhile', async () => {
    await chassis.cut();
    await until(() => bench.link.snapshot().link.kind === 'not-connected', 'the loss');
    await bench.motion.stopRobot('drill', 'tablet');
    await bench.motion.clearStop('technician');
    expect(bench.motion.status().gate.reasons.join('\n')).toMatch(/cancel of an earlier order/);
    await chassis.restore();
    await until(() => cancels() >= 1, 'the cancel', 10_000);
    await until(() => bench.motion.status().gate.open, 'the gate');
  });

  it('whose attempts were exhausted while the chassis was disconnected is sent again after the reconnect, even when cleared', async () => {
    await bench.motion.stop();
    const motion = await bench.again({ cancelTries: 2 });
    await chassis.cut();
    await until(() => bench.link.snapshot().link.kind === 'not-connected', 'the loss');
    await motion.stopRobot('drill', 'tablet');
    await motion.clearStop('technician');
    await time.sleep(600);
    expect(motion.status().gate.reasons.join('\n')).toMatch(/cancel of an earlier order/);
    await chassis.restore();
    await until(() => cancels() === 1, 'the cancel', 10_000);
    await until(() => motion.status().gate.open, 'the gate');
  });

  it('during a cancel in transit is followed by a cancel of its own', async () => {
    const { promise: reply, resolve: answer } = Promise.withResolvers<void>();
    chassis.onCancel = async () => {
      await reply;
      return { status: 200 };
    };
    const first = bench.motion.stopRobot('drill', 'tablet');
    await until(() => cancels() === 1, 'the first cancel');
    const second = bench.motion.stopRobot('drill again', 'service page');
    await time.sleep(200);
    answer();
    await Promise.all([first, second]);
    await until(() => cancels() === 2, 'the second cancel');
  });

  it('that is still being saved when gw shuts down is on the disk afterwards', async () => {
    void bench.motion.stopRobot('person in the way', 'tablet');
    expect(bench.motion.status().stop.saved).toBe('pending');
    await bench.motion.stop();
    expect(JSON.parse(readFileSync(join(bench.stateDir, 'stop-latch.json'), 'utf8'))).toMatchObject({ latched: true });
  });

  it('persists over a restart of gw: nothing is ordered, and a running move is cancelled at once', async () => {
    await bench.motion.stopRobot('drill', 'tablet');
    await bench.motion.stop();
    const before = cancels();
    const motion = await bench.again();
    expect(motion.status().stop).toMatchObject({ latched: true, reason: 'drill', by: 'tablet' });
    await until(() => cancels() > before, 'the cancel after the restart');
    await expect(motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
  });

  it('cancels moves of other clients while it is set', async () => {
    await bench.motion.stopRobot('drill', 'tablet');
    const before = cancels();
    foreignMove();
    await until(() => cancels() > before, 'the cancel of the foreign move');
  });

  it('is set when its file cannot be read', async () => {
    await bench.motion.stop();
    writeFileSync(latchFile(), '{"format":"gw/stop-latch/1","latched":fal');
    const motion = await bench.again();
    expect(motion.status().stop).toMatchObject({ latched: true, by: 'gw' });
    await expect(motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
  });

  it('is executed although the disk fails', async () => {
    rmSync(bench.stateDir, { recursive: true });
    writeFileSync(bench.stateDir, 'a file where the folder was');
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    const latch = await bench.motion.stopRobot('person in the way', 'tablet');
    expect(latch).toMatchObject({ saved: false, unsavedBecause: expect.stringMatching(/^not saved/) });
    expect(await moving).toMatchObject({ state: 'cancelled' });
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    rmSync(bench.stateDir);
  });

  it('succeeds when the chassis reports that there is no move', async () => {
    chassis.onCancel = () => ({ status: 404, json: { message: 'error: no move' } });
    expect(await bench.motion.stopRobot('drill', 'tablet')).toMatchObject({ latched: true });
    await bench.stands();
    await bench.motion.clearStop('technician');
    expect(bench.motion.status().gate.open).toBe(true);
  });
});

describe('the end of the service', () => {
  it('cancels the current move and stays within its deadline', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    const beganMs = time.monotonicMs();
    await bench.motion.stop();
    expect(time.monotonicMs() - beganMs).toBeLessThan(1_500);
    expect(await moving).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/gw is shutting down/) });
    expect(cancels()).toBe(1);
  });

  it('stays within its deadline when the chassis is disconnected, and sends no request after it', async () => {
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    await chassis.cut();
    const beganMs = time.monotonicMs();
    await bench.motion.stop();
    expect(time.monotonicMs() - beganMs).toBeLessThan(1_500);
    expect((await moving).state).toBe('unknown');
    const before = chassis.orders.length;
    await chassis.restore();
    await until(() => bench.link.snapshot().link.kind === 'connected', 'the chassis', 10_000);
    await time.sleep(300);
    expect(chassis.orders).toHaveLength(before);
  });

  it('refuses orders afterwards, and accepts them again after a new start', async () => {
    await bench.motion.stop();
    await bench.motion.stop();
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    await bench.motion.start({ signal: new AbortController().signal, fail: () => {} });
    const moving = bench.motion.execute(moveTo(3, 4));
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded' });
  });

  it('still latches a stop', async () => {
    await bench.motion.stop();
    expect(await bench.motion.stopRobot('drill', 'tablet')).toMatchObject({ latched: true });
    expect(JSON.parse(readFileSync(latchFile(), 'utf8'))).toMatchObject({ latched: true });
  });
});
