import { type ChassisSnapshot, judgeStanding, type Standing } from '../chassis/index.ts';

/**
 * Whether the robot stands. Where its poses alone do not decide their unit, the verification on this very device does:
 * read as radians, the noise of a heading in degrees would hide that the robot stands.
 */
export function verifiedStanding(
  { poses, poseUnit, standing }: Pick<ChassisSnapshot, 'poses' | 'poseUnit' | 'standing'>,
  { isUnitVerified, nowMs }: { readonly isUnitVerified: boolean; readonly nowMs: number },
): Standing {
  const isOpen = poseUnit.verdict === 'not-decided' && poseUnit.doubt === null;
  return isOpen && isUnitVerified ? judgeStanding({ poses, nowMs, unit: 'degrees' }) : standing;
}
