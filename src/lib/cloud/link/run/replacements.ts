import { noClosings } from '../closings.ts';
import type { FailedAttempt, LinkIdentity, LinkPath } from '../model.ts';
import type { LinkState } from '../state.ts';
import { type Connector, isNetworkFailure } from './connector.ts';
import type { Renewal } from './renewal.ts';
import type { Sessions } from './sessions.ts';

/** With TLS 1.3 a broker rejects a client certificate only after the handshake. */
const REJECTION_WAIT_MS = 1_000;

/** One run of the link, from its call to the abort of its signal. */
export interface LinkRun {
  readonly signal: AbortSignal;
  readonly connector: Connector;
  readonly renewal: Renewal;
}

/** Replaces the present session by another one, one replacement at a time. */
export interface Replacements {
  /**
   * Connects anew, on the first of these paths that works, before the present session is given up. Returns the failure;
   * then the present session is untouched. Throws only the reason of the signal.
   */
  replace(identity: LinkIdentity, paths: readonly LinkPath[], run: LinkRun): Promise<FailedAttempt | null>;
  /** Resolves when those that were begun before have ended. */
  settled(): Promise<unknown>;
}

export function createReplacements(state: LinkState, sessions: Pick<Sessions, 'begin'>): Replacements {
  let turn: Promise<unknown> = Promise.resolve();

  async function replaceInTurn(
    identity: LinkIdentity,
    paths: readonly LinkPath[],
    { signal, connector, renewal }: LinkRun,
  ): Promise<FailedAttempt | null> {
    signal.throwIfAborted();
    state.isReplacing = true;
    try {
      let failed: FailedAttempt | null = null;
      for (const path of paths) {
        const result = await connector.connect(path, identity, { settleMs: REJECTION_WAIT_MS });
        if ('mqtt' in result) {
          sessions.begin(result, renewal);
          state.shortSessions = 0;
          state.closings = noClosings;
          return null;
        }
        failed = result;
        // A broker that answered would say the same on the other port.
        if (!isNetworkFailure(result)) break;
      }
      // The broker accepted CONNECT, which displaced the present session, and then rejected a subscription.
      if (state.session === null) state.losses += 1;
      return failed;
    } finally {
      state.isReplacing = false;
    }
  }

  return {
    replace(identity, paths, run) {
      const done = turn.then(() => replaceInTurn(identity, paths, run));
      turn = done.catch(() => {});
      return done;
    },
    settled: () => turn,
  };
}
