import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../lifecycle/index.ts';
import { peerOf } from '../connections/ip-address.ts';
import { MAX_PASSWORD_LENGTH, type PasswordHash, verifyPassword } from './password-hash.ts';
import { createSessionStore } from './session-store.ts';
import { createSignInQueue, type Lane } from './sign-in-queue.ts';

/** Project decisions. */
export const failedTryRules = {
  wrongTries: 5,
  wrongTriesWithinMs: 60_000,
  /** How long an address with a failed attempt has lower priority. */
  rememberedMs: 15 * 60_000,
  /** A failed attempt costs a hash, so this many cannot be made within `wrongTriesWithinMs` to displace a block. */
  keys: 8_192,
} as const;

/** Failed sign-in attempts by client. The cost of a call does not depend on their number. */
interface FailedTries {
  /** Remaining time of the block of this key; 0: not blocked. */
  blockedForMs(key: string): number;
  /** Remembered failed attempts, `wrongTries` at most. */
  count(key: string): number;
  add(key: string): void;
  size(): number;
}

/**
 * A signed mark that a browser keeps after its first sign-in, also after sign-out. It grants no access: a device with a
 * mark only gets priority when many sign in at once, so that a flood of sign-ins does not block the tablet. The signing
 * key is derived from the password hash, so a mark survives a restart and not a new password.
 */
interface DeviceMarks {
  /** Reuses the name of a valid earlier mark. */
  make(name: string | null): string;
  /** Name of the device; null when the mark is invalid. */
  nameOf(mark: string): string | null;
}

const NAME_BYTES = 16;
const MARK = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

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

export function createFailedTries(clock: Pick<Clock, 'monotonicMs'>): FailedTries {
  const { wrongTries, wrongTriesWithinMs, rememberedMs, keys } = failedTryRules;
  /** In the order of the last failure; each list ascending. */
  const stampsByKey = new Map<string, readonly number[]>();

  function remembered(key: string, nowMs: number): readonly number[] {
    return (stampsByKey.get(key) ?? []).filter((stamp) => nowMs - stamp < rememberedMs);
  }

  return {
    blockedForMs(key) {
      const nowMs = clock.monotonicMs();
      const oldest = stampsByKey.get(key)?.at(-wrongTries);
      return oldest === undefined ? 0 : Math.max(0, oldest + wrongTriesWithinMs - nowMs);
    },
    count: (key) => remembered(key, clock.monotonicMs()).length,
    add(key) {
      const nowMs = clock.monotonicMs();
      const stamps = [...remembered(key, nowMs), nowMs].slice(-wrongTries);
      stampsByKey.delete(key);
      if (stampsByKey.size >= keys) {
        const [oldest] = stampsByKey.keys();
        if (oldest !== undefined) stampsByKey.delete(oldest);
      }
      stampsByKey.set(key, stamps);
    },
    size: () => stampsByKey.size,
  };
}

export function createDeviceMarks({ salt, hash }: Pick<PasswordHash, 'salt' | 'hash'>): DeviceMarks {
  const key = createHmac('sha256', hash).update('gw device mark\0').update(salt).digest();
  const sign = (name: string) => createHmac('sha256', key).update(name).digest();
  return {
    make(kept) {
      const name = kept ?? randomBytes(NAME_BYTES).toString('base64url');
      return `${name}.${sign(name).toString('base64url')}`;
    },
    nameOf(mark) {
      const [, name = '', signature = ''] = MARK.exec(mark) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const own = sign(name);
      return given.length === own.length && timingSafeEqual(given, own) ? name : null;
    },
  };
}
