import type { Clock } from '../../lifecycle/index.ts';
import { peerOf } from '../connections/ip-address.ts';
import { createDeviceMarks } from './device-mark.ts';
import { createFailedTries } from './failed-tries.ts';
import { MAX_PASSWORD_LENGTH, type PasswordHash, verifyPassword } from './password-hash.ts';
import { createSessionStore } from './session-store.ts';
import { createSignInQueue, type Lane } from './sign-in-queue.ts';

/** Addresses with a successful last attempt are remembered: number and duration are project decisions. */
const KNOWN_ADDRESSES = 64;
const KNOWN_FOR_MS = 12 * 60 * 60_000;

type SignInOutcome =
  | { readonly kind: 'signed-in'; readonly token: string; readonly deviceMark: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many-tries'; readonly retryAfterS: number }
  | { readonly kind: 'busy'; readonly retryAfterS: number };

/** The client of a sign-in attempt. */
interface Caller {
  /** Peer address of the socket; null: a command on the gateway itself, which is never limited. */
  readonly address: string | null;
  /** The mark of an earlier sign-in. */
  readonly deviceMark?: string | undefined;
  /** Aborted when the client has disconnected. */
  readonly signal?: AbortSignal;
}

/** One device password, sessions in memory, all times by the monotonic clock. */
export interface SignIn {
  try(password: string, caller: Caller): Promise<SignInOutcome>;
  /** Counts as use of the session. */
  isSignedIn(token: string): boolean;
  signOut(token: string): void;
  /** Ends all sessions, including that of the caller. Returns their number. */
  signOutAll(): number;
}

/** The key under which a client is counted, and its place in the queue. */
interface QueuePosition {
  readonly key: string;
  readonly lane: Lane;
  readonly rank: number;
}

export function createSignIn(password: PasswordHash, clock: Pick<Clock, 'monotonicMs' | 'after'>): SignIn {
  const sessions = createSessionStore(clock);
  const failed = createFailedTries(clock);
  const line = createSignInQueue(clock);
  const marks = createDeviceMarks(password);
  /** Time of the last sign-in by key; the oldest is dropped first. */
  const knownAddresses = new Map<string, number>();
  let localTries = 0;

  function isKnown(key: string): boolean {
    const sinceMs = knownAddresses.get(key);
    return sinceMs !== undefined && clock.monotonicMs() - sinceMs < KNOWN_FOR_MS;
  }

  function remember(key: string): void {
    knownAddresses.delete(key);
    const [oldest] = knownAddresses.keys();
    if (knownAddresses.size >= KNOWN_ADDRESSES && oldest !== undefined) knownAddresses.delete(oldest);
    knownAddresses.set(key, clock.monotonicMs());
  }

  function queuePositionOf(address: string | null, device: string | null): QueuePosition {
    if (address === null) {
      localTries += 1;
      return { key: `local ${localTries}`, lane: 'known', rank: 0 };
    }
    const deviceKey = `device ${device}`;
    // A stolen mark that is used for guessing has no effect while its key is blocked.
    if (device !== null && failed.blockedForMs(deviceKey) === 0) return { key: deviceKey, lane: 'known', rank: 0 };
    const key = peerOf(address);
    if (isKnown(key)) return { key, lane: 'known', rank: 0 };
    const failures = failed.count(key);
    return { key, lane: failures === 0 ? 'new' : 'failed', rank: failures };
  }

  return {
    async try(candidate, { address, deviceMark, signal }) {
      const device = deviceMark === undefined ? null : marks.nameOf(deviceMark);
      const { key, lane, rank } = queuePositionOf(address, device);
      const tooMany = (): SignInOutcome | null => {
        const retryAfterMs = failed.blockedForMs(key);
        return retryAfterMs > 0 ? { kind: 'too-many-tries', retryAfterS: Math.ceil(retryAfterMs / 1000) } : null;
      };
      const blocked = tooMany();
      if (blocked !== null) return blocked;
      // Never valid and never hashed, so it is not counted: it would only fill the table.
      if (candidate.length > MAX_PASSWORD_LENGTH) return { kind: 'wrong' };
      const isRight = await line.take({ key, lane, rank, signal }, async () => {
        // Earlier attempts of the same key may have triggered the block meanwhile.
        return tooMany() ?? (await verifyPassword(candidate, password));
      });
      if (isRight === null) return { kind: 'busy', retryAfterS: 1 };
      if (typeof isRight === 'object') return isRight;
      if (isRight) {
        if (address !== null) remember(peerOf(address));
        return { kind: 'signed-in', token: sessions.open(), deviceMark: marks.make(device) };
      }
      if (address !== null) {
        failed.add(key);
        knownAddresses.delete(key);
      }
      return { kind: 'wrong' };
    },
    isSignedIn: (token) => sessions.isOpen(token),
    signOut: (token) => sessions.close(token),
    signOutAll: () => sessions.closeAll(),
  };
}
