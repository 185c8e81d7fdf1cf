import { type ChassisSnapshot, moveProgress } from '../chassis/index.ts';
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
