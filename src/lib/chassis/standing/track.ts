import type { PoseSample } from '../pose-sample.ts';
import { createLateness } from './lateness.ts';
import { createRepeats } from './repeats.ts';
import { judgeStanding, MAX_AGE_MS, MAX_UNDECIDED_MS, MIN_MS, type Standing, type StandingInput } from './standing.ts';

/** Project decisions: as far back as standing and braking are judged; poses that arrive faster are thinned out. */
const KEPT_MS = MAX_UNDECIDED_MS + 2_000;
const MIN_GAP_MS = 40;
/** Project decision: beyond this speed, and more than noise, is a relocalisation: the poses before it are of another place. */
const MAX_SPEED_M_S = 3;
const NOISE_M = 0.1;
/** Less than this is what every stream of poses shows. Project decision. */
const REGULAR_WITHIN_MS = 20;

/** The newest poses of one connection, oldest first. */
export function createTrack() {
  let poses: readonly PoseSample[] = [];
  let lateness = createLateness();
  let repeats = createRepeats();
  /** The first of those that arrived together with the newest one. */
  let first: Pick<PoseSample, 'atMs' | 'lateMs'> = { atMs: Number.NEGATIVE_INFINITY };
  let judged: { key: string; poses: typeof poses; standing: Standing } | undefined;

  return {
    /**
     * Of poses that arrive together the newest shows where the robot is, and a late one before it where it was. `isDriven`:
     * the chassis says that it drives.
     */
    add(pose: PoseSample, isDriven = false): void {
      const lateMs = lateness.add(pose.atMs);
      const repeatedSinceMs = repeats.sinceMs();
      const { restMs, isStepwise } = repeats.add(pose, isDriven);
      const added = {
        ...pose,
        ...(lateMs >= REGULAR_WITHIN_MS && { lateMs }),
        ...(restMs > MIN_MS && { restMs: Math.round(restMs) }),
        ...(isStepwise && { isStepwise }),
      };
      const isTogether = pose.atMs - first.atMs < MIN_GAP_MS;
      if (!isTogether) first = added;
      // A new array each time: what was given out does not change afterwards.
      const isReplaced = isTogether && (first.lateMs === undefined || poses.at(-1) !== first);
      const earlier = isReplaced ? poses.slice(0, -1) : poses;
      const last = earlier.at(-1);
      // A pose that is repeated may have been measured when it first came.
      const measuredMs = (isStepwise ? repeatedSinceMs : null) ?? last?.atMs ?? 0;
      if (last !== undefined && isJump({ ...last, atMs: Math.min(last.atMs, measuredMs) }, added)) poses = [added];
      else poses = [...earlier.slice(firstSince(earlier, pose.atMs - KEPT_MS)), added];
    },
    /** The next pose does not continue these: a pose that was set, another map. */
    interrupt(): void {
      poses = [];
      repeats.restart();
      first = { atMs: Number.NEGATIVE_INFINITY };
    },
    /** The next pose comes over another connection. */
    disconnect(): void {
      this.interrupt();
      lateness = createLateness();
      repeats = createRepeats();
    },
    poses: () => poses,
    standing(nowMs: number, unit: StandingInput['unit']): Standing {
      const { atMs = nowMs, delayMs = 0 } = poses.at(-1) ?? {};
      const isOld = nowMs - atMs > MAX_AGE_MS;
      const key = `${unit} ${isOld} ${nowMs - atMs + delayMs > MAX_AGE_MS}`;
      // A snapshot is taken many times between two poses.
      if (judged?.poses !== poses || judged.key !== key || isOld) {
        judged = { key, poses, standing: judgeStanding({ poses, nowMs, unit }) };
      }
      return judged.standing;
    },
  };
}

/** Whether no robot drives from one to the other in that time; the earlier one may have been measured before it arrived. */
function isJump(last: PoseSample, pose: PoseSample): boolean {
  const gapMs = pose.atMs - last.atMs + (last.lateMs ?? 0);
  return Math.hypot(pose.xM - last.xM, pose.yM - last.yM) > NOISE_M + (MAX_SPEED_M_S * gapMs) / 1_000;
}

function firstSince(poses: readonly PoseSample[], sinceMs: number): number {
  const at = poses.findIndex(({ atMs }) => atMs >= sinceMs);
  return at === -1 ? poses.length : at;
}
