import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

type LogLevelName = keyof Log;

/** One event as it is told, or several of one kind as one. */
export interface ToldEvent {
  readonly level: LogLevelName;
  readonly message: string;
  /** Of the event, or of the last of several. */
  readonly fields: object;
  /** null: a single event. */
  readonly fold: Fold | null;
  /** The same object for everything that is told of one burst. */
  readonly burst: object;
}

/** What is told of events that were not told one by one. */
interface Fold {
  readonly more: number;
  readonly inMs: number;
  /** `address` of the first and the last of them; absent where these events name none. */
  readonly firstAddress?: unknown;
  readonly lastAddress?: unknown;
}

export interface FoldedLog extends Log {
  /** Tells what was folded and not yet told; for an orderly end. */
  flush(): void;
}

export interface FoldingOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly tell: (event: ToldEvent) => void;
}

/** A burst is over when no event of its kind came for so long; what is folded is told once in as long. */
const FOLD_MS = 10_000;
/** So many events of a burst are told one by one. */
const MAX_SINGLE_EVENTS = 5;
/** And the first one of each further address, so that a second client is seen beside one that floods. */
const MAX_ADDRESSES = 16;
/** Kinds are constants of the program and few; should they be more at once, the rest shares one. */
const MAX_KINDS = 256;
const OTHER_EVENTS = 'other events';

interface Burst {
  readonly level: LogLevelName;
  readonly message: string;
  readonly addresses: Set<unknown>;
  singles: number;
  lastAtMs: number;
  folded: { more: number; firstAddress: unknown; last: object; sinceMs: number; timer: Disposable } | null;
}

/**
 * A log in which nobody writes without limit by repeating a request: of the events of one kind (level and message) that
 * follow each other, the first ones are told as they come and the others once in 10 s with their number. So the message
 * of an event must be a constant; what differs belongs in its fields, and its sender in `address`.
 */
export function createFoldedLog({ clock, tell }: FoldingOptions): FoldedLog {
  const bursts = new Map<string, Burst>();

  function isOver(burst: Burst, nowMs: number): boolean {
    return burst.folded === null && nowMs - burst.lastAtMs >= FOLD_MS;
  }

  function burstOf(level: LogLevelName, message: string, nowMs: number): Burst {
    const kind = `${level} ${message}`;
    const known = bursts.get(kind);
    if (known !== undefined && !isOver(known, nowMs)) return known;
    if (known === undefined && bursts.size >= MAX_KINDS && message !== OTHER_EVENTS) {
      for (const [other, burst] of bursts) if (isOver(burst, nowMs)) bursts.delete(other);
      if (bursts.size >= MAX_KINDS) return burstOf(level, OTHER_EVENTS, nowMs);
    }
    const fresh: Burst = { level, message, addresses: new Set(), singles: 0, lastAtMs: nowMs, folded: null };
    bursts.set(kind, fresh);
    return fresh;
  }

  function isSingle(burst: Burst, address: unknown): boolean {
    burst.singles += 1;
    const isNew = address !== undefined && !burst.addresses.has(address) && burst.addresses.size < MAX_ADDRESSES;
    if (isNew) burst.addresses.add(address);
    return isNew || burst.singles <= MAX_SINGLE_EVENTS;
  }

  function tellFolded(burst: Burst): void {
    const { level, message, folded } = burst;
    if (folded === null) return;
    burst.folded = null;
    folded.timer[Symbol.dispose]();
    const { more, firstAddress, last, sinceMs } = folded;
    const lastAddress = addressOf(last);
    const inMs = Math.round(clock.monotonicMs() - sinceMs);
    const fold: Fold = { more, inMs, ...(lastAddress !== undefined && { firstAddress, lastAddress }) };
    tell({ level, message, fields: last, fold, burst });
  }

  const taking = (level: LogLevelName) => (fields: object, message: string) => {
    const nowMs = clock.monotonicMs();
    const burst = burstOf(level, message, nowMs);
    burst.lastAtMs = nowMs;
    const address = addressOf(fields);
    if (isSingle(burst, address)) {
      tell({ level, message, fields, fold: null, burst });
    } else if (burst.folded === null) {
      const timer = clock.after(FOLD_MS, () => tellFolded(burst));
      burst.folded = { more: 1, firstAddress: address, last: fields, sinceMs: nowMs, timer };
    } else {
      burst.folded.more += 1;
      burst.folded.last = fields;
    }
  };

  return {
    debug: taking('debug'),
    info: taking('info'),
    warn: taking('warn'),
    error: taking('error'),
    flush() {
      for (const burst of bursts.values()) tellFolded(burst);
    },
  };
}

/** Writes an event: a fold as 'stop asked for (512 more in 10 s)', with its numbers as fields. */
export function writeTold(log: Log, { level, message, fields, fold }: ToldEvent): void {
  if (fold === null) log[level](fields, message);
  else log[level]({ ...fields, ...fold }, `${message} (${fold.more} more in ${Math.ceil(fold.inMs / 1_000)} s)`);
}

function addressOf(fields: object): unknown {
  return (fields as { readonly address?: unknown }).address;
}
