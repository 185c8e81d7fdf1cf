import { describe, expect, it } from 'vitest';
import { createAfterCancel, followedAfterCancel } from '../../../src/lib/motion/trial/judge/after-cancel.ts';
import { type DockSeen, judgeDock } from '../../../src/lib/motion/trial/judge/dock.ts';
import { type Rest, restOf } from '../../../src/lib/motion/trial/judge/numbers.ts';
import { judgePose, type PoseSeen } from '../../../src/lib/motion/trial/judge/pose.ts';
import { judgeStop, type StopSeen } from '../../../src/lib/motion/trial/judge/stop.ts';
import type { PlanSample, PoseSample } from '../../../src/lib/motion/trial/samples.ts';

/** Poses along +y every 100 ms, from one place to another within a time; the clock of the trial started long before. */
function along(fromMs: number, toMs: number, fromM: number, toM: number, ori = 90): PoseSample[] {
  const samples: PoseSample[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += 100) {
    samples.push({ atMs, xM: 3, yM: fromM + ((toM - fromM) * (atMs - fromMs)) / (toMs - fromMs), ori });
  }
  return samples;
}
const rest = (yM: number, ori = 90): Rest => {
  const found = restOf(along(0, 1_000, yM, yM, ori));
  if (found === null) throw new Error('enough poses');
  return found;
};
const plans = (...states: readonly [atMs: number, state: string][]): PlanSample[] =>
  states.map(([atMs, moveState]) => ({ atMs, actionId: 9, moveState, failReason: 0 }));

describe('a cancel', () => {
  const sane: StopSeen = {
    goal: { xM: 3, yM: 1 },
    start: rest(0),
    ...{ sentAtMs: 20_000, moveId: 9, answeredInMs: 10, cancelAtMs: 21_000, cancelAnsweredAtMs: 21_010 },
    ...{ cancelFailure: null, after: createAfterCancel(0).seen },
    poses: [
      ...along(20_000, 21_000, 0, 0.2),
      ...along(21_000, 21_300, 0.2, 0.25),
      ...along(21_300, 31_000, 0.25, 0.25),
    ],
    plans: plans([20_100, 'moving'], [21_020, 'cancelled']),
    outcome: { state: 'cancelled', reason: 'The move was cancelled: the trial cancels its own move.' },
    readAfter: 'cancelled',
  };
  const judged = (change: Partial<StopSeen>) => {
    const seen = { ...sane, ...change };
    const after = followedAfterCancel(seen.poses, 'degrees', seen.cancelAnsweredAtMs ?? Number.POSITIVE_INFINITY);
    return judgeStop({ ...seen, after })[0];
  };
  const verdict = (change: Partial<StopSeen>) => judged(change)?.verdict;

  it('is verified where the robot drove, was cancelled, and came to rest short of its goal', () => {
    expect(judged({})).toMatchObject({
      ...{ fact: 'vendor.move.cancel', verdict: 'holds', value: true },
      why: expect.stringMatching(
        /^cancelled after 0\.25 m, at rest within \d\.\d s, still at rest 5 s later, and 0\.75 m short/,
      ),
    });
  });

  it('is contradicted where the robot drives on', () => {
    const poses = [...along(20_000, 21_000, 0, 0.2), ...along(21_000, 23_000, 0.2, 1)];
    expect(judged({ poses })).toMatchObject({ verdict: 'differs', value: false });
    // Whatever the chassis reports.
    expect(verdict({ poses, plans: plans([20_100, 'moving'], [22_900, 'succeeded']), readAfter: 'succeeded' })).toBe(
      'differs',
    );
  });

  it.each<[string, Partial<StopSeen>]>([
    ['the robot never drove', { cancelAtMs: null, cancelAnsweredAtMs: null }],
    ['the order was not answered', { moveId: null, answeredInMs: null }],
    ['the cancel was not answered', { cancelAnsweredAtMs: null }],
    ['the cancel was accepted late', { cancelAnsweredAtMs: 22_500, cancelFailure: 'status 500' }],
    ['it was at rest only once', { poses: [...along(20_000, 21_000, 0, 0.2), ...along(21_000, 25_500, 0.22, 0.22)] }],
    [
      'it crept on, too slowly to be noticed at once',
      { poses: [...along(20_000, 21_000, 0, 0.2), ...along(21_000, 32_000, 0.2, 0.29)] },
    ],
    ['the chassis answered slowly', { answeredInMs: 3_000 }],
    ['it had arrived by itself', { plans: plans([20_100, 'moving'], [21_020, 'succeeded']), readAfter: 'succeeded' }],
    ['it is at rest at its goal', { goal: { xM: 3, yM: 0.3 } }],
    ['no pose was received since', { poses: along(20_000, 21_000, 0, 0.2) }],
    [
      'the cancelled move is another one',
      { plans: plans([20_100, 'moving'], [21_020, 'cancelled']).map((plan) => ({ ...plan, actionId: 8 })) },
    ],
    ['the states are from before the order', { plans: plans([19_000, 'moving'], [19_500, 'cancelled']) }],
    ['the answer contradicts it', { readAfter: 'moving' }],
    ['the position jumped', { poses: [...along(20_000, 21_000, 0, 0.2), ...along(21_000, 23_000, -1, -1)] }],
  ])('is not decided where %s', (_what, change) => {
    expect(['not-decided', 'differs']).toContain(verdict(change));
    expect(verdict(change)).toBe('not-decided');
  });

  it('gives no shorter time to its rest than a robot needs that brakes gently', () => {
    const [brakingMS2, speedMS] = [0.6, 0.3];
    const tookMs = (speedMS / brakingMS2) * 1_000;
    const poses = along(20_000, 21_050, 0, speedMS * 1.05);
    for (let atMs = 21_050; atMs < 31_000; atMs += 50) {
      const s = Math.min(atMs - 21_010, tookMs) / 1_000;
      poses.push({ atMs, xM: 3, yM: speedMS * 1.01 + speedMS * s - (brakingMS2 * s * s) / 2, ori: 90 });
    }
    const found = judged({ poses, goal: { xM: 3, yM: 1 } });
    expect(found?.verdict, found?.why).toBe('holds');
    const [, within] = /at rest within ([\d.]+) s/.exec(found?.why ?? '') ?? [];
    // Rounded up to a tenth: a shorter bound would be below it.
    expect(Number(within) * 1_000).toBeGreaterThanOrEqual(tookMs + 10);
  });

  it('names the true reason of a cancel that was refused, or accepted late', () => {
    const failure = 'The chassis refused the request with status 500.';
    expect(judged({ cancelAnsweredAtMs: null, cancelFailure: failure })?.why).toBe(
      'the chassis did not accept the cancel: The chassis refused the request with status 500',
    );
    expect(judged({ cancelAnsweredAtMs: 22_500, cancelFailure: failure })?.why).toMatch(
      /^the cancel was accepted too late for a verdict \(1500 ms; before: The chassis refused .* status 500\)/,
    );
    expect(judged({ answeredInMs: 3_000 })?.why).toBe('the order was answered too late for a verdict (3000 ms)');
  });

  const noCancel = { cancelAtMs: null, cancelAnsweredAtMs: null, readAfter: 'failed' };
  const gaveUp = {
    state: 'failed',
    reason: "The chassis reports the move as failed: fail_reason 2 (chassis text 'path blocked').",
  } as const;
  const why = (change: Partial<StopSeen>) => judged({ ...noCancel, ...change })?.why;

  it('names the report of the chassis on a move that failed before the robot drove, and the remedy', () => {
    expect(why({ outcome: gaveUp, poses: along(20_000, 23_000, 0, 0), plans: plans([20_050, 'failed']) })).toBe(
      'the robot was not observed driving (0.00 m), so no cancel was sent. ' +
        "The chassis reports the move as failed: fail_reason 2 (chassis text 'path blocked'). " +
        'Clear 1.5 m ahead of the robot on the course 90° of the map, or turn the robot; then run the trial again.',
    );
  });

  it('does not report a robot at rest whose position changed before its move ended', () => {
    const text = why({ outcome: gaveUp, poses: along(20_000, 21_000, 0, 0.4), plans: plans([20_050, 'failed']) });
    expect(text).toContain('the move ended before a cancel was sent, after a change of the position by 0.36 m');
    expect(text).not.toContain('not observed driving');
    expect(text).not.toContain('Clear 1.5 m');
  });

  it('does not report a robot at rest of which no pose was received', () => {
    const text = why({ outcome: gaveUp, poses: [], plans: plans([20_050, 'failed']) });
    expect(text).toContain('no pose was received after the order, so no cancel was sent');
    expect(text).not.toContain('not observed driving');
  });

  it('does not ask for free space where the move was cancelled, or succeeded, without driving', () => {
    const poses = along(20_000, 23_000, 0, 0);
    const cancelled = { state: 'cancelled', reason: 'The move was cancelled on the chassis.' } as const;
    expect(why({ poses, outcome: cancelled })).toBe(
      'the robot was not observed driving (0.00 m), so no cancel was sent. The move was cancelled on the chassis.',
    );
    expect(why({ poses, outcome: { state: 'succeeded', reason: null } })).toBe(
      'the move ended before poses showed the robot driving, so no cancel was sent: they arrive too seldom for its ' +
        "speed. The chassis reports the move as 'succeeded'. Run the trial again with a longer way: --distance 2.",
    );
  });
});

describe('docking', () => {
  const sane: DockSeen = {
    dock: { xM: 3, yM: -0.6, yawDeg: 90 },
    start: rest(0),
    ...{ sentAtMs: 20_000, moveId: 9, batteryStatus: 'charging' },
    outcome: { state: 'succeeded', failReason: null, reason: null },
    end: rest(-0.6),
    poses: [...along(20_000, 24_000, 0, -0.6), ...along(24_000, 28_000, -0.6, -0.6)],
    plans: plans([20_100, 'moving'], [23_990, 'succeeded']),
  };
  const verdict = (change: Partial<DockSeen>) => judgeDock({ ...sane, ...change })[0]?.verdict;

  it('is verified at the dock, and contradicted elsewhere or where its pose was refused with 103', () => {
    expect(verdict({})).toBe('holds');
    expect(verdict({ batteryStatus: null })).toBe('holds');
    expect(verdict({ dock: { xM: 3, yM: -1.4, yawDeg: 90 } })).toBe('differs');
    expect(verdict({ dock: { xM: 3, yM: -0.6, yawDeg: -90 } })).toBe('differs');
    expect(verdict({ outcome: { state: 'failed', failReason: 103, reason: 'x' } })).toBe('differs');
  });

  it.each<[string, Partial<DockSeen>]>([
    ['it failed for another reason', { outcome: { state: 'failed', failReason: 101, reason: 'x' } }],
    ['it was cancelled', { outcome: { state: 'cancelled', failReason: null, reason: 'x' } }],
    ['the battery does not charge', { batteryStatus: 'discharging' }],
    ['it was there before', { start: rest(-0.6) }],
    ['it was never observed moving', { plans: plans([23_990, 'succeeded']) }],
    ['it was not seen at rest since', { end: 'it moves at 0.05 m/s' }],
  ])('is not decided where %s', (_what, change) => {
    expect(verdict(change)).toBe('not-decided');
  });
});

describe('a pose', () => {
  const readBack = (first: number, second: number, change: Partial<PoseSeen> = {}): PoseSeen => ({
    start: rest(0, 10),
    sets: [
      { setDeg: -90, reported: rest(0, first) },
      { setDeg: 90, reported: rest(0, second) },
    ],
    ...change,
  });
  const verdicts = (input: PoseSeen) => judgePose(input).map(({ verdict, value }) => [verdict, value]);

  it('is verified where both headings are reported in degrees, also from 0 to 360', () => {
    const held = [
      ['holds', 'radians'],
      ['holds', true],
    ];
    expect(verdicts(readBack(-90, 90))).toEqual(held);
    expect(verdicts(readBack(270, 88))).toEqual(held);
  });

  it('is contradicted where the sent number is reported, or another place', () => {
    expect(verdicts(readBack(-1.57, 1.57))).toEqual([
      ['differs', 'degrees'],
      ['not-decided', null],
    ]);
    expect(verdicts({ ...readBack(-90, 90), start: rest(2, 10) })).toEqual([
      ['holds', 'radians'],
      ['differs', false],
    ]);
  });

  it('names both explanations where each heading is reported with the other sign', () => {
    expect(judgePose(readBack(90, -90))[0]).toMatchObject({
      verdict: 'not-decided',
      why: expect.stringMatching(/counts clockwise in the order or in the report, or it is 180° off/),
    });
  });

  it.each([
    ['the heading stayed as it was', readBack(10, 10)],
    ['gradians are reported', readBack(-100, 100)],
    ['gradians are reported, and its place was corrected', readBack(-94, 106)],
    ['only one of them was reported', readBack(-90, 10)],
    [
      'it was not reported',
      readBack(-90, 90, {
        sets: [
          { setDeg: -90, reported: rest(0, -90) },
          { setDeg: 90, reported: null },
        ],
      }),
    ],
    ['only one was set', readBack(-90, 90, { sets: [{ setDeg: 90, reported: rest(0, 90) }] })],
  ])('is not decided where %s', (_what, input) => {
    expect(verdicts(input).map(([verdict]) => verdict)).toEqual(['not-decided', 'not-decided']);
  });
});
