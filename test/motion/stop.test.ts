import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeState } from '../../src/lib/motion/gate.ts';
import type { StopLatch } from '../../src/lib/motion/index.ts';
import { moveTo, until } from './bench.ts';
import {
  begin,
  bench,
  cancels,
  chassis,
  connection,
  eachHasBench,
  foreignMove,
  gate,
  lose,
  motion,
  moves,
  refused,
  restart,
  status,
  stop,
  succeed,
} from './each-bench.ts';
import { openGate } from './snapshot.ts';
import { time } from './time.ts';

eachHasBench();

const latchFile = () => join(bench.stateDir, 'stop-latch.json');
const onDisk = () => JSON.parse(readFileSync(latchFile(), 'utf8'));
/** The disk fails from here on. */
const breakDisk = () => {
  rmSync(bench.stateDir, { recursive: true, force: true });
  writeFileSync(bench.stateDir, 'a file where the folder was');
  return { [Symbol.dispose]: () => rmSync(bench.stateDir, { recursive: true, force: true }) };
};
const cancelled = (count = 1) => until(() => cancels() >= count);
/** Answers of the chassis that wait for `answer`. */
const held = () => {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  return { promise, answer };
};

describe('a stop', () => {
  it('is sent to the chassis at once, whatever the state of the disk, and reports whether it is saved', async () => {
    using _broken = breakDisk();
    const { ended } = await begin();
    let atCancel: StopLatch | undefined;
    chassis.onCancel = () => {
      atCancel ??= status().stop;
      chassis.plan({ move_state: 'cancelled' });
      return { status: 200 };
    };
    const unsaved = { latched: true, saved: false, unsavedBecause: expect.stringMatching(/^not saved/) };
    expect(await stop()).toMatchObject(unsaved);
    expect(atCancel).toMatchObject({ latched: true, by: 'tablet' });
    expect(atCancel?.saved).not.toBe(true);
    expect(await ended).toMatchObject({ state: 'cancelled' });
    await refused(motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
  });

  it('that could not be saved closes the gate for every kind of order, and opens it once it could', async () => {
    await motion.stop();
    {
      using _broken = breakDisk();
      await restart();
      expect(status()).toMatchObject({
        gate: { open: false },
        keepingTrouble: { reason: expect.stringContaining('it is not a folder') },
      });
      await expect(motion.execute(moveTo(3, 4))).rejects.toBeDefined();
      expect(moves()).toEqual([]);
      const trouble = { reason: 'The stop latch cannot be saved.', remedy: 'Free disk space.' };
      for (const kind of ['move', 'dock', 'pose'] as const) {
        expect(judgeState(kind, openGate())).toEqual([]);
        expect(judgeState(kind, openGate({ keepingTrouble: trouble }))).toEqual([
          { code: 'MOTION_REFUSED', reason: 'The stop latch cannot be saved. Free disk space.' },
        ]);
      }
    }
    await restart();
    expect(status().keepingTrouble).toBeNull();
    await gate('open');
  });

  it('ends the current move, is on the disk when it is reported as saved, and refuses the next move until it is cleared', async () => {
    const { ended } = await begin();
    expect(await stop()).toMatchObject({ latched: true, by: 'tablet', saved: true, unsavedBecause: null });
    expect(onDisk()).toMatchObject({ latched: true, reason: 'person in the way', by: 'tablet' });
    expect(await ended).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/person in the way/) });
    await refused(motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
    expect(moves()).toHaveLength(1);
    expect(status().gate).toMatchObject({ open: false });

    await bench.stands();
    await motion.clearStop('technician');
    expect(status()).toMatchObject({ gate: { open: true }, stop: { latched: false } });
    const again = await begin();
    succeed();
    expect(await again.ended).toMatchObject({ state: 'succeeded' });
  });

  it('also cancels moves that gw did not order, those of other clients while it is set', async () => {
    foreignMove();
    await stop();
    expect(cancels()).toBe(1);
    foreignMove();
    await cancelled(2);
  });

  it('is in the status and notified to listeners', async () => {
    const seen: boolean[] = [];
    using _listening = motion.subscribe(() => seen.push(status().stop.latched));
    await stop();
    await motion.clearStop('technician');
    // Set, saved, cleared.
    expect(seen).toEqual([true, true, false]);
    await bench.stands();
    expect(motion.describe?.()).toBe('gate open');
  });

  it('during the sending of an order has priority: the move is cancelled again once the chassis has accepted it', async () => {
    const { promise, answer } = held();
    chassis.onMove = async () => {
      await promise;
      chassis.plan({ action_id: 41, move_state: 'moving' });
      return { status: 200, json: { id: 41 } };
    };
    const { ended } = await begin();
    await stop();
    const before = cancels();
    expect(before).toBeGreaterThanOrEqual(1);
    answer();
    expect(await ended).toMatchObject({ state: 'cancelled' });
    expect(cancels()).toBeGreaterThan(before);
    expect(chassis.orders.at(-1)?.method).toBe('PATCH');
  });

  it('is acknowledged as soon as it is saved, and within 150 ms, also when the chassis hangs', async () => {
    chassis.onCancel = () => 'hang';
    const beganMs = time.monotonicMs();
    expect(await stop()).toMatchObject({ latched: true, saved: true });
    // Well below the 500 ms for the disk and the time-out of the cancel.
    expect(time.monotonicMs() - beganMs).toBeLessThan(400);
    expect(cancels()).toBe(1);
    expect(status().gate.open).toBe(false);
  });

  it('is repeated when the first cancel is lost', async () => {
    chassis.onCancel = () => (cancels() < 3 ? 'drop' : { status: 200 });
    await stop();
    await cancelled(3);
  });

  it('while the chassis is disconnected is delivered after the reconnect', async () => {
    foreignMove();
    await lose();
    expect((await stop()).latched).toBe(true);
    expect(cancels()).toBe(0);
    await chassis.restore();
    await cancelled();
  });

  it.each([
    ['pending', undefined, 0],
    ['exhausted', 2, 600],
  ])(
    'whose cancel is %s keeps the gate closed until that is delivered, although it was cleared',
    async (_, tries, ms) => {
      if (tries !== undefined) await restart({ cancelTries: tries });
      await lose();
      await stop();
      await motion.clearStop('technician');
      await time.sleep(ms);
      expect(status().gate.reasons.join('\n')).toMatch(/cancel of an earlier order/);
      await chassis.restore();
      await cancelled();
      await gate('open');
      expect(cancels()).toBe(1);
    },
  );

  it('during a cancel in transit is followed by a cancel of its own', async () => {
    const { promise, answer } = held();
    chassis.onCancel = async () => {
      await promise;
      return { status: 200 };
    };
    const first = stop();
    await cancelled();
    const second = stop();
    await time.sleep(200);
    answer();
    await Promise.all([first, second]);
    await cancelled(2);
  });

  it('that is still being saved when gw shuts down is on the disk afterwards', async () => {
    void stop();
    expect(status().stop.saved).toBe('pending');
    await motion.stop();
    expect(onDisk()).toMatchObject({ latched: true });
  });

  it('persists over a restart of gw: nothing is ordered, and a running move is cancelled at once', async () => {
    await stop();
    const before = cancels();
    await restart();
    expect(status().stop).toMatchObject({ latched: true, reason: 'person in the way', by: 'tablet' });
    await cancelled(before + 1);
    await refused(motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
  });

  it('is set when its file cannot be read', async () => {
    await motion.stop();
    writeFileSync(latchFile(), '{"format":"gw/stop-latch/1","latched":fal');
    await restart();
    expect(status().stop).toMatchObject({ latched: true, by: 'gw' });
    await refused(motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
  });

  it('succeeds when the chassis reports that there is no move', async () => {
    chassis.onCancel = () => ({ status: 404, json: { message: 'error: no move' } });
    expect(await stop()).toMatchObject({ latched: true });
    await bench.stands();
    await motion.clearStop('technician');
    expect(status().gate.open).toBe(true);
  });
});

describe('the end of the service', () => {
  /** By the clock of the service, which a busy machine does not shorten. */
  const stopsInTime = async () => {
    const beganMs = time.monotonicMs();
    await motion.stop();
    expect(time.monotonicMs() - beganMs).toBeLessThan(1_500);
  };

  it('cancels the current move and stays within its deadline', async () => {
    const { ended } = await begin();
    await stopsInTime();
    expect(await ended).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/gw is shutting down/) });
    expect(cancels()).toBe(1);
  });

  it('stays within its deadline when the chassis is disconnected, and sends no request after it', async () => {
    const { ended } = await begin();
    await chassis.cut();
    await stopsInTime();
    expect((await ended).state).toBe('unknown');
    const before = chassis.orders.length;
    await chassis.restore();
    await connection('connected');
    await time.sleep(300);
    expect(chassis.orders).toHaveLength(before);
  });

  it('refuses orders afterwards, still latches a stop, and accepts orders again after a new start', async () => {
    await motion.stop();
    await motion.stop();
    await refused(motion.execute(moveTo(3, 4)));
    expect(await stop()).toMatchObject({ latched: true });
    expect(onDisk()).toMatchObject({ latched: true });
    await motion.start({ signal: new AbortController().signal, fail: () => {} });
    await bench.stands();
    await motion.clearStop('technician');
    const { ended } = await begin();
    succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
  });
});
