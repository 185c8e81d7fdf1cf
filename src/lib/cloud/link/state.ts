import type { GwError } from '../../error/index.ts';
import type { LinkSession } from './attempt.ts';
import type { Connection, FailedAttempt, LinkIdentity, LinkPath } from './model.ts';

/** What the link knows at the moment. Nothing of it survives the process. */
export interface LinkState {
  isRunning: boolean;
  identity:
    | { readonly kind: 'not-checked' | 'none' }
    | { readonly kind: 'enrolled'; readonly identity: LinkIdentity }
    | { readonly kind: 'broken'; readonly error: GwError };
  session: LinkSession | null;
  connection: Connection | null;
  readonly failures: Record<LinkPath, FailedAttempt | null>;
  renewalFailure: FailedAttempt | null;
  connects: number;
  losses: number;
  /** Sessions in a row that the peer ended soon. */
  shortSessions: number;
  /** Whether the end of the present session is the work of the next one. */
  isReplacing: boolean;
  retryAtMs: number | null;
}

export function createLinkState(): LinkState {
  return {
    isRunning: false,
    identity: { kind: 'not-checked' },
    session: null,
    connection: null,
    failures: { direct: null, fallback: null },
    renewalFailure: null,
    connects: 0,
    losses: 0,
    shortSessions: 0,
    isReplacing: false,
    retryAtMs: null,
  };
}
