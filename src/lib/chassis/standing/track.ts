import type { PoseSample } from '../pose-sample.ts';
import { judgeStanding, MAX_AGE_MS, type Standing, type StandingInput } from './standing.ts';

/** Project decisions: as far back as standing and braking are judged; poses that arrive faster are thinned out. */
const KEPT_MS = 15_000;
const MIN_GAP_MS = 40;
/** Project decision: beyond this speed, and more than noise, is a relocalisation: the poses before it are of another place. */
const MAX_SPEED_M_S = 3;
const NOISE_M = 0.1;

/** The newest poses of one connection, oldest first. */
export function createTrack() {
  let poses: readonly PoseSample[] = [];
  let judged: { poses: typeof poses; unit: StandingInput['unit']; isOld: boolean; standing: Standing } | undefined;

  return {
    add(pose: PoseSample): void {
      const last = poses.at(-1);
      if (last !== undefined) {
        const gapMs = pose.atMs - last.atMs;
        if (gapMs < MIN_GAP_MS) return;
        const wayM = Math.hypot(pose.xM - last.xM, pose.yM - last.yM);
        if (wayM > NOISE_M + (MAX_SPEED_M_S * gapMs) / 1_000) poses = [];
      }
      // A new array each time: what was given out does not change afterwards.
      const from = poses.findIndex(({ atMs }) => atMs >= pose.atMs - KEPT_MS);
      poses = [...(from === -1 ? [] : poses.slice(from)), pose];
    },
    /** The next pose does not continue these: another connection, or a pose that was set. */
    interrupt(): void {
      poses = [];
    },
    poses: () => poses,
    standing(nowMs: number, unit: StandingInput['unit']): Standing {
      const isOld = nowMs - (poses.at(-1)?.atMs ?? nowMs) > MAX_AGE_MS;
      // A snapshot is taken many times between two poses.
      if (judged?.poses !== poses || judged.unit !== unit || judged.isOld || isOld) {
        judged = { poses, unit, isOld, standing: judgeStanding({ poses, nowMs, unit }) };
      }
      return judged.standing;
    },
  };
}
