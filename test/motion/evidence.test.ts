import { describe, expect, it } from 'vitest';
import type { EvidenceRecord, EvidenceSource } from '../../src/lib/evidence/index.ts';
import { moveTo, startBench, until } from './bench.ts';
import { startScriptedChassis } from './scripted-chassis.ts';
import { recordsFor, SERIAL, SOFTWARE } from './snapshot.ts';

/** An evidence file of the test, notified as by the watch. */
function changing(): EvidenceSource & { set(records: readonly EvidenceRecord[], trouble?: string | null): void } {
  const listeners = new Set<() => void>();
  let now: readonly EvidenceRecord[] = recordsFor();
  let problem: string | null = null;
  return {
    records: () => now,
    trouble: () => problem,
    subscribe(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    set(records, trouble = null) {
      now = records;
      problem = trouble;
      for (const listener of listeners) listener();
    },
  };
}

const against = (fact: string): EvidenceRecord => ({
  ...{ fact, value: false, serial: SERIAL, software: SOFTWARE },
  ...{ how: 'drove into the shelf', who: 'technician', when: '2026-02-01T12:00:00Z' },
});
const withLine = (fact: string) => [...recordsFor(), against(fact)];

async function world() {
  const stack = new AsyncDisposableStack();
  const chassis = stack.use(await startScriptedChassis());
  const evidence = changing();
  const bench = stack.use(await startBench(chassis, { evidence, file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } }));
  const sent = (path: string) => chassis.orders.filter((order) => order.path === path).length;
  return { chassis, evidence, bench, sent, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('evidence that is revoked while the daemon runs', () => {
  it.each(['vendor.move.request', 'vendor.move.cancel', 'angles.target-ori', 'angles.tracked-pose-ori'])(
    'of %s closes the gate at once and cancels the current move',
    async (fact) => {
      await using parts = await world();
      const { bench, evidence, sent } = parts;
      const moving = bench.motion.execute(moveTo(3, 4));
      await until(() => sent('/chassis/moves') === 1, 'the order');
      let notified = 0;
      using _subscription = bench.motion.subscribe(() => {
        notified += 1;
      });
      evidence.set(withLine(fact));
      expect(await moving).toMatchObject({
        state: 'cancelled',
        reason: expect.stringMatching(new RegExp(`evidence was revoked.*${fact}`)),
      });
      expect(sent('/chassis/moves/current')).toBe(1);
      expect(notified).toBe(1);
      expect(bench.motion.status().gate).toMatchObject({
        open: false,
        reasons: expect.arrayContaining([expect.stringContaining(fact)]),
      });
      await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({
        code: 'MOTION_REFUSED',
        message: expect.stringContaining(`${fact} was contradicted on this device`),
      });
      expect(sent('/chassis/moves')).toBe(1);
    },
  );

  it('ends a tour', async () => {
    await using parts = await world();
    const { bench, evidence, sent } = parts;
    await bench.motion.startTour('round');
    await until(() => sent('/chassis/moves') === 1, 'the first leg');
    evidence.set(withLine('vendor.move.state'));
    await until(() => bench.motion.status().tour?.state === 'stopped', 'the end of the tour');
    expect(bench.motion.status().tour?.reason).toContain('evidence was revoked');
    expect(sent('/chassis/moves')).toBe(1);
  });

  it.each(['vendor.move.charge-target', 'vendor.move.cancel'])('of %s ends a drive to the dock', async (fact) => {
    await using parts = await world();
    const { bench, evidence, sent } = parts;
    await bench.motion.startDrive({ dock: true });
    await until(() => sent('/chassis/moves') === 1, 'the order');
    evidence.set(withLine(fact));
    await until(() => bench.motion.status().drive?.state !== 'running', 'the end of the drive');
    expect(bench.motion.status().drive).toMatchObject({ state: 'stopped', reason: expect.stringContaining(fact) });
    expect(sent('/chassis/moves/current')).toBe(1);
  });

  it('that only docking relies on ends no drive to a station', async () => {
    await using parts = await world();
    const { bench, chassis, evidence, sent } = parts;
    await bench.motion.startDrive({ station: 'A' });
    await until(() => sent('/chassis/moves') === 1, 'the order');
    evidence.set(withLine('vendor.move.charge-target'));
    chassis.plan({ move_state: 'succeeded' });
    await until(() => bench.motion.status().drive?.state !== 'running', 'the end of the drive');
    expect(bench.motion.status().drive?.state).toBe('succeeded');
    expect(sent('/chassis/moves/current')).toBe(0);
  });

  it('cancels no move that does not rely on it', async () => {
    await using parts = await world();
    const { bench, chassis, evidence, sent } = parts;
    const moving = bench.motion.execute(moveTo(3, 4));
    await until(() => sent('/chassis/moves') === 1, 'the order');
    evidence.set(withLine('vendor.pose.request'));
    chassis.plan({ move_state: 'succeeded' });
    expect(await moving).toMatchObject({ state: 'succeeded' });
    expect(sent('/chassis/moves/current')).toBe(0);
  });

  it('closes the gate and cancels while the file cannot be read, and opens again once it can', async () => {
    await using parts = await world();
    const { bench, evidence, sent } = parts;
    const moving = bench.motion.execute(moveTo(3, 4));
    await until(() => sent('/chassis/moves') === 1, 'the order');
    evidence.set(recordsFor(), 'The evidence file is a pipe.');
    expect(await moving).toMatchObject({ state: 'cancelled', reason: expect.stringContaining('a pipe') });
    expect(bench.motion.describe?.()).toContain('a pipe');
    evidence.set(recordsFor());
    await bench.stands();
    expect(bench.motion.status().gate.open).toBe(true);
  });

  it('emits no event after the service has ended', async () => {
    await using parts = await world();
    await parts.bench.motion.stop();
    let notified = 0;
    using _subscription = parts.bench.motion.subscribe(() => {
      notified += 1;
    });
    parts.evidence.set([]);
    expect(notified).toBe(0);
  });
});
