import { dockTolerance } from '../../arrival.ts';
import type { MoveOutcome } from '../../model.ts';
import type { TrialFinding } from '../model.ts';
import type { PlanSample, PoseSample } from '../samples.ts';
import { finding, ownStates } from './finding.ts';
import { distanceM, largestJumpM, type Place, type Rest, shortWay, TURN_DEG } from './numbers.ts';

/** Observations of a dock trial. */
export interface DockSeen {
  readonly dock: Place & { readonly yawDeg: number };
  readonly start: Rest;
  readonly sentAtMs: number;
  readonly moveId: number | null;
  readonly outcome: Pick<MoveOutcome, 'state' | 'failReason' | 'reason'>;
  /** Where it was seen at rest after its end; otherwise why not. */
  readonly end: Rest | string;
  readonly poses: readonly PoseSample[];
  readonly plans: readonly PlanSample[];
  /** Battery status after the end; null where none was received. */
  readonly batteryStatus: string | null;
}

/** Project decision. */
const MIN_WAY_M = 0.15;
const CHARGING: readonly string[] = ['charging', 'full'];
/** Specification: measured where `target_ori` was sent in the wrong unit. */
const INVALID_CHARGE_DOCK = 103;

/** Whether a move of type charge accepts the pose of the dock. */
export function judgeDock(seen: DockSeen): TrialFinding[] {
  return [finding('vendor.move.charge-target', judge(seen))];
}

function judge(seen: DockSeen): Pick<TrialFinding, 'verdict' | 'why'> {
  const { dock, start, outcome, moveId, end, poses, sentAtMs, batteryStatus } = seen;
  const open = (why: string) => ({ verdict: 'not-decided', why }) as const;
  if (moveId === null) return open('the order was not answered with a move id');
  if (outcome.state === 'failed' && outcome.failReason === INVALID_CHARGE_DOCK) {
    return {
      verdict: 'differs',
      why: 'the chassis refused the pose of the dock (fail_reason 103, invalid_charge_dock)',
    };
  }
  if (outcome.state !== 'succeeded') return open(`docking did not succeed: ${outcome.reason ?? outcome.state}`);
  const driven = poses.filter(({ atMs }) => atMs >= sentAtMs);
  const jumpM = largestJumpM(driven);
  if (jumpM > 0) return open(`the position jumped by ${jumpM.toFixed(2)} m`);
  if (typeof end === 'string') return open(`the robot was not observed at rest after docking: ${end}`);
  const offM = distanceM(end, dock);
  const offDeg = Math.abs(shortWay(end.ori - dock.yawDeg, TURN_DEG));
  const wayM = distanceM(start, end);
  const charging = batteryStatus === null ? 'battery status not received' : `battery status '${batteryStatus}'`;
  const text = `${wayM.toFixed(2)} m driven, ${offM.toFixed(2)} m and ${offDeg.toFixed(0)}° from the dock of the site file; ${charging}`;
  if (!ownStates(seen).includes('moving')) return open(`${text}; 'moving' was not reported`);
  if (offM > dockTolerance.distanceM || offDeg > dockTolerance.turnDeg) {
    return { verdict: 'differs', why: `success was reported, but: ${text}` };
  }
  if (wayM < MIN_WAY_M) return open(text);
  // Success without charging may be a robot that stands in front of the dock.
  if (batteryStatus !== null && !CHARGING.includes(batteryStatus)) return open(text);
  return { verdict: 'holds', why: text };
}
