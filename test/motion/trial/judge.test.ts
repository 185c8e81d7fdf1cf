import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../../src/lib/angle/index.ts';
import type { PoseUnit } from '../../../src/lib/chassis/index.ts';
import type { TrialFinding } from '../../../src/lib/motion/index.ts';
import { isTelling } from '../../../src/lib/motion/trial/judge/heading.ts';
import { judgeMove, type MoveSeen } from '../../../src/lib/motion/trial/judge/move.ts';
import { restSince } from '../../../src/lib/motion/trial/judge/numbers.ts';
import { planTrial } from '../../../src/lib/motion/trial/plan.ts';
import { isFull } from '../../properties.ts';
import { ground } from '../snapshot.ts';
import { type Encoding, encodings, type RobotModel, samplesOf } from './robot-model.ts';

const sane: RobotModel = {
  ...{ encoding: 'degrees within 180', appliesTarget: 'radians', turns: 0, xM: 1, yM: -2, startDeg: 100 },
  ...{ isBackwards: false, speedMS: 0.4, turnDegS: 60, everyMs: 100, stall: null, noiseM: 0, noiseDeg: 0 },
  ...{ jump: null, drives: 'to the goal', endsOffDeg: 0 },
};

/** The trial as planned and judged; null where the gateway would not have ordered a move. */
function judged(
  robot: RobotModel,
  options: {
    distanceM?: number;
    towardsDeg?: number;
    chance?: () => number;
    unit?: PoseUnit;
    change?: Partial<MoveSeen>;
  } = {},
) {
  const { distanceM = 0.8, towardsDeg, chance = () => 0.5 } = options;
  const ori = encodings[robot.encoding](robot.startDeg, robot.turns);
  const asked = { kind: 'move', who: 'x', conditions: { unattended: true }, distanceM, towardsDeg } as const;
  const order = planTrial(
    asked,
    { ...robot, ori, map: ground },
    { path: 'site.yaml', maps: {}, chassis: { host: '127.0.0.1', port: 1, serial: 'SN0001' } },
  );
  if (order.kind !== 'move' || order.goal.value.yawDeg === undefined) throw new Error('a move with a heading');
  const { xM, yM, yawDeg } = order.goal.value;
  const samples = samplesOf(robot, { xM, yM, yawDeg, sent: (degrees(yawDeg) * Math.PI) / 180 }, chance);
  const poseUnit = options.unit ?? (robot.encoding.startsWith('radians') ? 'radians' : 'degrees');
  const start = restSince({ poses: samples.poses.filter(({ atMs }) => atMs < samples.sentAtMs), unit: poseUnit }).rest;
  if (start === null) return null;
  return judgeMove({
    ...samples,
    goal: { xM, yM, yawDeg },
    start,
    end: restSince({ poses: samples.poses, unit: poseUnit, sinceMs: samples.endedAtMs }).rest,
    outcome: { state: 'succeeded', failReason: null, reason: null },
    readWhileMoving: 'moving',
    readAfter: 'succeeded',
    ...options.change,
  });
}

const verdictOf = (findings: readonly TrialFinding[] | null, fact: string) =>
  findings?.find((finding) => finding.fact === fact)?.verdict;
const [unit, target, request, state] = [
  'angles.tracked-pose-ori',
  'angles.target-ori',
  'vendor.move.request',
  'vendor.move.state',
];
const isDegrees = (encoding: Encoding) => encoding.startsWith('degrees');

const model: fc.Arbitrary<RobotModel> = fc.record({
  encoding: fc.constantFrom(...(Object.keys(encodings) as Encoding[])),
  appliesTarget: fc.constantFrom('radians', 'degrees', 'not at all'),
  turns: fc.integer({ min: -60, max: 60 }),
  xM: fc.double({ min: -50, max: 50, noNaN: true }),
  yM: fc.double({ min: -50, max: 50, noNaN: true }),
  startDeg: fc.double({ min: -180, max: 180, noNaN: true }),
  isBackwards: fc.boolean(),
  speedMS: fc.double({ min: 0.1, max: 1.2, noNaN: true }),
  turnDegS: fc.double({ min: 15, max: 150, noNaN: true }),
  everyMs: fc.constantFrom(30, 50, 100, 200, 500, 1_000),
  stall: fc.option(
    fc.record({ atMs: fc.integer({ min: 9_000, max: 14_500 }), forMs: fc.integer({ min: 100, max: 3_000 }) }),
  ),
  noiseM: fc.double({ min: 0, max: 0.02, noNaN: true }),
  noiseDeg: fc.double({ min: 0, max: 2, noNaN: true }),
  jump: fc.option(
    fc.record({
      atMs: fc.integer({ min: 9_100, max: 15_500 }),
      byM: fc.double({ min: -1, max: 1, noNaN: true }),
      byDeg: fc.double({ min: -180, max: 180, noNaN: true }),
      turns: fc.integer({ min: -60, max: 60 }),
    }),
  ),
  endsOffDeg: fc.constant(0),
  drives: fc.constantFrom('to the goal', 'to the goal', 'to the goal', 'not at all', 'half the way'),
});

describe('the judge of a move', () => {
  it.each(Object.keys(encodings) as Encoding[])('a robot that reports %s', (encoding) => {
    for (const isBackwards of [false, true]) {
      const findings = judged({ ...sane, encoding, isBackwards });
      const unlike = encoding.startsWith('gradians') ? 'not-decided' : 'differs';
      const expected = isDegrees(encoding) ? 'holds' : unlike;
      expect([isBackwards, verdictOf(findings, unit)]).toEqual([isBackwards, expected]);
      expect(verdictOf(findings, target)).toBe(isDegrees(encoding) ? 'holds' : 'not-decided');
    }
  });

  it('a robot that reports gradians verifies nothing on any course that a trial takes', () => {
    for (const encoding of ['gradians within 200', 'gradians from 0 to 400'] as const) {
      for (const isBackwards of [false, true]) {
        for (const towardsDeg of [30, 45, 70, 110, 135, 150, -30, -45, -70, -110, -135, -150]) {
          for (const startDeg of [-170, -80, 10, 100]) {
            const findings = judged({ ...sane, encoding, isBackwards, startDeg }, { towardsDeg });
            const found = [unit, target].map((fact) => verdictOf(findings, fact));
            expect([encoding, isBackwards, towardsDeg, startDeg, ...found]).toEqual([
              ...[encoding, isBackwards, towardsDeg, startDeg, 'not-decided', 'not-decided'],
            ]);
          }
        }
      }
    }
  });

  it('an end more than the tolerance of an order off its heading is a miss', () => {
    const facts = (offDeg: number) => {
      const robot: RobotModel = { ...sane, endsOffDeg: offDeg };
      return [unit, target, request, state].map((fact) => verdictOf(judged(robot), fact));
    };
    expect(facts(4)).toEqual(['holds', 'holds', 'holds', 'holds']);
    expect(facts(14)).toEqual(['holds', 'not-decided', 'not-decided', 'not-decided']);
    expect(facts(-14)).toEqual(['holds', 'not-decided', 'not-decided', 'not-decided']);
  });

  it('a heading that counts clockwise contradicts the report, and is not blamed on target_ori', () => {
    for (const isBackwards of [false, true]) {
      const findings = judged({ ...sane, encoding: 'clockwise degrees', isBackwards });
      expect(findings?.[0]).toMatchObject({
        ...{ verdict: 'differs', value: 'degrees clockwise' },
        why: expect.stringContaining('counted clockwise'),
      });
      expect(findings?.[1]).toMatchObject({ fact: target, verdict: 'not-decided' });
    }
  });

  it('names both explanations on a course that cannot distinguish a clockwise heading from driving backwards', () => {
    for (const encoding of ['clockwise degrees', 'degrees within 180'] as const) {
      for (const isBackwards of [false, true]) {
        const findings = judged({ ...sane, encoding, isBackwards }, { towardsDeg: 90 });
        expect(findings?.[0]).toMatchObject({
          verdict: 'not-decided',
          why: expect.stringMatching(/counts clockwise cannot be distinguished from a robot that drives backwards/),
        });
        expect(findings?.[1]).toMatchObject({ fact: target, verdict: 'not-decided' });
      }
    }
  });

  it('names both explanations where the end does not fit a clockwise heading', () => {
    const findings = judged({ ...sane, encoding: 'clockwise degrees', appliesTarget: 'not at all' });
    expect(findings?.[0]).toMatchObject({
      verdict: 'not-decided',
      why: expect.stringMatching(/counts clockwise, or the robot drove across its heading/),
    });
  });

  it('excludes courses near 0 or 180 degrees, where a chassis that drives backwards reports a small number', () => {
    expect([0, 12, -20, 160, 180, -175, 350].map(isTelling)).toEqual(Array(7).fill(false));
    expect([45, -45, 90, -90, 135, -135, 30, 150].map(isTelling)).toEqual(Array(8).fill(true));
  });

  it('a heading that was read as degrees, or ignored, is detected at the end', () => {
    const turned = { towardsDeg: 45 };
    expect(judged({ ...sane, appliesTarget: 'degrees', startDeg: -80 }, turned)?.[1]).toMatchObject({
      verdict: 'differs',
      value: 'degrees',
    });
    expect(judged({ ...sane, appliesTarget: 'not at all', startDeg: -80 }, turned)?.[1]).toMatchObject({
      verdict: 'differs',
      value: 'not radians',
    });
  });

  it('the unit is not decided by messages that arrive once a second', () => {
    expect(verdictOf(judged({ ...sane, everyMs: 1_000 }), unit)).toBe('not-decided');
  });

  it('a success reported without movement verifies no state', () => {
    const findings = judged({ ...sane, drives: 'not at all' });
    expect([unit, target, request, state].map((fact) => verdictOf(findings, fact))).toEqual([
      'not-decided',
      'not-decided',
      'not-decided',
      'differs',
    ]);
  });

  it('names the report of the chassis on a move that failed before the robot drove, and the remedy', () => {
    const reason = "The chassis reports the move as failed: fail_reason 2 (chassis text 'path blocked').";
    const outcome = { state: 'failed', failReason: 2, reason } as const;
    const failed = { change: { outcome, readWhileMoving: null, readAfter: 'failed' } };
    const why = (robot: RobotModel) => judged(robot, failed)?.find(({ fact }) => fact === request)?.why;
    expect(why({ ...sane, drives: 'not at all' })).toBe(
      `the robot was not observed driving (0.00 m). ${reason} ` +
        'Clear 1.5 m ahead of the robot on the course 135° of the map, or turn the robot; then run the trial again.',
    );
    // A robot that drove half of its path may have free space ahead or not: no statement is made.
    expect(why({ ...sane, drives: 'half the way' })).toBe(`the move did not succeed: ${reason}`);
  });

  const plan = (atMs: number, moveState: string, actionId = 7) => ({ atMs, actionId, moveState, failReason: 0 });
  it.each<[string, Partial<MoveSeen>]>([
    ['of another number', { plans: [plan(10_000, 'moving', 6), plan(15_000, 'succeeded', 6)] }],
    ['from before the order', { plans: [plan(1_000, 'moving'), plan(2_000, 'succeeded')] }],
    [
      'that names a reason of its failure',
      { plans: [plan(10_000, 'moving'), { ...plan(15_000, 'succeeded'), failReason: 5 }] },
    ],
    ['whose answer names a reason of its failure', { readAfter: 'succeeded with fail_reason 5' }],
    ['that was never observed moving', { plans: [plan(15_000, 'succeeded')] }],
    ['that a query does not confirm', { readAfter: null }],
    ['that was not queried during the move', { readWhileMoving: null }],
    ['whose order was not answered', { moveId: null }],
  ])('does not count a success %s as verified', (_what, change) => {
    expect(verdictOf(judged(sane, { change }), state)).toBe('not-decided');
  });

  it.each(['finished', 'cancelled'])(
    'an end that the answer calls %j contradicts the states of the vendor',
    (readAfter) => {
      expect(verdictOf(judged(sane, { change: { readAfter } }), state)).toBe('differs');
    },
  );

  it('never verifies a fact that is false on the robot, whatever the robot', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        model,
        fc.boolean(),
        fc.double({ min: 0.3, max: 1, noNaN: true }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 7, maxLength: 40 }),
        (robot, isDecided, distanceM, chances) => {
          let index = 0;
          const chance = () => chances[index++ % chances.length] ?? 0.5;
          const findings = judged(robot, { distanceM, chance, ...(!isDecided && { unit: 'not-decided' }) });
          if (!isDegrees(robot.encoding)) {
            expect(verdictOf(findings, unit)).not.toBe('holds');
            // The unit of the final heading is unknown then.
            expect(verdictOf(findings, target)).not.toBe('holds');
          }
          if (robot.appliesTarget !== 'radians') expect(verdictOf(findings, target)).not.toBe('holds');
          if (robot.drives !== 'to the goal') {
            expect(verdictOf(findings, request)).not.toBe('holds');
            expect(verdictOf(findings, state)).not.toBe('holds');
          }
          // Nor does it contradict degrees where they are reported.
          if (isDegrees(robot.encoding) && robot.jump === null) expect(verdictOf(findings, unit)).not.toBe('differs');
        },
      ),
      { numRuns: isFull ? 1_500 : 50 },
    );
  });

  it('verifies a correct robot, with the noise, speed and message rate of a real one', { tags: 'property' }, () => {
    const real = model.map(
      (robot): RobotModel => ({
        ...robot,
        ...{ appliesTarget: 'radians', jump: null, stall: null, drives: 'to the goal' },
        encoding: robot.encoding.startsWith('degrees') ? robot.encoding : 'degrees within 180',
        noiseM: Math.min(robot.noiseM, 0.005),
        noiseDeg: Math.min(robot.noiseDeg, 0.5),
        everyMs: Math.min(robot.everyMs, 100),
        turnDegS: Math.min(100, Math.max(robot.turnDegS, 30)),
        speedMS: Math.min(robot.speedMS, 0.8),
      }),
    );
    fc.assert(
      fc.property(real, (robot) => {
        const findings = judged(robot, { chance: Math.random });
        expect(findings?.map(({ verdict, why }) => [verdict, why])).toEqual(
          [unit, target, request, state].map(() => ['holds', expect.any(String)]),
        );
      }),
      { numRuns: isFull ? 300 : 15 },
    );
  });
});
