import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { chosen, type EvidenceRecord, factById, known } from '../../src/lib/evidence/index.ts';
import { type GateInput, judgeOrder } from '../../src/lib/motion/gate.ts';
import { factsOfOrder, type Order } from '../../src/lib/motion/index.ts';
import { ground, openGate, readySnapshot, recordsFor, SERIAL, SOFTWARE } from './snapshot.ts';

/**
 * Written by hand from the fields that each kind of order sends and reads: `target_ori`, `ori` of a pose, the heading
 * that is read back, and the vendor calls. Not derived from the gate, so that a fact missing in the gate is detected.
 */
const angles = ['angles.tracked-pose-ori', 'angles.target-ori'];
const driving = [...angles, 'vendor.move.request', 'vendor.move.state', 'vendor.move.cancel'];
const relied: Record<Order['kind'], readonly string[]> = {
  move: driving,
  dock: [...driving, 'vendor.move.charge-target'],
  pose: ['angles.tracked-pose-ori', 'angles.pose-ori', 'vendor.pose.request'],
};
const kinds = Object.keys(relied) as Order['kind'][];
const goal = { xM: 3, yM: 4, yawDeg: degrees(90), map: ground };
const orders: Record<Order['kind'], Order> = {
  move: { kind: 'move', goal: chosen(goal, 'test') },
  dock: { kind: 'dock', goal: chosen(goal, 'test') },
  pose: { kind: 'pose', pose: chosen(goal, 'test') },
};
const rows = Object.entries(relied).flatMap(([kind, ids]) =>
  ids.map((id) => [kind as Order['kind'], id, ids.filter((other) => other !== id)] as const),
);
const record = (fact: string, value: EvidenceRecord['value'], more: Partial<EvidenceRecord> = {}): EvidenceRecord => ({
  ...{ fact, value, serial: SERIAL, software: SOFTWARE },
  ...{ how: 'watched', who: 'technician', when: '2026-02-01T12:00:00Z' },
  ...more,
});
const reasonsOf = (kind: Order['kind'], over: Partial<GateInput>) =>
  judgeOrder(orders[kind], openGate(over)).map(({ reason }) => reason);
const verified = (ids: readonly string[]) => ids.map((id) => record(id, true));
const asking = { chassis: { serial: SERIAL }, motion: { requireVerified: true } };

describe('the facts of each kind of order', () => {
  it('are exactly those of the table', () => {
    for (const [kind, ids] of Object.entries(relied)) {
      expect([...factsOfOrder[kind as Order['kind']]].sort(), kind).toEqual([...ids].sort());
    }
  });

  it.each(rows)(
    'a %s is refused when %s was contradicted on this device, or is the only one not verified',
    (kind, id, others) => {
      const name = id.replaceAll('.', '\\.');
      const against = [...verified(others), record(id, true), record(id, false)];
      expect(reasonsOf(kind, { records: against })).toEqual([
        expect.stringMatching(new RegExp(`^${name} was contradicted on this device`)),
      ]);
      // Where requireVerified is set.
      const [reason, ...more] = reasonsOf(kind, { site: asking, records: verified(others) });
      expect(more).toEqual([]);
      expect(reason).toMatch(new RegExp(`^${name} `));
      if (factById(id).mark === 'BELEGT') {
        expect(reason).toMatch(/on another device or version.*motion\.requireVerified/);
      }
      for (const other of [record(id, true, { software: '2.12.2' }), record(id, true, { serial: 'OTHER-9' })]) {
        expect(reasonsOf(kind, { site: asking, records: [...verified(others), other] })).toHaveLength(1);
      }
    },
  );

  it.each(kinds)(
    'a %s passes once all were verified on this device, and by default where measured on another',
    (kind) => {
      expect(reasonsOf(kind, { site: asking, records: verified(relied[kind]) })).toEqual([]);
      expect(reasonsOf(kind, { records: recordsFor() })).toEqual([]);
      // The vendor's own description alone verifies nothing.
      const noted = relied[kind].filter((id) => id.startsWith('vendor.'));
      const reasons = reasonsOf(kind, { records: [] });
      expect(reasons).toHaveLength(noted.length);
      for (const id of noted) expect(reasons.join('\n')).toContain(id);
    },
  );
});

describe('a fact stated beside a measurement', () => {
  it.each(['move', 'dock'] as const)(
    'does not permit a %s once that measurement was contradicted on this device',
    (kind) => {
      const against = record('angles.target-ori-in-degrees', false);
      expect(reasonsOf(kind, { records: [...recordsFor(), against] })).toEqual([
        expect.stringContaining('angles.target-ori is stated and rests on angles.target-ori-in-degrees'),
      ]);
      const held = record('angles.target-ori', 'radians');
      expect(reasonsOf(kind, { records: [...recordsFor(), against, held] })).toEqual([]);
    },
  );
});

describe('records made on a simulator', () => {
  const simulated = recordsFor().map((made) => ({ ...made, simulated: true as const }));
  const identity = (model: string | null) =>
    readySnapshot({ identity: { serial: SERIAL, model, software: SOFTWARE, capabilities: {} } });

  it.each(kinds)('do not open the gate for a %s of a robot that has their serial', (kind) => {
    for (const model of ['m1', null, '']) {
      expect(reasonsOf(kind, { records: simulated, snapshot: identity(model) }).length).toBeGreaterThan(0);
    }
    expect(reasonsOf(kind, { records: simulated, snapshot: identity('simulated') })).toEqual([]);
  });
});

describe('an evidence file that cannot be read', () => {
  it.each(kinds)('closes the gate for a %s, also for BELEGT facts', (kind) => {
    expect(reasonsOf(kind, { evidenceTrouble: 'The evidence file is a pipe.' })).toEqual([
      'The evidence file is a pipe.',
    ]);
  });
});

describe('a goal that is BELEGT', () => {
  const carrying = (basis: unknown) =>
    ({ kind: 'move', goal: { ...known(goal, 'BELEGT', 'measured', 'test'), basis } }) as unknown as Order;

  it('moves nothing unless it was measured on a device', () => {
    expect(judgeOrder(carrying('measured'), openGate())).toEqual([]);
    expect(judgeOrder(carrying('here'), openGate())).toEqual([]);
    for (const basis of ['stated', 'simulated', 'vendor', undefined, null, {}]) {
      expect(judgeOrder(carrying(basis), openGate()), String(basis)).toHaveLength(1);
    }
  });

  it('must be measured on this device where the site file requires it', () => {
    const input = openGate({ site: asking, records: verified(relied.move) });
    expect(judgeOrder(carrying('here'), input)).toEqual([]);
    expect(judgeOrder(carrying('measured'), input)).toHaveLength(1);
    expect(judgeOrder(orders.move, input)).toEqual([]);
  });
});
