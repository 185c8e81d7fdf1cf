import type { Clock } from './clock.ts';

/** The structured log that modules receive: pino in the daemon, a list in tests. Never a secret in `fields`. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

type LogLevelName = keyof Log;

/** A single event, or several of one kind folded into one. */
export interface EmittedEvent {
  readonly level: LogLevelName;
  readonly message: string;
  /** Of the event, or of the last of several. */
  readonly fields: object;
  /** null: a single event. */
  readonly fold: Fold | null;
  /** Identity of the burst that the event belongs to. */
  readonly burst: object;
}

/** Summary of folded events. */
interface Fold {
  readonly more: number;
  readonly inMs: number;
  /** `address` of the first and the last of them; absent where these events name none. */
  readonly firstAddress?: unknown;
  readonly lastAddress?: unknown;
}

export interface FoldedLog extends Log {
  /** Emits the folded events that are pending; for an orderly end. */
  flush(): void;
}

export interface FoldingOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly emit: (event: EmittedEvent) => void;
}

/** A burst ends after this time without an event of its kind; folded events are emitted at this interval. */
const FOLD_MS = 10_000;
/** Events of a burst that are emitted singly. */
const MAX_SINGLE_EVENTS = 5;
/** Plus the first event of each further address, so that a second client stays visible during a flood. */
const MAX_ADDRESSES = 16;
/** Kinds are constants of the program; beyond this limit the rest shares one. */
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
 * A log that repeated requests cannot flood: of successive events of one kind (level and message) the first ones are
 * emitted singly, and the others once in 10 s with their number. So the message of an event must be a constant; variable
 * data belong in its fields, and its sender in `address`.
 */
export function createFoldedLog({ clock, emit }: FoldingOptions): FoldedLog {
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

  function emitFolded(burst: Burst): void {
    const { level, message, folded } = burst;
    if (folded === null) return;
    burst.folded = null;
    folded.timer[Symbol.dispose]();
    const { more, firstAddress, last, sinceMs } = folded;
    const lastAddress = addressOf(last);
    const inMs = Math.round(clock.monotonicMs() - sinceMs);
    const fold: Fold = { more, inMs, ...(lastAddress !== undefined && { firstAddress, lastAddress }) };
    emit({ level, message, fields: last, fold, burst });
  }

  const recorder = (level: LogLevelName) => (fields: object, message: string) => {
    const nowMs = clock.monotonicMs();
    const burst = burstOf(level, message, nowMs);
    burst.lastAtMs = nowMs;
    const address = addressOf(fields);
    if (isSingle(burst, address)) {
      emit({ level, message, fields, fold: null, burst });
    } else if (burst.folded === null) {
      const timer = clock.after(FOLD_MS, () => emitFolded(burst));
      burst.folded = { more: 1, firstAddress: address, last: fields, sinceMs: nowMs, timer };
    } else {
      burst.folded.more += 1;
      burst.folded.last = fields;
    }
  };

  return {
    debug: recorder('debug'),
    info: recorder('info'),
    warn: recorder('warn'),
    error: recorder('error'),
    flush() {
      for (const burst of bursts.values()) emitFolded(burst);
    },
  };
}

/** Writes an event: a fold as 'stop requested (512 more in 10 s)', with its numbers as fields. */
export function writeEvent(log: Log, { level, message, fields, fold }: EmittedEvent): void {
  if (fold === null) log[level](fields, message);
  else log[level]({ ...fields, ...fold }, `${message} (${fold.more} more in ${Math.ceil(fold.inMs / 1_000)} s)`);
}

function addressOf(fields: object): unknown {
  return (fields as { readonly address?: unknown }).address;
}
