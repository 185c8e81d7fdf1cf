import { degrees, turnBetween } from '../angle/index.ts';
import { type ChassisSnapshot, headingOnCourse, type PoseUnit } from '../chassis/index.ts';
import { arrivalDoubt } from './fitness.ts';
import { asClause, outOfFrame } from './map-frame.ts';
import type { Arrival, DriveOrder } from './model.ts';
import { offIfInRadians } from './trial/judge/numbers.ts';

interface Tolerance {
  readonly distanceM: number;
  readonly turnDeg: number;
}

/**
 * Project decisions: how far a robot at rest may be from its goal. A dock was measured by hand, and the robot aligns to
 * what it detects; the trial that every docking order relies on judges by the same numbers.
 */
export const goalTolerance: Tolerance = { distanceM: 0.3, turnDeg: 5 };
export const dockTolerance: Tolerance = { distanceM: 0.3, turnDeg: 20 };

/**
 * Project decisions: how far the chassis may correct a pose that is set by its own sensors. The heading by less than what
 * gradians differ by at 90 degrees (10 where they are reported, 9 where they are read); nearer to 0 they differ by less.
 */
export const poseTolerance: Tolerance = { distanceM: 0.5, turnDeg: 8 };

/** What is known after the chassis has reported the success of a move. */
interface ArrivalSeen {
  readonly snapshot: ChassisSnapshot;
  /** Unit of the heading, as far as this connection shows it. */
  readonly unit: PoseUnit;
  /** When the success was reported, by the monotonic clock. */
  readonly endedAtMs: number;
}

/** Compares the pose at rest with the goal. A reported success is a word; only the pose shows the deed. */
export function judgeArrival(order: DriveOrder, { snapshot, unit, endedAtMs }: ArrivalSeen): Arrival {
  const { link, poses, standing, unitContradicted, values } = snapshot;
  const { xM, yM, yawDeg, map } = order.goal.value;
  const goal = { xM, yM, yawDeg: yawDeg ?? null };
  const open = { goal, pose: null, distanceM: null, turnDeg: null, isAtPlace: null, isAtHeading: null };
  const notKnown = (reason: string): Arrival => ({ ...open, verdict: 'not-known', reason });

  if (link.kind !== 'connected') return notKnown('the chassis is not connected');
  const elsewhere = outOfFrame(map, values);
  if (elsewhere !== null) return notKnown(asClause(elsewhere.reason));
  const doubt = arrivalDoubt(values);
  if (doubt !== null) return notKnown(asClause(doubt));
  if (unitContradicted) return notKnown('the chassis contradicts angles.tracked-pose-ori, its heading is unknown');
  if (standing.verdict === 'moves') {
    return { ...open, verdict: 'moves', reason: `the robot still moves: ${standing.reason}` };
  }
  if (standing.verdict !== 'stands') return notKnown(`it is not known whether the robot stands: ${standing.reason}`);
  if ((poses.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY) <= endedAtMs) {
    return notKnown('no pose was received since the end of the move');
  }
  if (values.pose.status !== 'received' || values.pose.stale) return notKnown('there is no current pose');

  const pose = values.pose.value;
  const tolerance = order.kind === 'dock' ? dockTolerance : goalTolerance;
  const distanceM = Math.hypot(pose.xM - xM, pose.yM - yM);
  const turnDeg = yawDeg === undefined ? null : Math.abs(turnBetween(degrees(yawDeg), pose.yawDeg));
  const isAtPlace = distanceM <= tolerance.distanceM;
  const isAtHeading = turnDeg === null ? null : turnDeg <= tolerance.turnDeg;
  const found = { goal, pose: { xM: pose.xM, yM: pose.yM, yawDeg: pose.yawDeg }, distanceM, turnDeg, isAtPlace };
  if (yawDeg !== undefined && isAtPlace && unit === 'not-decided') {
    // The same number read as radians: until the unit is shown both readings have to agree.
    const otherDeg = offIfInRadians(pose.yawDeg, yawDeg);
    if (otherDeg <= tolerance.turnDeg !== isAtHeading) {
      const readings = `${turnDeg?.toFixed(1)}° off in degrees, ${otherDeg.toFixed(1)}° in radians`;
      const reason = `the unit of its heading is not shown over this connection (${readings}); a drive with a turn shows it`;
      return { ...found, verdict: 'not-known', reason, isAtHeading: null };
    }
  }
  if (yawDeg !== undefined && isAtPlace && isAtHeading && headingOnCourse(poses) === 'misfits') {
    const reason = 'its heading did not fit the course that it drove: it counts otherwise than in degrees from +x';
    return { ...found, verdict: 'not-known', reason, isAtHeading: null };
  }
  const at = order.kind === 'dock' ? 'the dock' : 'the goal';
  const off = [
    ...(isAtPlace ? [] : [`${distanceM.toFixed(2)} m from ${at} (up to ${tolerance.distanceM} m)`]),
    ...(isAtHeading === false ? [`${turnDeg?.toFixed(1)}° off its heading (up to ${tolerance.turnDeg}°)`] : []),
  ];
  return {
    verdict: off.length === 0 ? 'at-goal' : 'elsewhere',
    reason: `the robot stands ${off.length === 0 ? `${distanceM.toFixed(2)} m from ${at}` : off.join(' and ')}`,
    ...found,
    isAtHeading,
  };
}
