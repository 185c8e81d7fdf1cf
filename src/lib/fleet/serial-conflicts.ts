import type { Heartbeat } from './datagram.ts';
import { PERIOD_MS } from './wire.ts';

/** Rejected heartbeats, each newer than the one before, that prove a second device. */
const MIN_PROOF_HEARTBEATS = 3;
/** Project decision, as are the others: silence after which a sender no longer counts. */
const FORGET_AFTER_MS = 15 * PERIOD_MS;
/** Bound of the senders of one serial beside the active one; the one silent longest is removed. */
const MAX_OTHER_SENDERS = 4;

/** A heartbeat with its source address and time. */
export interface ReceivedHeartbeat {
  readonly heartbeat: Heartbeat;
  readonly address: string;
  readonly atMs: number;
}

interface OtherSender extends ReceivedHeartbeat {
  /** Heartbeats that were refused, each newer than the one before. */
  readonly advanced: number;
  /** Whether it was the active sender before. */
  readonly wasActive: boolean;
}

/**
 * Detects other senders of one serial: another device with the same serial, or a replay of an earlier boot. Senders are
 * distinguished by instance, not by address, because one device may have several addresses.
 */
export interface ConflictDetector {
  /** Records a rejected heartbeat of another instance than the active one. */
  refused(received: ReceivedHeartbeat): void;
  /** Records that `next`, of another instance, replaces the active sender with its last heartbeat. */
  superseded(last: ReceivedHeartbeat, next: ReceivedHeartbeat): void;
  /** Address of a proven other sender; null: none. */
  conflict(nowMs: number): string | null;
}

export function createConflictDetector(): ConflictDetector {
  /** By instance, in the order of their last new heartbeat. */
  const senders = new Map<string, OtherSender>();

  function put(sender: OtherSender): void {
    senders.delete(sender.heartbeat.instance);
    if (senders.size === MAX_OTHER_SENDERS) {
      const [oldest] = senders.keys();
      if (oldest !== undefined) senders.delete(oldest);
    }
    senders.set(sender.heartbeat.instance, sender);
  }

  function find({ heartbeat, atMs }: ReceivedHeartbeat): OtherSender | null {
    const sender = senders.get(heartbeat.instance);
    return sender === undefined || isForgotten(sender, atMs) ? null : sender;
  }

  return {
    refused(received) {
      const before = find(received);
      if (before !== null && !isNewer(received.heartbeat, before.heartbeat)) return;
      put({ ...received, advanced: (before?.advanced ?? 0) + 1, wasActive: before?.wasActive ?? false });
    },

    superseded(last, next) {
      const before = find(next);
      senders.delete(next.heartbeat.instance);
      // A device never returns to an earlier boot counter, so two devices share it.
      const isBack = before?.wasActive === true && before.heartbeat.bootCounter === next.heartbeat.bootCounter;
      const { heartbeat, address, atMs } = last;
      put({ heartbeat, address, atMs, advanced: isBack ? MIN_PROOF_HEARTBEATS : 0, wasActive: true });
    },

    conflict(nowMs) {
      const proved = [...senders.values()].filter(
        (sender) => sender.advanced >= MIN_PROOF_HEARTBEATS && !isForgotten(sender, nowMs),
      );
      return proved.at(-1)?.address ?? null;
    },
  };
}

function isNewer(heartbeat: Heartbeat, than: Heartbeat): boolean {
  if (heartbeat.bootCounter !== than.bootCounter) return heartbeat.bootCounter > than.bootCounter;
  return heartbeat.sequence > than.sequence;
}

function isForgotten({ atMs }: OtherSender, nowMs: number): boolean {
  return nowMs - atMs >= FORGET_AFTER_MS;
}
