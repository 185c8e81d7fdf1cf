import { type Clock, createBackoff } from '../../../lifecycle/index.ts';
import type { LinkPath } from '../model.ts';
import type { LinkState } from '../state.ts';
import type { LinkTiming } from '../timing.ts';

/** When the direct path is tried again while the fallback is in use: `directDueMs` of the state. */
export interface DirectRetry {
  isDue(): boolean;
  /** After a failure on the direct path. */
  postpone(): void;
  /** After the check of a path: a session on the fallback returns to the direct path at once. */
  returnAtOnce(): void;
  /** A session on this path is the present one. */
  connected(path: LinkPath): void;
  /** A session on this path has ended, after so long. */
  ended(path: LinkPath, livedMs: number): void;
}

export function createDirectRetry(
  state: Pick<LinkState, 'directDueMs'>,
  { clock, timing }: { readonly clock: Clock; readonly timing: Pick<LinkTiming, 'directRetry' | 'healedMs'> },
): DirectRetry {
  const backoff = createBackoff(timing.directRetry, clock);

  function postpone(): void {
    state.directDueMs = clock.monotonicMs() + backoff.nextMs();
  }

  return {
    isDue: () => state.directDueMs !== null && clock.monotonicMs() >= state.directDueMs,
    postpone,
    returnAtOnce() {
      state.directDueMs = clock.monotonicMs();
    },
    connected(path) {
      if (path === 'direct') state.directDueMs = null;
      // Not later for a reconnect on the fallback, which may happen again and again before.
      else if (state.directDueMs === null) postpone();
    },
    ended(path, livedMs) {
      if (path === 'direct' && livedMs >= timing.healedMs) backoff.reset();
    },
  };
}
