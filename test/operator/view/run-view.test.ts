import { describe, expect, it } from 'vitest';
import type { DriveRun, MotionStatus, MoveOutcome, TourRun } from '../../../src/lib/motion/index.ts';
import { createRunView } from '../../../src/lib/operator/view/run-view.ts';
import { freeMotion, standInClock } from '../stand-ins.ts';
import { runsOf, standInFailedDrive } from './runs.ts';

const goal = { xM: 1, yM: 2, yawDeg: 90 };
const outcome = (change: Partial<MoveOutcome> = {}): MoveOutcome => ({
  ...{ moveId: 7, state: 'failed', failReason: null, failReasonText: null, reason: 'why', arrival: null, tookMs: 1 },
  ...change,
});
const arrival = (
  verdict: 'elsewhere' | 'moves' | 'not-known',
  isAtPlace: boolean | null,
  isAtHeading: boolean | null,
) =>
  ({
    ...{ verdict, reason: 'r', goal, isAtPlace, isAtHeading },
    ...(verdict === 'elsewhere'
      ? { pose: { xM: 1.4, yM: 2, yawDeg: 76 }, distanceM: 0.42, turnDeg: 14 }
      : { pose: null, distanceM: null, turnDeg: null }),
  }) as const;
const drive = (state: DriveRun['state'], of: MoveOutcome | null = null, id = 'd1'): MotionStatus => ({
  ...freeMotion,
  drive: { id, kind: 'move', station: 'B', state, outcome: of, reason: of?.reason ?? 'why' },
});
const tour = (change: Partial<TourRun>): MotionStatus => ({
  ...freeMotion,
  tour: {
    ...{ id: 't1', tour: 'lunch', stations: ['A', 'B'], state: 'failed', at: 0, outcomes: [], reason: 'why' },
    ...change,
  },
});
const view = () => runsOf(standInClock());
const failureOf = (motion: MotionStatus) => view().now(motion)?.failure;

describe('how a run failed', () => {
  it.each<[string, MotionStatus, object]>([
    [
      'beside its goal',
      drive('failed', outcome({ arrival: arrival('elsewhere', false, true) })),
      { cause: 'missed', offM: 0.42, offDeg: null },
    ],
    [
      'turned at its goal',
      drive('failed', outcome({ arrival: arrival('elsewhere', true, false) })),
      { cause: 'missed', offM: null, offDeg: 14 },
    ],
    [
      'both',
      drive('failed', outcome({ arrival: arrival('elsewhere', false, false) })),
      { cause: 'missed', offM: 0.42, offDeg: 14 },
    ],
    [
      'still moving',
      drive('failed', outcome({ state: 'unknown', arrival: arrival('moves', null, null) })),
      { cause: 'not-proven', offM: null },
    ],
    [
      'not seen to stand',
      drive('failed', outcome({ state: 'unknown', arrival: arrival('not-known', null, null) })),
      { cause: 'not-proven' },
    ],
    ['reported as failed', drive('failed', outcome({ failReason: 103 })), { cause: 'given-up' }],
    ['a cancel that was not confirmed', drive('failed', outcome()), { cause: 'unknown' }],
    ['a lost reply', drive('failed', outcome({ state: 'unknown' })), { cause: 'unknown' }],
    ['not accepted', drive('failed'), { cause: 'refused', technical: 'why' }],
    [
      'cancelled by an alert, the chassis or a limit',
      drive('stopped', outcome({ state: 'cancelled' })),
      { cause: 'cancelled' },
    ],
    [
      'a tour that failed at its second station',
      tour({ at: 1, outcomes: [outcome({ state: 'succeeded' }), outcome({ failReason: 5 })] }),
      { cause: 'given-up' },
    ],
    [
      'a tour that never set out for its second station',
      tour({ at: 1, outcomes: [outcome({ state: 'succeeded' })] }),
      { cause: 'refused' },
    ],
    ['a tour that was paused for too long', tour({ state: 'stopped' }), { cause: 'cancelled' }],
  ])('is said: %s', (_what, motion, expected) => {
    expect(failureOf(motion)).toMatchObject(expected);
  });

  it.each([
    ['it runs', drive('running')],
    ['it succeeded', drive('succeeded', outcome({ state: 'succeeded' }))],
    ['it is paused', tour({ state: 'paused' })],
  ])('is not said where %s', (_what, motion) => expect(failureOf(motion)).toBeNull());

  it('is not said of the run that a person ended, and of no other', () => {
    const runs = view();
    const stopped = drive('stopped', outcome({ state: 'cancelled' }));
    runs.now(drive('running'));
    runs.endAsked(drive('running'), 'another');
    expect(runs.now(stopped)?.failure).toMatchObject({ cause: 'cancelled' });
    runs.endAsked(drive('running'));
    expect(runs.now(stopped)?.failure).toBeNull();
    expect(runs.now(drive('stopped', outcome({ state: 'cancelled' }), 'd2'))?.failure).toMatchObject({
      cause: 'cancelled',
    });
    // Its end was asked for, and not confirmed: it may drive on.
    runs.endAsked(drive('running', null, 'd3'));
    expect(runs.now(drive('failed', outcome(), 'd3'))?.failure).toMatchObject({ cause: 'unknown' });
  });

  it('is not said of a run that a stop ended, also when the stop is cleared', () => {
    const runs = view();
    const stopped = drive('stopped', outcome({ state: 'cancelled' }));
    runs.now(drive('running'));
    expect(runs.now({ ...stopped, stop: { ...freeMotion.stop, latched: true } })?.failure).toBeNull();
    expect(runs.now(stopped)?.failure).toBeNull();
  });

  it('is learned of each run once, whatever is shown: also of one that is older by a clock which went back', () => {
    const failedDrive = standInFailedDrive();
    const runs = createRunView(standInClock(), failedDrive);
    const ofTour = tour({ id: 't9' }).tour;
    const lost = (id: string, state: DriveRun['state']): MotionStatus => ({
      ...drive(state, outcome(), id),
      tour: ofTour,
    });
    runs.follow({ ...freeMotion, tour: ofTour });
    runs.follow(lost('d1', 'running'));
    runs.follow(lost('d1', 'failed'));
    expect(runs.now(lost('d1', 'failed'))?.id).toBe('t9');
    runs.now({ ...lost('d1', 'failed'), trial: { kind: 'move' } });
    runs.follow(lost('d1', 'failed'));
    runs.follow(lost('d2', 'succeeded'));
    runs.follow({ ...lost('d3', 'stopped'), stop: { ...freeMotion.stop, latched: true } });
    runs.follow(lost('d3', 'stopped'));
    expect(failedDrive.calls).toEqual([
      ['t9', 'refused'],
      ['d1', 'unknown'],
      ['d2', null],
      ['d3', null],
    ]);
  });
});
