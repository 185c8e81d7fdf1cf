import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import { judgeOrder, refusalError } from '../../src/lib/motion/gate.ts';
import { factsDecidedBy, type Order, trialKinds } from '../../src/lib/motion/index.ts';
import { trialOfFact, verifyRemedy } from '../../src/lib/motion/verify-remedy.ts';
import { ground, openGate, recordsFor } from './snapshot.ts';

const goal = chosen({ xM: 3, yM: 4, yawDeg: degrees(90), map: ground }, 'test');
const remedyOf = (order: Order, over: Parameters<typeof openGate>[0]) =>
  refusalError(judgeOrder(order, openGate(over)))?.remedy;

describe('the remedy of a refused order', () => {
  it('names the trials that verify what the order lacks, the cancel first', () => {
    expect(remedyOf({ kind: 'move', goal }, { records: [] })).toBe(
      'Verify what is not verified on this device by these trials, in this order, with a hand on the emergency stop: `gw evidence verify stop`, `gw evidence verify move`. Other reasons above name their state.',
    );
    const moves = recordsFor().filter(({ fact }) => fact !== 'vendor.move.charge-target');
    expect(remedyOf({ kind: 'dock', goal }, { records: moves })).toContain(': `gw evidence verify dock`. ');
    expect(remedyOf({ kind: 'pose', pose: goal }, { records: [] })).toContain('`gw evidence verify pose`');
  });

  it('names no trial for a fact that was contradicted, which a trial does not repair', () => {
    const records = recordsFor().map((record) =>
      record.fact === 'vendor.move.cancel' ? { ...record, value: false } : record,
    );
    const remedy = remedyOf({ kind: 'move', goal }, { records });
    expect(remedy).toBeDefined();
    expect(remedy).not.toContain('gw evidence verify');
  });

  it('names no trial while the robot is stopped', () => {
    const stop = { latched: true, reason: 'fire alarm', by: null, since: null };
    expect(remedyOf({ kind: 'move', goal }, { records: [], stop })).toContain('gw motion clear');
  });

  it('knows the trial of every fact that a trial decides, in the order of the trials', () => {
    for (const kind of trialKinds) {
      for (const id of factsDecidedBy[kind]) expect(trialOfFact[id], id).toBe(kind);
    }
    const decided = new Set<string>(trialKinds.flatMap((kind) => factsDecidedBy[kind]));
    expect(Object.keys(trialOfFact).filter((id) => !decided.has(id))).toEqual([]);
    expect([...new Set(Object.values(trialOfFact))]).toEqual(['stop', 'move', 'dock', 'pose']);
    expect(verifyRemedy([])).toBeUndefined();
  });
});
