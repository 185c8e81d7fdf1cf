import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../lifecycle/index.ts';

/** Project decisions; the specification does not show how long a session lasts. */
export const sessionRules = { idleMs: 30 * 60_000, maxMs: 12 * 60 * 60_000, sessions: 64 } as const;

/** Sessions in memory, all times by the monotonic clock. */
export interface SessionStore {
  /** Returns the token, of which only a hash is stored. Beyond `sessions` the oldest session ends. */
  open(): string;
  /** Counts as use of the session. */
  isOpen(token: string): boolean;
  close(token: string): void;
  /** Returns the number of ended sessions. */
  closeAll(): number;
}

interface Session {
  readonly since: number;
  usedAt: number;
}

export function createSessionStore(clock: Pick<Clock, 'monotonicMs'>): SessionStore {
  const sessions = new Map<string, Session>();

  function forgetEnded(): void {
    const now = clock.monotonicMs();
    for (const [key, session] of sessions) if (isOver(session, now)) sessions.delete(key);
  }

  return {
    open() {
      const token = randomBytes(32).toString('base64url');
      forgetEnded();
      const [oldest] = sessions.keys();
      if (sessions.size >= sessionRules.sessions && oldest !== undefined) sessions.delete(oldest);
      const now = clock.monotonicMs();
      sessions.set(keyOf(token), { since: now, usedAt: now });
      return token;
    },
    isOpen(token) {
      const key = keyOf(token);
      const session = sessions.get(key);
      if (!session) return false;
      const now = clock.monotonicMs();
      if (isOver(session, now)) {
        sessions.delete(key);
        return false;
      }
      session.usedAt = now;
      return true;
    },
    close(token) {
      sessions.delete(keyOf(token));
    },
    closeAll() {
      forgetEnded();
      const count = sessions.size;
      sessions.clear();
      return count;
    },
  };
}

function isOver({ since, usedAt }: Session, now: number): boolean {
  return now - usedAt >= sessionRules.idleMs || now - since >= sessionRules.maxMs;
}

/** Only the hash of a token is stored, so the time of a look-up reveals nothing about it. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
