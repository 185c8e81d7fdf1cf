import { type ChassisSnapshot, judgeStanding, type PoseUnitVerdict, type Standing } from '../chassis/index.ts';

interface Verified {
  /** Whether degrees in `/tracked_pose` were verified on this very device. */
  readonly isUnitVerified: boolean;
}

/**
 * The unit that standing is judged in. Where the poses alone do not decide it, the verification on this very device does:
 * read as radians, the noise of a heading in degrees would hide that the robot stands.
 */
export function standingUnit(poseUnit: PoseUnitVerdict, { isUnitVerified }: Verified): PoseUnitVerdict['verdict'] {
  const isOpen = poseUnit.verdict === 'not-decided' && poseUnit.doubt === null;
  return isOpen && isUnitVerified ? 'degrees' : poseUnit.verdict;
}

/** Whether the robot stands, in that unit. */
export function verifiedStanding(
  { poses, poseUnit, standing }: Pick<ChassisSnapshot, 'poses' | 'poseUnit' | 'standing'>,
  { nowMs, ...verified }: Verified & { readonly nowMs: number },
): Standing {
  const unit = standingUnit(poseUnit, verified);
  return unit === poseUnit.verdict ? standing : judgeStanding({ poses, nowMs, unit });
}
