import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../lifecycle/index.ts';
import { peerOf } from './ip-address.ts';
import { PASSWORD_MOST_LENGTH, type PasswordHash, verifyPassword } from './password-hash.ts';

/** Decisions of ours; the specification does not show credential model and session lifetime. */
export const signInRules = {
  idleMs: 30 * 60_000,
  mostMs: 12 * 60 * 60_000,
  wrongTries: 5,
  wrongTriesWithinMs: 60_000,
  /** Hashing takes memory and a core: so many at once, so many waiting, the others are sent away. */
  hashesAtOnce: 2,
  hashesWaiting: 8,
  sessions: 64,
} as const;

export type SignInOutcome =
  | { readonly kind: 'signed-in'; readonly token: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many-tries'; readonly retryAfterS: number }
  | { readonly kind: 'busy' };

/** One device password, sessions in memory, all times by the monotonic clock. */
export interface SignIn {
  /** `address` is the peer's, as the operating system tells it. */
  try(password: string, address: string): Promise<SignInOutcome>;
  /** Also counts as use: the session is kept alive. */
  isSignedIn(token: string): boolean;
  signOut(token: string): void;
}

export function createSignIn(password: PasswordHash, clock: Pick<Clock, 'monotonicMs'>): SignIn {
  const sessions = new Map<string, { readonly since: number; usedAt: number }>();
  const tries = createTryCounter(clock);
  let hashing = 0;
  const waiting: (() => void)[] = [];

  async function verify(candidate: string): Promise<boolean> {
    while (hashing >= signInRules.hashesAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    hashing += 1;
    try {
      return await verifyPassword(candidate, password);
    } finally {
      hashing -= 1;
      waiting.shift()?.();
    }
  }

  function open(): string {
    const token = randomBytes(32).toString('base64url');
    const now = clock.monotonicMs();
    for (const [key, session] of sessions) if (isOver(session, now)) sessions.delete(key);
    const [oldest] = sessions.keys();
    if (sessions.size >= signInRules.sessions && oldest !== undefined) sessions.delete(oldest);
    sessions.set(keyOf(token), { since: now, usedAt: now });
    return token;
  }

  return {
    async try(candidate, address) {
      const retryAfterMs = tries.blockedForMs(address);
      if (retryAfterMs > 0) return { kind: 'too-many-tries', retryAfterS: Math.ceil(retryAfterMs / 1000) };
      if (waiting.length >= signInRules.hashesWaiting) return { kind: 'busy' };
      // Counted before it is known to be wrong, or tries sent at the same time would all slip through.
      const forget = tries.count(address);
      if (candidate.length > PASSWORD_MOST_LENGTH) return { kind: 'wrong' };
      if (!(await verify(candidate))) return { kind: 'wrong' };
      forget();
      return { kind: 'signed-in', token: open() };
    },
    isSignedIn(token) {
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
    signOut(token) {
      sessions.delete(keyOf(token));
    },
  };
}

function isOver(session: { since: number; usedAt: number }, now: number): boolean {
  return now - session.usedAt >= signInRules.idleMs || now - session.since >= signInRules.mostMs;
}

/** A token is never kept, and how long a look-up takes says nothing about it. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function createTryCounter(clock: Pick<Clock, 'monotonicMs'>) {
  const { wrongTries, wrongTriesWithinMs } = signInRules;
  const stampsByPeer = new Map<string, number[]>();

  function recent(peer: string, now: number): number[] {
    const stamps = (stampsByPeer.get(peer) ?? []).filter((stamp) => now - stamp < wrongTriesWithinMs);
    if (stamps.length === 0) stampsByPeer.delete(peer);
    else stampsByPeer.set(peer, stamps);
    return stamps;
  }

  return {
    blockedForMs(address: string): number {
      const now = clock.monotonicMs();
      const stamps = recent(peerOf(address), now);
      const oldest = stamps.at(-wrongTries);
      return oldest === undefined ? 0 : oldest + wrongTriesWithinMs - now;
    },
    /** Returns the way to take it back. */
    count(address: string): () => void {
      const now = clock.monotonicMs();
      const peer = peerOf(address);
      // Old peers make room first; the map is bounded by what a network segment can hold in a minute.
      if (stampsByPeer.size >= 4_096) for (const other of stampsByPeer.keys()) recent(other, now);
      stampsByPeer.set(peer, [...recent(peer, now), now]);
      return () => {
        const stamps = stampsByPeer.get(peer) ?? [];
        const index = stamps.indexOf(now);
        if (index >= 0) stamps.splice(index, 1);
      };
    },
  };
}
