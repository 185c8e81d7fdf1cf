import { MAX_REST_WINDOW_MS, MIN_REST_SAMPLES, type Rest, restSince } from './judge/numbers.ts';
import type { Sampler } from './samples.ts';

/** The longest wait for a robot at rest: the time over which it is judged at most, and some reserve. */
const MAX_WAIT_MS = MAX_REST_WINDOW_MS + 2_000;
/** A robot that moves by its poses for so long does not stand still. Project decision. */
const MAX_MOVING_MS = 6_000;

/** Whether the robot stands, by the poses of this trial. */
export function restNow(sampler: Sampler, sinceMs?: number): ReturnType<typeof restSince> {
  return restSince({ poses: sampler.poses, unit: sampler.unit, nowMs: sampler.now(), sinceMs });
}

/** Waits until the poses since then show the robot at rest; null where they do not, or after an abort. */
export async function untilRest(sampler: Sampler, sinceMs: number, signal?: AbortSignal): Promise<Rest | null> {
  const beganMs = sampler.now();
  let rest: Rest | null = null;
  let movingSinceMs: number | null = null;
  const isDecided = () => {
    ({ rest } = restNow(sampler, sinceMs));
    if (rest !== null) return true;
    // Earlier poses may show a drive that has ended.
    const isMoving = restNow(sampler, Math.max(sinceMs, beganMs)).standing.verdict === 'moves';
    if (isMoving) movingSinceMs ??= sampler.now();
    else movingSinceMs = null;
    return movingSinceMs !== null && sampler.now() - movingSinceMs >= MAX_MOVING_MS;
  };
  await sampler.until(isDecided, MAX_WAIT_MS, signal);
  return rest;
}

/**
 * Where the robot stands, by its poses; otherwise the reason why no order may be sent. `isProofAwaited`: an earlier cancel
 * is not yet seen obeyed. That is judged by fewer poses than the rest, and the gate takes no order before.
 */
export async function untilAtRest(
  sampler: Sampler,
  isProofAwaited: () => boolean,
  signal: AbortSignal,
): Promise<Rest | string> {
  await sampler.until(() => !isProofAwaited(), MAX_WAIT_MS, signal);
  const rest = await untilRest(sampler, Number.NEGATIVE_INFINITY, signal);
  const { invalidatedBy } = sampler;
  if (rest === null) {
    const { standing } = restNow(sampler);
    const also = invalidatedBy === null ? '' : ` Also: ${invalidatedBy}.`;
    if (standing.verdict === 'moves')
      return `The reported pose drifts while the robot should stand still: ${standing.reason}.${also}`;
    if (invalidatedBy === null && !signal.aborted) {
      const few = standing.poses < MIN_REST_SAMPLES ? 'Too few poses' : 'Whether the robot stands is not known';
      return `${few}: ${standing.reason}.`;
    }
  }
  // A fault before the order is a refusal.
  if (invalidatedBy !== null) return `No order was sent: ${invalidatedBy}.`;
  signal.throwIfAborted();
  return rest ?? 'Whether the robot stands is not known.';
}
