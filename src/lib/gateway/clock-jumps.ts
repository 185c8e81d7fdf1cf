import type { Clock, Log } from '../lifecycle/index.ts';
import { secondsText } from '../net/index.ts';

/** Project decisions: how often both clocks are compared, and from which difference on the wall clock was set. */
const LOOK_MS = 5_000;
export const JUMP_MS = 1_000;
/** Both clocks are read one after the other; with a longer pause in between they are read again. */
const READ_WITHIN_MS = 50;
const MAX_READS = 4;

export interface ClockJumps extends Disposable {
  /** The wall clock minus the monotonic clock, now; a jump until now is counted before this returns. */
  apartMs(): number;
  view(): { readonly jumps: number; readonly lastJump: { readonly at: string; readonly byMs: number } | null };
}

/**
 * Watches the wall clock beside the monotonic one. What moves both alike, as a time service that slews, is no jump. While the
 * machine sleeps the monotonic clock stands still, so a sleep counts as a jump forwards: the two cannot be distinguished.
 */
export function watchClockJumps({
  clock,
  log,
  onJump,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly onJump: () => void;
}): ClockJumps {
  let jumps = 0;
  let lastJump: { readonly at: string; readonly byMs: number } | null = null;
  let before = read(clock);

  function apartMs(): number {
    const now = read(clock);
    const byMs = Math.round(now - before);
    before = now;
    if (Math.abs(byMs) > JUMP_MS) {
      jumps += 1;
      lastJump = { at: clock.wall().toISOString(), byMs };
      const way = byMs > 0 ? 'forwards, or the machine slept' : 'back';
      log.warn({ audit: true, byMs, detail: `by ${secondsText(Math.abs(byMs))} ${way}` }, 'the wall clock was set');
      onJump();
    }
    return now;
  }

  const looking = clock.every(LOOK_MS, apartMs);
  return { apartMs, view: () => ({ jumps, lastJump }), [Symbol.dispose]: () => looking[Symbol.dispose]() };
}

function read(clock: Pick<Clock, 'monotonicMs' | 'wall'>): number {
  let best = { tookMs: Number.POSITIVE_INFINITY, apartMs: 0 };
  for (let reads = 0; reads < MAX_READS && best.tookMs > READ_WITHIN_MS; reads += 1) {
    const fromMs = clock.monotonicMs();
    const wallMs = clock.wall().getTime();
    const toMs = clock.monotonicMs();
    if (toMs - fromMs < best.tookMs) best = { tookMs: toMs - fromMs, apartMs: wallMs - (fromMs + toMs) / 2 };
  }
  return best.apartMs;
}
