import { describe, expect, it } from 'vitest';
import { degrees } from '../../../src/lib/angle/index.ts';
import { chosen, type EvidenceRecord } from '../../../src/lib/evidence/index.ts';
import type { GateInput } from '../../../src/lib/motion/gate.ts';
import type { Order } from '../../../src/lib/motion/index.ts';
import { type TrialConditions, type TrialKind, trialKinds } from '../../../src/lib/motion/index.ts';
import { judgeTrial, type TrialOrder } from '../../../src/lib/motion/trial/gate.ts';
import { ground, openGate, readySnapshot, received, recordsFor, SERIAL, SOFTWARE, withValues } from '../snapshot.ts';

const onSite: TrialConditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
/** The robot of these tests is at 1 m, 2 m. */
const at = (wayM: number) => chosen({ xM: 1, yM: 2 + wayM, yawDeg: degrees(90), map: ground }, 'test');
const orderOf: Record<TrialKind, (wayM: number) => Order> = {
  stop: (wayM) => ({ kind: 'move', goal: at(wayM) }),
  move: (wayM) => ({ kind: 'move', goal: at(wayM) }),
  dock: (wayM) => ({ kind: 'dock', goal: at(wayM) }),
  pose: () => ({ kind: 'pose', pose: at(0) }),
};
const reasons = (of: TrialKind, over: Partial<GateInput> = {}, more: Partial<TrialOrder> = {}) =>
  judgeTrial({ kind: 'trial', of, order: orderOf[of](0.8), conditions: onSite, ...more }, openGate(over)).map(
    ({ reason }) => reason,
  );
const record = (fact: string, value: EvidenceRecord['value']): EvidenceRecord => ({
  ...{ fact, value, serial: SERIAL, software: SOFTWARE },
  ...{ how: 'watched', who: 'technician', when: '2026-02-01T12:00:00Z' },
});
const without = (...facts: string[]) => recordsFor().filter(({ fact }) => !facts.includes(fact));
const driving: readonly TrialKind[] = ['stop', 'move', 'dock'];

describe('the gate of a trial', () => {
  it.each(trialKinds)('passes a %s with a person on site and a robot at rest', (of) => {
    expect(reasons(of)).toEqual([]);
  });

  it.each(Object.keys(onSite) as (keyof TrialConditions)[])('requires %s, as literal true', (name) => {
    for (const value of [undefined, false, 1, 'true', null]) {
      const conditions = { ...onSite, [name]: value } as TrialConditions;
      for (const of of trialKinds) expect(reasons(of, {}, { conditions }), of).toHaveLength(1);
    }
  });

  it('passes one without a person only where the chassis reports that it is simulated', () => {
    const conditions: TrialConditions = { unattended: true };
    const identity = (model: string | null) => ({
      snapshot: readySnapshot({ identity: { serial: SERIAL, model, software: SOFTWARE, capabilities: {} } }),
    });
    for (const model of ['m1', 'Simulated robot', '', null]) {
      expect(reasons('stop', identity(model), { conditions }), String(model)).toEqual([
        expect.stringContaining('without a person'),
      ]);
    }
    expect(reasons('stop', { snapshot: readySnapshot({ identity: null }) }, { conditions })).toEqual(
      expect.arrayContaining([expect.stringContaining('without a person')]),
    );
    expect(reasons('stop', identity('simulated'), { conditions })).toEqual([]);
  });

  it.each(driving)('passes no %s over more than a metre, and no stop over more than two', (of) => {
    const mostM = of === 'stop' ? 2 : 1;
    expect(reasons(of, {}, { order: orderOf[of](mostM) })).toEqual([]);
    for (const wayM of [mostM + 0.05, 2.5, 30, -mostM - 0.05]) {
      expect(reasons(of, {}, { order: orderOf[of](wayM) })).toEqual([expect.stringContaining(`at most ${mostM} m`)]);
    }
  });

  it.each(driving)('passes no %s while the robot drives or does not drive by itself', (of) => {
    const plan = { actionId: 7, actionType: 'standard', failReason: 0, failReasonText: '' };
    const planning = received({ ...plan, moveState: 'moving' }) as never;
    expect(reasons(of, { snapshot: withValues({ planning }) })).toEqual([expect.stringContaining('is driving')]);
    for (const wheels of [
      { controlMode: 'manual', emergencyStopPressed: false },
      { controlMode: 'auto', emergencyStopPressed: true },
      { controlMode: 'auto', emergencyStopPressed: false, wheelsReleased: true },
    ]) {
      expect(reasons(of, { snapshot: withValues({ wheels: received(wheels) as never }) })).toHaveLength(1);
    }
    const lost = withValues({ positioning: received({ state: 'positioning', reliable: false }) as never });
    expect(reasons(of, { snapshot: lost })).toHaveLength(1);
  });

  it('closes for every reason that closes it for orders: a stop, a disk, a cancel, another move, a file', () => {
    const closed: readonly Partial<GateInput>[] = [
      { stop: { latched: true, reason: 'drill', by: 'tablet', since: null } },
      { keepingTrouble: { reason: 'The disk is full.', remedy: 'Free disk space.' } },
      { isCancelPending: true },
      { unownedMove: { moveId: 7, type: 'standard', isBeingCancelled: false } },
      { isMoveAwaited: true },
      { evidenceTrouble: 'The evidence file is a pipe.' },
    ];
    for (const of of trialKinds) for (const over of closed) expect(reasons(of, over)).toHaveLength(1);
  });

  it.each<[TrialKind, readonly string[], readonly string[]]>([
    ['stop', ['vendor.move.request', 'vendor.move.state', 'vendor.move.cancel'], []],
    ['move', ['vendor.move.request', 'vendor.move.state'], ['vendor.move.cancel']],
    ['pose', ['vendor.pose.request'], []],
    ['dock', ['vendor.move.charge-target'], ['vendor.move.request', 'vendor.move.state', 'vendor.move.cancel']],
  ])('of a %s permits its own unverified facts, no other ones, and no contradicted ones', (of, own, needed) => {
    expect(reasons(of, { records: without(...own) })).toEqual([]);
    for (const fact of needed) {
      expect(reasons(of, { records: without(fact) })).toEqual([expect.stringContaining(`${fact} is from a vendor`)]);
    }
    for (const fact of [...own, ...needed, 'angles.tracked-pose-ori']) {
      const records = [...recordsFor(), record(fact, true), record(fact, false)];
      expect(reasons(of, { records })).toEqual([expect.stringContaining(`${fact} was contradicted on this device`)]);
    }
  });

  it('passes none on a chassis without a software version: a record counts for one version', () => {
    const identity = { serial: SERIAL, model: 'm1', software: null, capabilities: {} };
    expect(reasons('stop', { snapshot: readySnapshot({ identity }) })).toEqual([
      expect.stringContaining('software version'),
    ]);
  });
});
