import type { Clock } from '../lifecycle/index.ts';
import { type HeartbeatKey, type KeyRing, keyName } from './keys.ts';

/** Silence after which nobody signs with a key any more. Decision of ours: robots are away for charging or repair. */
const UNUSED_FOR_MS = 60 * 60_000;

/**
 * A ring whose accepted keys, all but the one that signs, are accepted for a stated time. Afterwards a key is dropped
 * as soon as nobody has signed with it for an hour: as long as a robot still does, that robot stays in hearing. Counted
 * by a clock that nobody can set, from the start of the daemon.
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
          const holds = ring.byId(id)?.verifies(bytes, signature) ?? false;
          if (holds) made.usedAtMs = clock.monotonicMs();
          return holds;
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
