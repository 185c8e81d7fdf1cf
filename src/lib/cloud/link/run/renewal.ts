import type { Clock, createBackoff } from '../../../lifecycle/index.ts';
import type { FailedAttempt, LinkIdentity } from '../model.ts';
import type { LinkState } from '../state.ts';

/** How a renewed certificate gets into use in one run: which one failed, why, and when it is tried again. */
export interface Renewal {
  /** The identity of the last connection; null: none in this run. */
  readonly proven: LinkIdentity | null;
  /** A session with this identity is the present one. */
  connected(inUse: LinkIdentity): void;
  /** Whether this renewed certificate is tried now: at once when it is another one than the one that failed last. */
  isDue(installed: LinkIdentity): boolean;
  /** It failed, and the certificate before it is used. */
  failed(why: FailedAttempt): void;
  /** It was tried beside the session in use; null: it is in use now. */
  tried(installed: LinkIdentity, failure: FailedAttempt | null): void;
  /** The installed certificate is the one in use. */
  done(): void;
}

/** `retry` outlasts the run. */
export function createRenewal(
  state: Pick<LinkState, 'identity' | 'renewalFailure'>,
  { clock, retry }: { readonly clock: Clock; readonly retry: ReturnType<typeof createBackoff> },
): Renewal {
  let proven: LinkIdentity | null = null;
  /** Fingerprint of the renewed certificate that failed last. */
  let rejected: string | null = null;
  let dueMs = 0;

  return {
    get proven() {
      return proven;
    },
    connected(inUse) {
      proven = inUse;
      const current = state.identity.kind === 'enrolled' ? state.identity.identity.fingerprintSha256 : null;
      if (current === inUse.fingerprintSha256) {
        state.renewalFailure = null;
        retry.reset();
        dueMs = 0;
      } else {
        rejected = current;
        dueMs = clock.monotonicMs() + retry.nextMs();
      }
    },
    isDue: ({ fingerprintSha256 }) => clock.monotonicMs() >= dueMs || fingerprintSha256 !== rejected,
    failed(why) {
      state.renewalFailure = why;
    },
    tried({ fingerprintSha256 }, failure) {
      state.renewalFailure = failure;
      if (failure === null) return;
      rejected = fingerprintSha256;
      dueMs = clock.monotonicMs() + retry.nextMs();
    },
    done() {
      state.renewalFailure = null;
    },
  };
}
