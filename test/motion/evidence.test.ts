import { describe, expect, it } from 'vitest';
import type { EvidenceRecord, EvidenceSource } from '../../src/lib/evidence/index.ts';
import { moveTo } from './bench.ts';
import * as rig from './each-bench.ts';
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

const withLine = (fact: string): EvidenceRecord[] => [
  ...recordsFor(),
  {
    ...{ fact, value: false, serial: SERIAL, software: SOFTWARE },
    ...{ how: 'drove into the shelf', who: 'technician', when: '2026-02-01T12:00:00Z' },
  },
];

let evidence: ReturnType<typeof changing>;
rig.eachHasBench(() => {
  evidence = changing();
  return { evidence, file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } };
});

describe('evidence that is revoked while the daemon runs', () => {
  it.each(['vendor.move.request', 'vendor.move.cancel', 'angles.target-ori', 'angles.tracked-pose-ori'])(
    'of %s closes the gate at once and cancels the current move',
    async (fact) => {
      const { ended } = await rig.begin();
      let notified = 0;
      using _subscription = rig.motion.subscribe(() => {
        notified += 1;
      });
      evidence.set(withLine(fact));
      const reason = expect.stringMatching(new RegExp(`evidence was revoked.*${fact}`));
      expect(await ended).toMatchObject({ state: 'cancelled', reason });
      expect([rig.cancels(), notified]).toEqual([1, 1]);
      expect(rig.status().gate).toMatchObject({
        open: false,
        reasons: expect.arrayContaining([expect.stringContaining(fact)]),
      });
      const says = `${fact} was contradicted on this device`;
      await rig.refused(rig.motion.execute(moveTo(3, 4)), 'MOTION_REFUSED', says);
      expect(rig.moves()).toHaveLength(1);
    },
  );

  it('ends a tour', async () => {
    await rig.motion.startTour('round');
    await rig.ordered();
    evidence.set(withLine('vendor.move.state'));
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('evidence was revoked') });
    expect(rig.moves()).toHaveLength(1);
  });

  it.each(['vendor.move.charge-target', 'vendor.move.cancel'])('of %s ends a drive to the dock', async (fact) => {
    await rig.motion.startDrive({ dock: true });
    await rig.ordered();
    evidence.set(withLine(fact));
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ state: 'stopped', reason: expect.stringContaining(fact) });
    expect(rig.cancels()).toBe(1);
  });

  it('that only docking relies on ends no drive to a station', async () => {
    await rig.motion.startDrive({ station: 'A' });
    await rig.ordered();
    evidence.set(withLine('vendor.move.charge-target'));
    rig.succeed();
    await rig.driveEnded();
    expect([rig.drive()?.state, rig.cancels()]).toEqual(['succeeded', 0]);
  });

  it('cancels no move that does not rely on it', async () => {
    const { ended } = await rig.begin();
    evidence.set(withLine('vendor.pose.request'));
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded' });
    expect(rig.cancels()).toBe(0);
  });

  it('closes the gate and cancels while the file cannot be read, and opens again once it can', async () => {
    const { ended } = await rig.begin();
    evidence.set(recordsFor(), 'The evidence file is a pipe.');
    expect(await ended).toMatchObject({ state: 'cancelled', reason: expect.stringContaining('a pipe') });
    expect(rig.motion.describe?.()).toContain('a pipe');
    evidence.set(recordsFor());
    await rig.bench.stands();
    expect(rig.status().gate.open).toBe(true);
  });

  it('emits no event after the service has ended', async () => {
    await rig.motion.stop();
    let notified = 0;
    using _subscription = rig.motion.subscribe(() => {
      notified += 1;
    });
    evidence.set([]);
    expect(notified).toBe(0);
  });
});
