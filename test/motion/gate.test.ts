import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import type { ChassisSnapshot, LinkState, Planning } from '../../src/lib/chassis/index.ts';
import { chosen, facts, known } from '../../src/lib/evidence/index.ts';
import {
  factsOfOrder,
  type GateInput,
  gateView,
  judgeOrder,
  judgeState,
  refusalError,
} from '../../src/lib/motion/gate.ts';
import type { Order } from '../../src/lib/motion/index.ts';
import { moves, standingNotKnown } from '../chassis/poses.ts';
import { runs } from '../properties.ts';
import { ground, openGate, readySnapshot, received, recordsFor, SERIAL, SOFTWARE, withValues } from './snapshot.ts';

const goal = { xM: 3, yM: 4, yawDeg: degrees(90), map: ground };
const orders: Record<Order['kind'], Order> = {
  move: { kind: 'move', goal: chosen(goal, 'test') },
  dock: { kind: 'dock', goal: chosen(goal, 'test') },
  pose: { kind: 'pose', pose: chosen(goal, 'test') },
};
const kinds = Object.keys(orders) as Order['kind'][];
const tried = { address: '192.0.2.7', port: 8090, forMs: 1500 };

const reasonsOf = (order: Order, input: GateInput) => judgeOrder(order, input).map(({ reason }) => reason);
const withLink = (link: LinkState) => openGate({ snapshot: readySnapshot({ link }) });
/** As a JSON body or a cast would bypass the compiler. */
const forged = (mark: unknown, value: unknown = goal, more: object = {}) =>
  ({ kind: 'move', goal: { value, mark, basis: 'measured', source: 'test', ...more } }) as unknown as Order;

describe('the open gate', () => {
  it.each(kinds)('passes a %s order whose values a person chose', (kind) => {
    expect(judgeOrder(orders[kind], openGate())).toEqual([]);
    expect(gateView(judgeState(kind, openGate()))).toEqual({ open: true, reasons: [] });
  });
});

describe('the connection', () => {
  const away = { kind: 'not-connected', tried } as const;
  const cases: [string, LinkState, string, RegExp][] = [
    ['connecting', { kind: 'connecting', tried }, 'CHASSIS_NOT_CONNECTED', /not connected yet.*192\.0\.2\.7:8090/],
    [
      'away',
      { ...away, failure: 'refused', detail: 'x' },
      'CHASSIS_NOT_CONNECTED',
      /not connected: x.*192\.0\.2\.7:8090/,
    ],
    [
      'booting',
      { kind: 'booting', progress: 0.5, step: null, tried },
      'CHASSIS_BOOTING',
      /192\.0\.2\.7:8090.*starting/,
    ],
    [
      'another device',
      { ...away, failure: 'wrong-device', detail: 'x', foundSerial: 'OTHER-9' },
      'CHASSIS_WRONG_DEVICE',
      /OTHER-9.*TEST-0001/,
    ],
  ];
  it.each(cases)('%s is a refusal that names the address or the device', (_, link, code, text) => {
    for (const kind of kinds) {
      const [first] = judgeOrder(orders[kind], withLink(link));
      expect(first).toMatchObject({ code, reason: expect.stringMatching(text) });
      if (first === undefined || link.kind !== 'connecting') continue;
      expect(refusalError([first])?.tried).toEqual(tried);
    }
  });

  it('refuses a chassis with another serial number even when it is connected', () => {
    const snapshot = readySnapshot({
      identity: { serial: 'OTHER-9', model: null, software: SOFTWARE, capabilities: {} },
    });
    const refusals = judgeOrder(orders.move, openGate({ snapshot, records: recordsFor('OTHER-9') }));
    expect(refusals.map(({ code }) => code)).toEqual(['CHASSIS_WRONG_DEVICE']);
  });

  it('refuses while the serial number is unknown', () => {
    const reasons = reasonsOf(orders.move, openGate({ snapshot: readySnapshot({ identity: null }) }));
    expect(reasons[0]).toMatch(/serial number/);
  });
});

describe('the stop', () => {
  it('refuses every kind, as the first reason, with person and reason', () => {
    const stop = { latched: true, reason: 'person in the way', by: 'tablet', since: '2026-01-31T12:00:00.000Z' };
    for (const kind of kinds) {
      const refusals = judgeOrder(orders[kind], openGate({ stop, snapshot: readySnapshot({ identity: null }) }));
      expect(refusals[0]).toMatchObject({ code: 'MOTION_STOPPED' });
      expect(refusals[0]?.reason).toMatch(/tablet.*person in the way/);
      expect(refusals.length).toBeGreaterThan(1);
    }
  });

  it('refuses while an earlier cancel has not been confirmed', () => {
    expect(reasonsOf(orders.move, openGate({ isCancelPending: true }))).toEqual([
      expect.stringMatching(/cancel of an earlier order/),
    ]);
  });
});

describe('the unit of the heading', () => {
  const seam = 'the heading passed the seam at ±π and stayed within ±π, as radians of a turning robot do';
  const misfits = 'the robot drove 6 different courses that fit its heading read neither as degrees nor as radians';
  const unit = (over: object) => ({ poseUnit: { ...readySnapshot().poseUnit, samples: 240, largest: 3.14, ...over } });
  const undecided = (doubt: string | null, over: object = {}) =>
    unit({ verdict: 'not-decided', reason: doubt ?? 'it stood', doubt, ...over });
  const radians = unit({ verdict: 'radians', reason: 'a full turn stayed inside ±π' });

  it.each<[string, Partial<ChassisSnapshot>, RegExp[]]>([
    [
      'radians are proven, with the fact and the observation',
      { ...radians, unitContradicted: true },
      [/angles\.tracked-pose-ori.*a full turn stayed inside ±π \(240 samples, largest \|ori\| 3\.14\)/],
    ],
    ['they were proven once, whatever later samples show', { unitContradicted: true }, [/angles\.tracked-pose-ori/]],
    [
      'it is in doubt, with the reason',
      undecided(seam),
      [
        /^angles\.tracked-pose-ori \(BELEGT: degrees\).*in doubt on this chassis: the heading passed.*\(240 samples.*two full circles/,
      ],
    ],
    [
      'the heading fits no course, with the advice to drive courses instead of a turn',
      undecided(misfits, { misfit: true }),
      [/in doubt .* neither as degrees nor as radians .* six different courses and compare/],
    ],
  ])('closes the gate for every kind where %s', (_where, over, expected) => {
    for (const kind of kinds) {
      expect(reasonsOf(orders[kind], openGate({ snapshot: readySnapshot(over) }))).toEqual(
        expected.map((text) => expect.stringMatching(text)),
      );
    }
  });

  it('may be undecided without a doubt, as with a robot at rest', () => {
    for (const kind of kinds) {
      expect(reasonsOf(orders[kind], openGate({ snapshot: readySnapshot(undecided(null)) }))).toEqual([]);
    }
  });
});

describe('the state of the robot', () => {
  it('refuses while the emergency stop is pressed, also when that was received long ago', () => {
    for (const stale of [false, true]) {
      const over = { stale, ageMs: stale ? 60_000 : 10 };
      const wheels = received({ controlMode: 'auto', emergencyStopPressed: true }, over);
      for (const kind of kinds) {
        expect(reasonsOf(orders[kind], openGate({ snapshot: withValues({ wheels }) }))).toEqual([
          expect.stringMatching(/emergency stop/),
        ]);
      }
    }
  });

  it('refuses driving with a lost position, but permits the pose order that repairs it', () => {
    const snapshot = withValues({
      positioning: received({ state: 'positioning', reliable: false }),
      pose: { status: 'not-received' },
    });
    expect(reasonsOf(orders.move, openGate({ snapshot }))).toHaveLength(2);
    expect(reasonsOf(orders.dock, openGate({ snapshot }))).toHaveLength(2);
    expect(reasonsOf(orders.pose, openGate({ snapshot }))).toEqual([]);
  });

  it.each([
    ['3000 ms old', { ageMs: 3_000 }, true],
    ['older than 3 s', { ageMs: 3_001 }, false],
    ['of unknown age', { ageMs: Number.NaN }, false],
    ['stale', { ageMs: 10, stale: true }, false],
  ])('a pose that is %s', (_, over, passes) => {
    const snapshot = withValues({ pose: received({ xM: 0, yM: 0, yawDeg: degrees(0) }, over) });
    expect(judgeOrder(orders.move, openGate({ snapshot })).length === 0).toBe(passes);
  });

  it('refuses a pose order while the robot drives', () => {
    const planning = received({ actionId: 1, actionType: 'standard', moveState: 'moving' } as Planning);
    expect(reasonsOf(orders.pose, openGate({ snapshot: withValues({ planning }) }))).toEqual([
      expect.stringMatching(/driving/),
    ]);
  });

  it('ignores vendor topics that were not received', () => {
    const snapshot = withValues({ wheels: { status: 'not-received' }, positioning: { status: 'not-received' } });
    expect(judgeOrder(orders.move, openGate({ snapshot }))).toEqual([]);
  });
});

describe('the facts that an order relies on', () => {
  it('are refused when the chassis does not report its software', () => {
    const snapshot = readySnapshot({ identity: { serial: SERIAL, model: null, software: null, capabilities: {} } });
    expect(judgeOrder(orders.move, openGate({ snapshot }))).not.toEqual([]);
  });

  it('are never VORSICHT or OFFEN', () => {
    const marks = new Map<string, string>(facts.map(({ id, mark }) => [id, mark]));
    for (const id of Object.values(factsOfOrder).flat()) expect(['BELEGT', 'HINWEIS']).toContain(marks.get(id));
  });
});

describe('the values of an order', () => {
  it('pass only as BELEGT, chosen, or verified for this serial and software', { tags: 'property' }, () => {
    const mark = fc.oneof(
      fc.constantFrom('BELEGT', 'CHOSEN', 'VERIFIED', 'VORSICHT', 'OFFEN', 'HINWEIS', 'belegt', ''),
      fc.anything(),
    );
    const device = fc.record({
      serial: fc.oneof(fc.constant(SERIAL), fc.string()),
      software: fc.oneof(fc.constant(SOFTWARE), fc.string()),
    });
    fc.assert(
      fc.property(mark, device, (found, more) => {
        const allowed =
          found === 'BELEGT' ||
          found === 'CHOSEN' ||
          (found === 'VERIFIED' && more.serial === SERIAL && more.software === SOFTWARE);
        expect(judgeOrder(forged(found, goal, more), openGate()).length === 0).toBe(allowed);
      }),
      { numRuns: runs(500) },
    );
  });

  it('are refused with their mark', () => {
    expect(reasonsOf(forged('VORSICHT'), openGate())).toEqual([expect.stringMatching(/VORSICHT/)]);
    const other = forged('VERIFIED', goal, { serial: 'OTHER-9', software: SOFTWARE });
    expect(reasonsOf(other, openGate())).toEqual([expect.stringMatching(/OTHER-9/)]);
  });

  it('are metres within 10 km and a heading within a full turn', { tags: 'property' }, () => {
    const number = fc.oneof(fc.double({ min: -20_000, max: 20_000 }), fc.double({ min: -400, max: 400 }), fc.double());
    fc.assert(
      fc.property(number, number, number, (xM, yM, yawDeg) => {
        const sound = Math.abs(xM) <= 10_000 && Math.abs(yM) <= 10_000 && Math.abs(yawDeg) <= 360;
        expect(judgeOrder(forged('CHOSEN', { xM, yM, yawDeg, map: ground }), openGate()).length === 0).toBe(sound);
      }),
    );
  });

  it('may be of any form without the gate throwing or opening', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (kind, carried) => {
        const order = { kind, goal: carried, pose: carried } as unknown as Order;
        expect(judgeOrder(order, openGate())).not.toEqual([]);
      }),
    );
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(judgeOrder(forged('CHOSEN', value ?? null), openGate())).not.toEqual([]);
      }),
    );
  });

  it('need no heading for a move, but for a dock and a pose', () => {
    const place = { value: { xM: 1, yM: 1, map: ground }, mark: 'CHOSEN', source: 'test' };
    expect(judgeOrder({ kind: 'move', goal: place } as Order, openGate())).toEqual([]);
    expect(judgeOrder({ kind: 'dock', goal: place } as unknown as Order, openGate())).toHaveLength(1);
    expect(judgeOrder({ kind: 'pose', pose: place } as unknown as Order, openGate())).toHaveLength(1);
  });
});

describe('the refusal', () => {
  it('contains every reason, with the code of the first to be resolved', () => {
    const stop = { latched: true, reason: 'drill', by: 'test', since: null };
    const input = openGate({
      stop,
      records: [],
      snapshot: readySnapshot({ link: { kind: 'connecting', tried }, unitContradicted: true }),
    });
    const open = { kind: 'move', goal: known(goal, 'OFFEN', 'not-shown', 'test') } as unknown as Order;
    const refusals = judgeOrder(open, input);
    const error = refusalError(refusals);
    if (error === null) throw new Error('expected a refusal');
    expect(error.code).toBe('MOTION_STOPPED');
    expect(error.details?.reasons).toHaveLength(refusals.length);
    for (const { reason } of refusals) expect(error.message).toContain(reason);
    expect(refusals.length).toBeGreaterThanOrEqual(6);
  });
});

describe('a robot that was cancelled, or moves', () => {
  const proof = { reason: 'r', acknowledged: true, forMs: 1 };

  it.each(['move', 'dock', 'pose'] as const)('takes no order to %s until it was seen to stand', (kind) => {
    const reasons = (over: Parameters<typeof openGate>[0]) =>
      judgeState(kind, openGate(over)).map(({ reason }) => reason);
    expect(reasons({ stopProof: { ...proof, verdict: 'awaited' } })).toEqual([
      'The robot was cancelled, and its poses do not show yet that it stands: r.',
    ]);
    expect(reasons({ stopProof: { ...proof, verdict: 'drives-on' } })).toEqual([
      expect.stringMatching(/^THE ROBOT DOES NOT STOP .* PRESS THE EMERGENCY STOP/),
    ]);
    const moving = readySnapshot({ standing: moves });
    expect(reasons({ snapshot: moving })).toEqual([expect.stringMatching(/^The robot moves: it moves at 0\.10 m\/s/)]);
    expect(reasons({ snapshot: moving, isUnderWay: true })).toEqual([]);
    expect(reasons({ snapshot: readySnapshot({ standing: standingNotKnown }) })).toEqual([]);
  });
});
