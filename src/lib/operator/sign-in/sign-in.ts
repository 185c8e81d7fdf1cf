import type { Clock } from '../../lifecycle/index.ts';
import { peerOf } from '../connections/ip-address.ts';
import { createDeviceMarks } from './device-mark.ts';
import { createFailedTries } from './failed-tries.ts';
import { PASSWORD_MOST_LENGTH, type PasswordHash, verifyPassword } from './password-hash.ts';
import { createSessionStore } from './session-store.ts';
import { createSignInLine, type Lane } from './sign-in-line.ts';

/** Addresses whose last try was right are remembered: so many, for so long. Project decisions. */
const KNOWN_ADDRESSES = 64;
const KNOWN_FOR_MS = 12 * 60 * 60_000;

type SignInOutcome =
  | { readonly kind: 'signed-in'; readonly token: string; readonly deviceMark: string }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too-many-tries'; readonly retryAfterS: number }
  | { readonly kind: 'busy'; readonly retryAfterS: number };

/** Who tries a password. */
interface Caller {
  /** The peer's, as the operating system tells it; null: a command on the gateway itself, which is never limited. */
  readonly address: string | null;
  /** What an earlier sign-in left in the browser. */
  readonly deviceMark?: string | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** One device password, sessions in memory, all times by the monotonic clock. */
export interface SignIn {
  try(password: string, caller: Caller): Promise<SignInOutcome>;
  /** Also counts as use: the session is kept alive. */
  isSignedIn(token: string): boolean;
  signOut(token: string): void;
  /** Ends every session, that of the caller as well. Returns how many there were. */
  signOutAll(): number;
}

/** Under which name a caller is counted and queued. */
interface Standing {
  readonly key: string;
  readonly lane: Lane;
  readonly rank: number;
}

export function createSignIn(password: PasswordHash, clock: Pick<Clock, 'monotonicMs' | 'after'>): SignIn {
  const sessions = createSessionStore(clock);
  const failed = createFailedTries(clock);
  const line = createSignInLine(clock);
  const marks = createDeviceMarks(password);
  /** When each last signed in; the one that did so longest ago gives way. */
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

  function standingOf(address: string | null, device: string | null): Standing {
    if (address === null) {
      localTries += 1;
      return { key: `local ${localTries}`, lane: 'known', rank: 0 };
    }
    const deviceKey = `device ${device}`;
    // A mark that was stolen and is used to guess counts for nothing until its minute is over.
    if (device !== null && failed.blockedForMs(deviceKey) === 0) return { key: deviceKey, lane: 'known', rank: 0 };
    const key = peerOf(address);
    if (isKnown(key)) return { key, lane: 'known', rank: 0 };
    const failures = failed.count(key);
    return { key, lane: failures === 0 ? 'new' : 'failed', rank: failures };
  }

  return {
    async try(candidate, { address, deviceMark, signal }) {
      const device = deviceMark === undefined ? null : marks.nameOf(deviceMark);
      const { key, lane, rank } = standingOf(address, device);
      const tooMany = (): SignInOutcome | null => {
        const retryAfterMs = failed.blockedForMs(key);
        return retryAfterMs > 0 ? { kind: 'too-many-tries', retryAfterS: Math.ceil(retryAfterMs / 1000) } : null;
      };
      const blocked = tooMany();
      if (blocked !== null) return blocked;
      // Never right and never hashed, so it is no guess and is not counted: that would fill the table for nothing.
      if (candidate.length > PASSWORD_MOST_LENGTH) return { kind: 'wrong' };
      const isRight = await line.take({ key, lane, rank, signal }, async () => {
        // Those of the same address before it may have been wrong once too often meanwhile.
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
