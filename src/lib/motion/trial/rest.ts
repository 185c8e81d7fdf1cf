import { isAtRest, MIN_REST_SAMPLES, type Rest, restOf, steadyRest } from './judge/numbers.ts';
import type { Sampler } from './samples.ts';

/** How long the robot must stand still before the order, and the maximum wait for it. */
const REST_MS = 2_000;
const MAX_WAIT_MS = 6_000;

/** Where the robot stands, after two seconds at rest; otherwise the reason why no order may be sent. */
export async function untilAtRest(sampler: Sampler, signal: AbortSignal): Promise<Rest | string> {
  /** The newest poses, over at least two seconds; all of them where there are fewer. */
  const newest = () => {
    const untilMs = (sampler.poses.at(-1)?.atMs ?? 0) - REST_MS;
    const from = sampler.poses.findLastIndex(({ atMs }) => atMs <= untilMs);
    return { isWhole: from >= 0, samples: sampler.poses.slice(Math.max(0, from)) };
  };
  const isSteady = () => {
    const { isWhole, samples } = newest();
    return isWhole && steadyRest(restOf(samples)) !== null;
  };
  await sampler.until(isSteady, MAX_WAIT_MS, signal);
  const { isWhole, samples } = newest();
  const { invalidatedBy } = sampler;
  const rest = restOf(samples);
  if (rest !== null && !isAtRest(rest)) {
    const seconds = (((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)) / 1_000).toFixed(1);
    const how = `${rest.driftM.toFixed(2)} m and ${rest.driftDeg.toFixed(1)} in its heading within ${seconds} s`;
    const also = invalidatedBy === null ? '' : ` Also: ${invalidatedBy}.`;
    return `The reported pose drifts while the robot should stand still: ${how}.${also}`;
  }
  // A fault before the order is a refusal.
  if (invalidatedBy !== null) return `No order was sent: ${invalidatedBy}.`;
  signal.throwIfAborted();
  if (rest !== null && isWhole) return rest;
  return `Fewer than ${MIN_REST_SAMPLES} poses received within ${REST_MS / 1_000} s.`;
}
