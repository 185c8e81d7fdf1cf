import type { MoveOutcome } from '../../model.ts';
import type { TrialFinding } from '../model.ts';
import type { PlanSample, PoseSample } from '../samples.ts';
import { finding, ownStates } from './finding.ts';
import { distanceM, largestLeapM, type Place, type Rest, restOf, shortWay, standingAt, TURN_DEG } from './numbers.ts';

/** What a trial of docking saw. */
export interface DockSeen {
  readonly dock: Place & { readonly yawDeg: number };
  readonly start: Rest;
  readonly sentAtMs: number;
  readonly moveId: number | null;
  readonly outcome: Pick<MoveOutcome, 'state' | 'failReason' | 'reason'>;
  readonly endedAtMs: number;
  readonly poses: readonly PoseSample[];
  readonly plans: readonly PlanSample[];
  /** The word of the battery after the end; null where it said none. */
  readonly batteryStatus: string | null;
}

/** Project decisions. A person measured the dock, and the robot aligns to what it sees. */
const AT_DOCK_M = 0.3;
const AT_DOCK_DEG = 20;
const MIN_WAY_M = 0.15;
const CHARGING: readonly string[] = ['charging', 'full'];
/** Of the specification: seen where the pose of the dock was not what the chassis takes. */
const INVALID_CHARGE_DOCK = 103;

/** Whether a move of type charge takes the pose of the dock. */
export function judgeDock(seen: DockSeen): TrialFinding[] {
  return [finding('vendor.move.charge-target', judge(seen))];
}

function judge(seen: DockSeen): Pick<TrialFinding, 'verdict' | 'why'> {
  const { dock, start, outcome, moveId, poses, sentAtMs, endedAtMs, batteryStatus } = seen;
  const open = (why: string) => ({ verdict: 'not-decided', why }) as const;
  if (moveId === null) return open('the order was not answered with the number of a move');
  if (outcome.state === 'failed' && outcome.failReason === INVALID_CHARGE_DOCK) {
    return {
      verdict: 'differs',
      why: 'the chassis refused the pose of the dock (fail_reason 103, invalid_charge_dock)',
    };
  }
  if (outcome.state !== 'succeeded') return open(`docking did not succeed: ${outcome.reason ?? outcome.state}`);
  const driven = poses.filter(({ atMs }) => atMs >= sentAtMs);
  const leapM = largestLeapM(driven);
  if (leapM > 0) return open(`the position leapt by ${leapM.toFixed(2)} m`);
  const rest = standingAt(restOf(driven.filter(({ atMs }) => atMs >= endedAtMs)));
  if (rest === null) return open('the robot was not seen at rest after docking');
  const offM = distanceM(rest, dock);
  const offDeg = Math.abs(shortWay(rest.ori - dock.yawDeg, TURN_DEG));
  const wayM = distanceM(start, rest);
  const charging = batteryStatus === null ? 'the battery told nothing' : `the battery says ${batteryStatus}`;
  const text = `${wayM.toFixed(2)} m driven, ${offM.toFixed(2)} m and ${offDeg.toFixed(0)}° from the dock of the site file; ${charging}`;
  if (!ownStates(seen).includes('moving')) return open(`${text}; it was not reported as moving`);
  if (offM > AT_DOCK_M || offDeg > AT_DOCK_DEG) {
    return { verdict: 'differs', why: `it reported success, but: ${text}` };
  }
  if (wayM < MIN_WAY_M) return open(text);
  // Success without a current at the place of the dock is a robot that stands before it.
  if (batteryStatus !== null && !CHARGING.includes(batteryStatus)) return open(text);
  return { verdict: 'holds', why: text };
}
