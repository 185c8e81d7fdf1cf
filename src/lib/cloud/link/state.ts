import type { GwError } from '../../error/index.ts';
import type { LinkSession } from './attempt.ts';
import { noClosings, type ShortClosings } from './closings.ts';
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
  /** Sessions in a row that ended soon, however. */
  shortSessions: number;
  /** Those of them that the peer closed, since the last other end. */
  closings: ShortClosings;
  /** The last session ended without a PUBACK; over when the next one outlasts the wait for it. */
  noPuback: { readonly strayAcks: number; readonly overAtMs: number } | null;
  /** Whether the end of the present session is the work of the next one. */
  isReplacing: boolean;
  retryAtMs: number | null;
  /** When the direct path is tried again; null while it is in use, and before the first connection. */
  directDueMs: number | null;
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
    closings: noClosings,
    noPuback: null,
    isReplacing: false,
    retryAtMs: null,
    directDueMs: null,
  };
}
