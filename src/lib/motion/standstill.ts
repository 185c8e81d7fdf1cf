import {
  type ChassisSnapshot,
  judgeStanding,
  moveProgress,
  type PoseUnitVerdict,
  type Standing,
} from '../chassis/index.ts';
import type { Standstill, StopProof } from './model.ts';

/**
 * Whether the robot stands, for people: only where its poses show it, no cancel is open, and the chassis does not report
 * a running move. What speaks against a standstill counts from either source.
 */
export function standstillOf(snapshot: ChassisSnapshot, proof: StopProof | null): Standstill {
  return { ...judged(snapshot, proof), isOwed: proof !== null };
}

function judged(snapshot: ChassisSnapshot, proof: StopProof | null): Pick<Standstill, 'verdict' | 'reason'> {
  const { link, standing, values } = snapshot;
  const { planning } = values;
  if (proof?.verdict === 'drives-on') return { verdict: 'drives-on', reason: proof.reason };
  if (link.kind !== 'connected') return { verdict: 'not-known', reason: 'the chassis is not connected' };
  if (standing.verdict === 'moves') return { verdict: 'moves', reason: standing.reason };
  const isReported = planning.status === 'received' && !planning.stale;
  if (isReported && moveProgress(planning.value.moveState) === 'under-way') {
    return { verdict: 'moves', reason: `the chassis reports '${planning.value.moveState}'` };
  }
  if (proof !== null) return { verdict: 'not-known', reason: proof.reason };
  return { verdict: standing.verdict, reason: standing.reason };
}

interface Verified {
  /** Whether degrees in `/tracked_pose` were verified on this very device. */
  readonly isUnitVerified: boolean;
}

/**
 * The unit that standing and arrival are judged in. A proof of before holds only where the present connection shows degrees
 * too: the device behind it may have restarted with another unit. Until then both readings have to agree.
 */
export function unitNow(poseUnit: PoseUnitVerdict, { isUnitVerified }: Verified): PoseUnitVerdict['verdict'] {
  const isShown = poseUnit.verdict === 'not-decided' && poseUnit.doubt === null && poseUnit.shown === true;
  return isShown && isUnitVerified ? 'degrees' : poseUnit.verdict;
}

/** Whether the robot stands, in that unit. */
export function verifiedStanding(
  { poses, poseUnit, standing }: Pick<ChassisSnapshot, 'poses' | 'poseUnit' | 'standing'>,
  { nowMs, ...verified }: Verified & { readonly nowMs: number },
): Standing {
  const unit = unitNow(poseUnit, verified);
  return unit === poseUnit.verdict ? standing : judgeStanding({ poses, nowMs, unit });
}
