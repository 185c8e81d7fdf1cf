import type { TrialFinding } from '../model.ts';
import { finding, type Verdict } from './finding.ts';
import { distanceM, isAtRest, numberInRadians, type Rest, shortWay, TURN_DEG } from './numbers.ts';

/** One heading that was set, and what the chassis reported at rest afterwards. */
export interface PoseSet {
  readonly setDeg: number;
  /** Null where too few poses came. */
  readonly reported: Rest | null;
}

export interface PoseSeen {
  /** What it reported before. */
  readonly start: Rest;
  /** Two opposite headings, in the order in which they were set. */
  readonly sets: readonly PoseSet[];
  /** Degrees were proven on this chassis by other means: by the link, or by a record. */
  readonly isUnitProven: boolean;
}

/** How far the lidar may correct what was set. Project decisions, as for a plain pose order. */
const HEADING_DEG = 15;
const PLACE_M = 0.5;
const NUMBER_DEG = 1;

/**
 * Whether 1.5708 sent is reported as 90 degrees, at two opposite headings: one alone the robot might have had before.
 * @source specification, 'Angles (critical rule)'
 */
export function judgePose(seen: PoseSeen): TrialFinding[] {
  const { unit, ori, request } = judge(seen);
  return [
    finding('angles.tracked-pose-ori', unit),
    finding('angles.pose-ori', ori),
    finding('vendor.pose.request', request),
  ];
}

function judge({ start, sets, isUnitProven }: PoseSeen): Record<'unit' | 'ori' | 'request', Verdict> {
  const all = (verdict: Verdict) => ({ unit: verdict, ori: verdict, request: verdict });
  const open = (why: string): Verdict => ({ verdict: 'not-decided', why });
  const readings = sets.flatMap(({ setDeg, reported }) => (isAtRest(reported) ? [{ setDeg, ...reported }] : []));
  if (sets.length < 2 || readings.length < sets.length) {
    return all(open('not every pose that was set was reported back at rest'));
  }
  const why = readings
    .map(({ setDeg, ori }) => `${numberInRadians(setDeg).toFixed(4)} sent is reported as ${ori.toFixed(2)}`)
    .join(', ');
  const movedM = Math.max(...readings.map((reading) => distanceM(reading, start)));
  const off = ({ setDeg, ori }: { setDeg: number; ori: number }, to = setDeg) => Math.abs(shortWay(ori - to, TURN_DEG));
  if (readings.every((reading) => off(reading) <= HEADING_DEG)) {
    const placed: Verdict =
      movedM <= PLACE_M
        ? { verdict: 'holds', why: `${why}, at the place where it stood (${movedM.toFixed(2)} m off)` }
        : { verdict: 'differs', why: `${why}, but ${movedM.toFixed(2)} m from the place that was set` };
    return { unit: { verdict: 'holds', why }, ori: { verdict: 'holds', why }, request: placed };
  }
  if (!readings.every((reading) => off(reading, numberInRadians(reading.setDeg)) <= NUMBER_DEG)) {
    return all(open(`${why}: neither the heading nor the number that was sent`));
  }
  // The number itself came back: one of the two fields has another unit, and which one this alone does not say.
  if (!isUnitProven) {
    const both = 'either it was taken for degrees, or radians are reported; a trial of a move decides which';
    return all(open(`${why}: ${both}`));
  }
  return {
    unit: open(`${why}; degrees were proven before`),
    ori: { verdict: 'differs', why: `${why}: the number was taken for degrees`, measured: 'degrees' },
    request: open(`${why}: its angle was taken for degrees`),
  };
}
