import type { Clock } from '../lifecycle/index.ts';
import type { Heartbeat } from './datagram.ts';
import type { ReplayGuard } from './replay-guard.ts';
import { PERIOD_MS } from './wire.ts';

/** Rejected heartbeats, each newer than the one before, that prove a second device. */
const MIN_PROOF_HEARTBEATS = 3;
/** Project decision, as are the others: silence after which a sender no longer counts. */
const FORGET_AFTER_MS = 15 * PERIOD_MS;
/** Bound of the senders of one serial beside the active one; the one silent longest is removed. */
const MAX_OTHER_SENDERS = 4;

/** A heartbeat with its source address and time. */
interface ReceivedHeartbeat {
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
interface ConflictDetector {
  /** Records a rejected heartbeat of another instance than the active one. */
  refused(received: ReceivedHeartbeat): void;
  /** Records that `next`, of another instance, replaces the active sender with its last heartbeat. */
  superseded(last: ReceivedHeartbeat, next: ReceivedHeartbeat): void;
  /** Address of a proven other sender; null: none. */
  conflict(nowMs: number): string | null;
}

/** Project decision: missed heartbeats in a row after which a neighbour is late, and gone. */
const LATE_AFTER = 3;
const GONE_AFTER = 15;
/** Bound of the list; beyond it the robot received longest ago is removed. */
const MAX_NEIGHBOURS = 1000;

export type Presence = 'alive' | 'late' | 'gone';

/** Another robot by its heartbeats. */
export interface Neighbour {
  readonly serial: string;
  /** Source address of its last heartbeat. */
  readonly address: string;
  readonly presence: Presence;
  /** Since its last heartbeat, by the monotonic clock. */
  readonly ageMs: number;
  readonly heartbeat: Heartbeat;
  /** Heartbeats received, and gaps in the sequence between them. */
  readonly heartbeats: number;
  readonly lost: number;
  /** Address of another device with the same serial, or of a replay of an earlier boot; null: none. */
  readonly conflictWith: string | null;
}

/**
 * The verdict on a verified heartbeat. 'echo': of this gateway itself. 'copy': a duplicate of the last one. 'replayed': not
 * newer than the last one of its serial. 'table-full': a new serial, and the table of serials is full.
 */
export type Verdict = 'received' | 'echo' | 'copy' | 'replayed' | 'table-full';

interface Entry extends ReceivedHeartbeat {
  readonly heartbeats: number;
  readonly lost: number;
  readonly conflicts: ConflictDetector;
}

export interface Neighbours {
  /** Processes a verified heartbeat. */
  receive(heartbeat: Heartbeat, address: string): Verdict;
  /** By serial. */
  list(): Neighbour[];
  /** Address of another device that sends with the own serial; null: none. */
  ownConflict(): string | null;
}

/**
 * The list of neighbours. Silent ones are kept with their age, by the monotonic clock.
 * `self`: own serial and instance, to recognise the echo of own heartbeats.
 */
export function createNeighbours(options: {
  readonly self: { readonly serial: string; readonly instance: string };
  readonly guard: Pick<ReplayGuard, 'accept'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Robots of the site file: never removed for another serial. */
  readonly reserved?: ReadonlySet<string>;
}): Neighbours {
  const { self, guard, clock, reserved = new Set<string>() } = options;
  const entries = new Map<string, Entry>();
  const ownConflicts = createConflictDetector();

  return {
    receive(heartbeat, address) {
      const received = { heartbeat, address, atMs: clock.monotonicMs() };
      if (heartbeat.serial === self.serial) {
        if (heartbeat.instance === self.instance) return 'echo';
        ownConflicts.refused(received);
        return 'replayed';
      }
      const entry = entries.get(heartbeat.serial);
      const isOther = entry !== undefined && entry.heartbeat.instance !== heartbeat.instance;
      const acceptance = guard.accept(heartbeat);
      if (acceptance === 'table-full') return 'table-full';
      if (acceptance === 'replayed') {
        // The same instance is a duplicate or a replay, not another device.
        if (isOther) entry.conflicts.refused(received);
        return entry !== undefined && isCopy(entry, received) ? 'copy' : 'replayed';
      }
      if (isOther) entry.conflicts.superseded(entry, received);
      if (entry === undefined) evictOldest(entries, reserved);
      else entries.delete(heartbeat.serial);
      entries.set(heartbeat.serial, {
        ...received,
        heartbeats: (entry?.heartbeats ?? 0) + 1,
        lost: (entry?.lost ?? 0) + (entry === undefined || isOther ? 0 : lostBetween(entry.heartbeat, heartbeat)),
        conflicts: entry?.conflicts ?? createConflictDetector(),
      });
      return 'received';
    },

    list() {
      const nowMs = clock.monotonicMs();
      return [...entries.values()]
        .map(({ address, heartbeat, atMs, heartbeats, lost, conflicts }): Neighbour => {
          const ageMs = Math.max(0, nowMs - atMs);
          const conflictWith = conflicts.conflict(nowMs);
          return {
            serial: heartbeat.serial,
            address,
            presence: presenceOf(ageMs),
            ageMs,
            heartbeat,
            heartbeats,
            lost,
            conflictWith,
          };
        })
        .sort((a, b) => (a.serial < b.serial ? -1 : 1));
    },

    ownConflict: () => ownConflicts.conflict(clock.monotonicMs()),
  };
}

function createConflictDetector(): ConflictDetector {
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

/** Of a neighbour whose last heartbeat is this old. */
export function presenceOf(ageMs: number): Presence {
  const missed = Math.floor(ageMs / PERIOD_MS);
  if (missed >= GONE_AFTER) return 'gone';
  return missed >= LATE_AFTER ? 'late' : 'alive';
}

/** Duplicates arrive within milliseconds; a period later it is a replay. */
function isCopy(last: ReceivedHeartbeat, { heartbeat, atMs }: ReceivedHeartbeat): boolean {
  const { instance, bootCounter, sequence } = last.heartbeat;
  const isSame =
    heartbeat.instance === instance && heartbeat.bootCounter === bootCounter && heartbeat.sequence === sequence;
  return isSame && atMs - last.atMs < PERIOD_MS;
}

function lostBetween(before: Heartbeat, after: Heartbeat): number {
  return before.bootCounter === after.bootCounter ? after.sequence - before.sequence - 1 : 0;
}

/** Insertion order is the order of the last receipt. The site file reserves at most 1000. */
function evictOldest(entries: Map<string, Entry>, reserved: ReadonlySet<string>): void {
  if (entries.size < MAX_NEIGHBOURS) return;
  let oldest: string | undefined;
  for (const serial of entries.keys()) {
    oldest ??= serial;
    if (reserved.has(serial)) continue;
    entries.delete(serial);
    return;
  }
  if (oldest !== undefined) entries.delete(oldest);
}
