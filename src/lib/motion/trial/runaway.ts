import { judgeAfterStop } from '../../chassis/index.ts';
import type { OrderTools } from '../orders.ts';
import { MAX_ANSWER_MS } from './judge/stop.ts';
import { restNow } from './rest.ts';
import type { Sampler } from './samples.ts';

export const ALARM = 'PRESS THE EMERGENCY STOP';
/** A robot that moves after a cancel is cancelled again at this interval. Project decision. */
export const CANCEL_AGAIN_MS = 1_000;
/** How long a robot that does not come to rest is cancelled repeatedly. Project decision. */
const MAX_RUNAWAY_MS = 40_000;

/** Watches a robot after the first cancel of a trial, whoever sent it. */
export interface RunawayWatch {
  /** Why the person must press the emergency stop; null while nothing shows it. */
  check(): string | null;
  /** The robot was seen to stand: from here on it must not move, whether a cancel came before or not. */
  rested(): void;
}

/** The poses of the link decide, and a cancel that is not accepted; what the chassis reports of its moves does not. */
export function createRunawayWatch({ link, canceller, clock }: OrderTools): RunawayWatch {
  let beganMs = clock.monotonicMs();
  const isCancelling = () => canceller.isPending || canceller.isSending;
  /** That of an earlier order is not one of this trial. */
  let isEarlierOpen = isCancelling();
  let cancelledAtMs: number | null = null;
  let acceptedAtMs: number | null = null;
  let judged: unknown;

  return {
    rested() {
      const nowMs = clock.monotonicMs();
      [cancelledAtMs, acceptedAtMs] = [nowMs, nowMs];
    },
    check() {
      const nowMs = clock.monotonicMs();
      if (isEarlierOpen) {
        isEarlierOpen = isCancelling();
        beganMs = nowMs;
        return null;
      }
      const isAccepted = canceller.answeredAtMs > beganMs;
      if (isAccepted) acceptedAtMs ??= canceller.answeredAtMs;
      if (isAccepted || isCancelling()) cancelledAtMs ??= acceptedAtMs ?? nowMs;
      if (cancelledAtMs === null) return null;
      if (acceptedAtMs === null && nowMs - cancelledAtMs > MAX_ANSWER_MS) {
        const why = canceller.failure === null ? '' : `: ${canceller.failure.replace(/\.$/, '')}`;
        return `the chassis does not accept the cancel${why}`;
      }
      const { poses, poseUnit } = link.snapshot();
      // Other messages are no news of the robot.
      if (poses === judged) return null;
      judged = poses;
      const acknowledgedAtMs = acceptedAtMs ?? cancelledAtMs;
      const after = judgeAfterStop({
        poses,
        nowMs,
        unit: poseUnit.verdict,
        acknowledgedAtMs,
        orderedAtMs: null,
      });
      return after.verdict === 'drives-on' ? `the robot keeps moving after the cancel: ${after.reason}` : null;
    },
  };
}

/**
 * Cancels the move again while the robot moves by its poses, until it stands or the time is over. Null where it stands,
 * otherwise what is known, as a clause.
 */
export async function holdUntilStill(tools: OrderTools, sampler: Sampler): Promise<string | null> {
  const beganMs = sampler.now();
  let cancelledAtMs = Number.NEGATIVE_INFINITY;
  const leftMs = () => MAX_RUNAWAY_MS - (sampler.now() - beganMs);
  const isConnected = () => tools.link.state().kind === 'connected';
  let judgedPoses = 0;
  const hasNews = () => sampler.poses.length !== judgedPoses || !isConnected();
  for (;;) {
    judgedPoses = sampler.poses.length;
    // Only from here on: earlier poses may show a rest from which it has set out.
    const { standing } = restNow(sampler, beganMs);
    if (standing.verdict === 'stands') return null;
    if (!isConnected()) return 'the robot may still be moving';
    if (leftMs() <= 0) return `the robot may still be moving: ${standing.reason}`;
    const { planning } = tools.link.snapshot().values;
    const isReported = planning.status === 'received' && planning.value.moveState === 'moving';
    const isMoving = isReported || standing.verdict === 'moves';
    if (isMoving && !tools.canceller.isSending && sampler.now() - cancelledAtMs >= CANCEL_AGAIN_MS) {
      cancelledAtMs = sampler.now();
      void tools.canceller.cancel('a trial has ended and the robot still moves');
    }
    await sampler.until(hasNews, Math.max(1, Math.min(CANCEL_AGAIN_MS, leftMs())));
  }
}
