import { type Clock, createFoldedLog, type Log, type ToldEvent, writeTold } from '../lifecycle/index.ts';

interface JournalEntry {
  /** UTC, for people. Of the first event in it. */
  readonly time: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** Of the first event in it. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How many events it stands for: the same again and again is one entry. */
  readonly count: number;
  /** UTC, of the last event in it. */
  readonly lastTime: string;
  /** Of the last event in it; null when that is the first one, or the same. */
  readonly lastFields: Readonly<Record<string, unknown>> | null;
}

/** A log that also keeps its last events, for the technician who has no shell on the gateway. */
export interface Journal {
  /**
   * Writes to the log it was made with, and keeps the event. What repeats is folded in both. `audit: true` among the
   * fields: who did what (stop, sign-in, tour, evidence, a failed service); these are kept apart as well.
   */
  readonly log: Log;
  /** The last events of every kind, oldest first. */
  entries(): readonly JournalEntry[];
  /** The last events for the audit, oldest first; nothing else pushes them out. */
  audit(): readonly JournalEntry[];
  /** Tells what was folded and not yet told; for an orderly end. */
  flush(): void;
}

export interface JournalOptions {
  readonly maxEntries?: number;
  /** Of each kind of audit event, so that one kind does not push out another. */
  readonly maxAuditEntriesPerKind?: number;
}

type Kept = { -readonly [K in keyof JournalEntry]: JournalEntry[K] } & {
  readonly burst: object | null;
  readonly same: string;
};

/** Kinds of audit events are constants of the program; should they be more, the rest shares a ring. */
const MAX_AUDIT_KINDS = 64;
const MAX_TEXT_LENGTH = 1_000;

/** Keeps the last events of level info and above in memory. */
export function createJournal(
  log: Log,
  clock: Pick<Clock, 'wall' | 'monotonicMs' | 'after'>,
  { maxEntries = 500, maxAuditEntriesPerKind = 50 }: JournalOptions = {},
): Journal {
  const all: Kept[] = [];
  const audit = new Map<string, Kept[]>();

  function tell(event: ToldEvent): void {
    if (event.level !== 'debug') {
      keep(all, event, maxEntries);
      if ((event.fields as { readonly audit?: unknown }).audit === true) {
        keep(auditRing(`${event.level} ${event.message}`), event, maxAuditEntriesPerKind);
      }
    }
    writeTold(log, event);
  }

  function auditRing(kind: string): Kept[] {
    const known = audit.get(kind);
    if (known !== undefined) return known;
    if (audit.size >= MAX_AUDIT_KINDS && kind !== '') return auditRing('');
    const fresh: Kept[] = [];
    audit.set(kind, fresh);
    return fresh;
  }

  function keep(ring: Kept[], event: ToldEvent, maxLength: number): void {
    const { level, message, fold, burst } = event;
    const time = clock.wall().toISOString();
    const fields = plain(event.fields);
    const same = `${level} ${message} ${JSON.stringify(fields)}`;
    // A burst has one entry for all that was folded of it; beside it what is told word for word again is no new entry.
    const before = fold === null ? ring.at(-1) : ring.findLast((kept) => kept.burst === burst);
    if (before !== undefined && (fold !== null || before.same === same)) {
      before.count += fold?.more ?? 1;
      before.lastTime = time;
      before.lastFields = before.same === same ? null : fields;
      return;
    }
    ring.push({
      time,
      level,
      message,
      fields,
      count: fold?.more ?? 1,
      lastTime: time,
      lastFields: null,
      burst: fold === null ? null : burst,
      same,
    });
    if (ring.length > maxLength) ring.splice(0, ring.length - maxLength);
  }

  const folded = createFoldedLog({ clock, tell });
  return {
    log: folded,
    entries: () => all.map(shown),
    audit: () => [...audit.values()].flat().map(shown).sort(byTime),
    flush: () => folded.flush(),
  };
}

function shown({ burst: _burst, same: _same, ...entry }: Kept): JournalEntry {
  return entry;
}

function byTime(a: JournalEntry, b: JournalEntry): number {
  return a.lastTime < b.lastTime ? -1 : a.lastTime > b.lastTime ? 1 : 0;
}

/** Errors have no enumerable fields and causes may hold anything: only what is plain is kept. */
function plain(fields: object): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (key === 'audit') continue;
    if (value instanceof Error) result[key] = cut(value.message);
    else if (typeof value === 'string') result[key] = cut(value);
    else if (value === null || ['number', 'boolean'].includes(typeof value)) result[key] = value;
    else if (value !== undefined) result[key] = bounded(value);
  }
  return result;
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH);
}

function bounded(value: unknown): string {
  try {
    return cut(JSON.stringify(value) ?? String(value));
  } catch {
    return '[not printable]';
  }
}
