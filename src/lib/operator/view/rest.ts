import type { ChassisSnapshot } from '../../chassis/index.ts';
import type { MotionStatus } from '../../motion/index.ts';

type Standstill = MotionStatus['standstill'];
type Sample = ChassisSnapshot['poses'][number];

/** Project decisions: the poses whose mean is the place of the rest, and those whose mean is the place now. */
const REST_MS = 3_000;
const NOW_MS = 2_000;
/** Standard errors between both means that noise explains. Project decision. */
const SIGMA = 3;

/** Project decisions: what no noise has to explain, and what none explains any more. In the unit of the coordinate. */
const limits = {
  place: { least: 0.02, most: 0.1 },
  degrees: { least: 1, most: 5 },
  /** Where the heading may be in radians: of three degrees. */
  undecided: { least: 0.05, most: 0.6 },
} as const;

/**
 * A rest that was proven holds for people as long as the robot is where it was proven to rest: whether a slow drive can be
 * ruled out is asked anew with each pose, and noise alone answers 'not known' again and again. Nothing that speaks for a
 * movement is overruled, and no order passes by this.
 */
export function createRest(): (snapshot: ChassisSnapshot, standstill: Standstill) => Standstill {
  let rest: readonly Sample[] | null = null;

  return (snapshot, standstill) => {
    const { poses, link, values } = snapshot;
    const { verdict, isOwed } = standstill;
    const isCurrent = link.kind === 'connected' && values.pose.status === 'received' && !values.pose.stale;
    if (verdict === 'stands') rest = newest(poses, REST_MS);
    else if (verdict !== 'not-known' || isOwed || !isCurrent) rest = null;
    if (verdict === 'stands' || rest === null) return standstill;
    if (isThere(rest, newest(poses, NOW_MS), snapshot)) {
      return { ...standstill, verdict: 'stands', reason: 'it is where it was seen to stand' };
    }
    rest = null;
    return standstill;
  };
}

function newest(poses: readonly Sample[], overMs: number): readonly Sample[] {
  const last = poses.at(-1)?.atMs ?? 0;
  // From the end: this is asked with every pose.
  return poses.slice(poses.findLastIndex(({ atMs }) => atMs < last - overMs) + 1);
}

function isThere(rest: readonly Sample[], now: readonly Sample[], { poseUnit }: ChassisSnapshot): boolean {
  const [first] = rest;
  if (first === undefined || now.length === 0) return false;
  const isDegrees = poseUnit.verdict === 'degrees' && poseUnit.doubt === null;
  return (
    isSame(rest, now, ({ xM }) => xM, limits.place) &&
    isSame(rest, now, ({ yM }) => yM, limits.place) &&
    // A heading in radians that wraps is not the same by this, which is on the safe side.
    isSame(rest, now, ({ ori }) => shortWay(ori - first.ori), isDegrees ? limits.degrees : limits.undecided)
  );
}

function isSame(
  rest: readonly Sample[],
  now: readonly Sample[],
  read: (pose: Sample) => number,
  { least, most }: { readonly least: number; readonly most: number },
): boolean {
  const values = rest.map(read);
  const mean = meanOf(values);
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
  const explained = SIGMA * Math.sqrt(variance * (1 / values.length + 1 / now.length));
  return Math.abs(meanOf(now.map(read)) - mean) <= Math.min(most, Math.max(least, explained));
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const shortWay = (angle: number) => angle - 360 * Math.round(angle / 360);
