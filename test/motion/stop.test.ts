import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeState } from '../../src/lib/motion/gate.ts';
import type { StopLatch } from '../../src/lib/motion/index.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { openGate } from './snapshot.ts';
import { time } from './time.ts';

rig.eachHasBench();

const latchFile = () => join(rig.bench.stateDir, 'stop-latch.json');
const onDisk = () => JSON.parse(readFileSync(latchFile(), 'utf8'));
/** The disk fails from here on. */
const breakDisk = () => {
  rmSync(rig.bench.stateDir, { recursive: true, force: true });
  writeFileSync(rig.bench.stateDir, 'a file where the folder was');
  return { [Symbol.dispose]: () => rmSync(rig.bench.stateDir, { recursive: true, force: true }) };
};
const cancelled = (count = 1) => until(() => rig.cancels() >= count);
/** Answers of the chassis that wait for `answer`. */
const held = () => {
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  return { promise, answer };
};

describe('a stop', () => {
  it('is sent to the chassis at once, whatever the state of the disk, and reports whether it is saved', async () => {
    using _broken = breakDisk();
    const { ended } = await rig.begin();
    let atCancel: StopLatch | undefined;
    rig.chassis.onCancel = () => {
      atCancel ??= rig.status().stop;
      rig.chassis.plan({ move_state: 'cancelled' });
      return { status: 200 };
    };
    const unsaved = { latched: true, saved: false, unsavedBecause: expect.stringMatching(/^not saved/) };
    expect(await rig.stop()).toMatchObject(unsaved);
    expect(atCancel).toMatchObject({ latched: true, by: 'tablet' });
    expect(atCancel?.saved).not.toBe(true);
    expect(await ended).toMatchObject({ state: 'cancelled' });
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
  });

  it('that could not be saved closes the gate for every kind of order, and opens it once it could', async () => {
    await rig.motion.stop();
    {
      using _broken = breakDisk();
      await rig.restart();
      expect(rig.status()).toMatchObject({
        gate: { open: false },
        keepingTrouble: { reason: expect.stringContaining('it is not a folder') },
      });
      await expect(rig.motion.execute(moveTo(3, 4))).rejects.toBeDefined();
      expect(rig.moves()).toEqual([]);
      const trouble = { reason: 'The stop latch cannot be saved.', remedy: 'Free disk space.' };
      for (const kind of ['move', 'dock', 'pose'] as const) {
        expect(judgeState(kind, openGate())).toEqual([]);
        expect(judgeState(kind, openGate({ keepingTrouble: trouble }))).toEqual([
          { code: 'MOTION_REFUSED', reason: 'The stop latch cannot be saved. Free disk space.' },
        ]);
      }
    }
    await rig.restart();
    expect(rig.status().keepingTrouble).toBeNull();
    await rig.gate('open');
  });

  it('ends the current move, is on the disk when it is reported as saved, and refuses the next move until it is cleared', async () => {
    const { ended } = await rig.begin();
    expect(await rig.stop()).toMatchObject({ latched: true, by: 'tablet', saved: true, unsavedBecause: null });
    expect(onDisk()).toMatchObject({ latched: true, reason: 'person in the way', by: 'tablet' });
    expect(await ended).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/person in the way/) });
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
    expect(rig.moves()).toHaveLength(1);
    expect(rig.status().gate).toMatchObject({ open: false });

    await rig.bench.stands();
    await rig.motion.clearStop('technician');
    expect(rig.status()).toMatchObject({ gate: { open: true }, stop: { latched: false } });
    const again = await rig.begin();
    rig.succeed();
    expect(await again.ended).toMatchObject({ state: 'succeeded' });
  });

  it('also cancels moves that gw did not order, those of other clients while it is set', async () => {
    rig.foreignMove();
    await rig.stop();
    expect(rig.cancels()).toBe(1);
    rig.foreignMove();
    await cancelled(2);
  });

  it('is in the status and notified to listeners', async () => {
    const seen: boolean[] = [];
    using _listening = rig.motion.subscribe(() => seen.push(rig.status().stop.latched));
    await rig.stop();
    await rig.motion.clearStop('technician');
    // Set, saved, cleared, and what follows from each.
    expect(seen.filter((latched, at) => latched !== seen[at - 1])).toEqual([true, false]);
    await rig.bench.stands();
    expect(rig.motion.describe?.()).toBe('gate open');
  });

  it('notifies the listeners also when poses alone have shown that the robot stands after it', async () => {
    const { ended } = await rig.begin();
    const seen: string[] = [];
    using _listening = rig.motion.subscribe(() => {
      const { verdict, isOwed } = rig.status().standstill;
      seen.push(isOwed ? `${verdict}, not proven` : verdict);
    });
    await rig.stop();
    await ended;
    await until(() => seen.at(-1) === 'stands');
    expect(seen).toContainEqual(expect.stringMatching(/, not proven$/));
  });

  it('during the sending of an order has priority: the move is cancelled again once the chassis has accepted it', async () => {
    const { promise, answer } = held();
    rig.chassis.onMove = async () => {
      await promise;
      rig.chassis.plan({ action_id: 41, move_state: 'moving' });
      return { status: 200, json: { id: 41 } };
    };
    const { ended } = await rig.begin();
    await rig.stop();
    const before = rig.cancels();
    expect(before).toBeGreaterThanOrEqual(1);
    answer();
    expect(await ended).toMatchObject({ state: 'cancelled' });
    expect(rig.cancels()).toBeGreaterThan(before);
    expect(rig.chassis.orders.at(-1)?.method).toBe('PATCH');
  });

  it('is acknowledged as soon as it is saved, and within 150 ms, also when the chassis hangs', async () => {
    rig.chassis.onCancel = () => 'hang';
    const beganMs = time.monotonicMs();
    expect(await rig.stop()).toMatchObject({ latched: true, saved: true });
    // Well below the 500 ms for the disk and the time-out of the cancel.
    expect(time.monotonicMs() - beganMs).toBeLessThan(400);
    expect(rig.cancels()).toBe(1);
    expect(rig.status().gate.open).toBe(false);
  });

  it('is repeated when the first cancel is lost', async () => {
    rig.chassis.onCancel = () => (rig.cancels() < 3 ? 'drop' : { status: 200 });
    await rig.stop();
    await cancelled(3);
  });

  it('while the chassis is disconnected is delivered after the reconnect', async () => {
    rig.foreignMove();
    await rig.lose();
    expect((await rig.stop()).latched).toBe(true);
    expect(rig.cancels()).toBe(0);
    await rig.chassis.restore();
    await cancelled();
  });

  it.each([
    ['pending', undefined, 0],
    ['exhausted', 2, 600],
  ])(
    'whose cancel is %s keeps the gate closed until that is delivered, although it was cleared',
    async (_, tries, ms) => {
      if (tries !== undefined) await rig.restart({ cancelTries: tries });
      await rig.lose();
      await rig.stop();
      await rig.motion.clearStop('technician');
      await time.sleep(ms);
      expect(rig.status().gate.reasons.join('\n')).toMatch(/cancel of an earlier order/);
      await rig.chassis.restore();
      await cancelled();
      await rig.gate('open');
      expect(rig.cancels()).toBe(1);
    },
  );

  it('during a cancel in transit is followed by a cancel of its own', async () => {
    const { promise, answer } = held();
    rig.chassis.onCancel = async () => {
      await promise;
      return { status: 200 };
    };
    const first = rig.stop();
    await cancelled();
    const second = rig.stop();
    await time.sleep(200);
    answer();
    await Promise.all([first, second]);
    await cancelled(2);
  });

  it('that is still being saved when gw shuts down is on the disk afterwards', async () => {
    void rig.stop();
    expect(rig.status().stop.saved).toBe('pending');
    await rig.motion.stop();
    expect(onDisk()).toMatchObject({ latched: true });
  });

  it('persists over a restart of gw: nothing is ordered, and a running move is cancelled at once', async () => {
    await rig.stop();
    const before = rig.cancels();
    await rig.restart();
    expect(rig.status().stop).toMatchObject({ latched: true, reason: 'person in the way', by: 'tablet' });
    await cancelled(before + 1);
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
  });

  it('is set when its file cannot be read', async () => {
    await rig.motion.stop();
    writeFileSync(latchFile(), '{"format":"gw/stop-latch/1","latched":fal');
    await rig.restart();
    expect(rig.status().stop).toMatchObject({ latched: true, by: 'gw' });
    await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_STOPPED');
  });

  it('succeeds when the chassis reports that there is no move', async () => {
    rig.chassis.onCancel = () => ({ status: 404, json: { message: 'error: no move' } });
    expect(await rig.stop()).toMatchObject({ latched: true });
    await rig.bench.stands();
    await rig.motion.clearStop('technician');
    expect(rig.status().gate.open).toBe(true);
  });
});

describe('the end of the service', () => {
  /** By the clock of the service, which a busy machine does not shorten. */
  const stopsInTime = async () => {
    const beganMs = time.monotonicMs();
    await rig.motion.stop();
    expect(time.monotonicMs() - beganMs).toBeLessThan(1_500);
  };

  it('cancels the current move and stays within its deadline', async () => {
    const { ended } = await rig.begin();
    await stopsInTime();
    expect(await ended).toMatchObject({ state: 'cancelled', reason: expect.stringMatching(/gw is shutting down/) });
    expect(rig.cancels()).toBe(1);
  });

  it('stays within its deadline when the chassis is disconnected, and sends no request after it', async () => {
    const { ended } = await rig.begin();
    await rig.chassis.cut();
    await stopsInTime();
    expect((await ended).state).toBe('unknown');
    const before = rig.chassis.orders.length;
    await rig.chassis.restore();
    await rig.connection('connected');
    await time.sleep(300);
    expect(rig.chassis.orders).toHaveLength(before);
  });

  it('refuses orders afterwards, still latches a stop, and accepts orders again after a new start', async () => {
    await rig.motion.stop();
    await rig.motion.stop();
    await rig.refused(rig.motion.execute(moveTo(3, 4)));
    expect(await rig.stop()).toMatchObject({ latched: true });
    expect(onDisk()).toMatchObject({ latched: true });
    await rig.motion.start({ signal: new AbortController().signal, fail: () => {} });
    await rig.bench.stands();
    await rig.motion.clearStop('technician');
    const { ended } = await rig.begin();
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
  });
});
