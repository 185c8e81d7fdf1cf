import { poseTolerance } from '../../arrival.ts';
import type { TrialFinding } from '../model.ts';
import { finding, type Verdict } from './finding.ts';
import { distanceM, numberInRadians, type Rest, shortWay, TURN_DEG } from './numbers.ts';

/** One heading that was set, and the pose reported at rest afterwards. */
export interface PoseSet {
  readonly setDeg: number;
  /** Null where poses did not show it at rest. */
  readonly reported: Rest | null;
}

export interface PoseSeen {
  /** Reported before the trial. */
  readonly start: Rest;
  /** Two opposite headings, in the order in which they were set. */
  readonly sets: readonly PoseSet[];
}

/** How far a number that was taken for degrees may be off. Project decision. */
const NUMBER_DEG = 1;

/**
 * Whether 1.5708 sent is reported as 90 degrees, at two opposite headings: the robot might have had one of them before.
 * Degrees in the report were verified before, else a returned number would be ambiguous.
 * @source specification, 'Angles (critical rule)'
 */
export function judgePose(seen: PoseSeen): TrialFinding[] {
  const { ori, request } = judge(seen);
  return [finding('angles.pose-ori', ori), finding('vendor.pose.request', request)];
}

function judge({ start, sets }: PoseSeen): Record<'ori' | 'request', Verdict> {
  const both = (why: string) => ({ ori: open(why), request: open(why) });
  const readings = sets.flatMap(({ setDeg, reported }) => (reported === null ? [] : [{ setDeg, ...reported }]));
  if (sets.length < 2 || readings.length < sets.length) {
    return both('not every pose that was set was reported at rest');
  }
  const why = readings
    .map(({ setDeg, ori }) => `${numberInRadians(setDeg).toFixed(4)} sent is reported as ${ori.toFixed(2)}`)
    .join(', ');
  const movedM = Math.max(...readings.map((reading) => distanceM(reading, start)));
  const off = (ori: number, wanted: number) => Math.abs(shortWay(ori - wanted, TURN_DEG));
  if (readings.every(({ ori, setDeg }) => off(ori, setDeg) <= poseTolerance.turnDeg)) {
    const placed: Verdict =
      movedM <= poseTolerance.distanceM
        ? { verdict: 'holds', why: `${why}, at the place where it stood (${movedM.toFixed(2)} m off)` }
        : { verdict: 'differs', why: `${why}, but ${movedM.toFixed(2)} m from the place that was set` };
    return { ori: { verdict: 'holds', why }, request: placed };
  }
  if (readings.every(({ ori, setDeg }) => off(ori, numberInRadians(setDeg)) <= NUMBER_DEG)) {
    return {
      ori: { verdict: 'differs', why: `${why}: the number was interpreted as degrees`, measured: 'degrees' },
      request: open(`${why}: its angle was interpreted as degrees`),
    };
  }
  if (readings.every(({ ori, setDeg }) => off(ori, -setDeg) <= poseTolerance.turnDeg)) {
    return both(
      `${why}: the heading counts clockwise in the order or in the report, or it is 180° off; the trial of move decides more`,
    );
  }
  return both(`${why}: neither the heading nor the number that was sent`);
}

function open(why: string): Verdict {
  return { verdict: 'not-decided', why };
}
