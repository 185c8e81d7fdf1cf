import type { Clock } from '../lifecycle/index.ts';
import { type HeartbeatKey, type KeyRing, keyName } from './keys.ts';

/** Project decision: a key unused for this long may be dropped; robots are away for charging or repair. */
const UNUSED_FOR_MS = 60 * 60_000;

/**
 * A key ring whose accepted keys, except the signing key, expire: after the given time since the start of the daemon, by the
 * monotonic clock, a key is dropped once no heartbeat was signed with it for an hour.
 */
export function retiringKeys(
  ring: KeyRing,
  options: {
    readonly afterMs: number;
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly onRetired: (key: string) => void;
  },
): KeyRing {
  const { afterMs, clock, onRetired } = options;
  const beganMs = clock.monotonicMs();
  const watched = new Map<number, { readonly key: HeartbeatKey; usedAtMs: number; isRetired: boolean }>();

  return {
    signing: ring.signing,
    byId(id) {
      const key = ring.byId(id);
      if (key === undefined || key === ring.signing) return key;
      let entry = watched.get(id);
      if (entry === undefined) {
        const made = { key: { ...key, verifies }, usedAtMs: beganMs, isRetired: false };
        function verifies(bytes: Uint8Array, signature: Uint8Array): boolean {
          const isValid = ring.byId(id)?.verifies(bytes, signature) ?? false;
          if (isValid) made.usedAtMs = clock.monotonicMs();
          return isValid;
        }
        entry = made;
        watched.set(id, entry);
      }
      const nowMs = clock.monotonicMs();
      const isOver = nowMs - beganMs >= afterMs && nowMs - entry.usedAtMs >= UNUSED_FOR_MS;
      if (isOver && !entry.isRetired) {
        entry.isRetired = true;
        onRetired(keyName(key));
      }
      return entry.isRetired ? undefined : entry.key;
    },
  };
}
