import { z } from 'zod';
import type { DeepReadonly } from '../json/index.ts';
import {
  type Clock,
  createFoldedLog,
  type EmittedEvent,
  type Log,
  longestAgeMs,
  writeEvent,
} from '../lifecycle/index.ts';

const fields = z.record(z.string(), z.unknown());
const time = z.string().describe('UTC, by the wall clock of the gateway.');

export const journalEntrySchema = z.strictObject({
  time: time.describe('Of the first event in it.'),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  fields: fields.describe('Of the first event in it.'),
  count: z.int().min(1).describe('Number of events in this entry; repeated events share one.'),
  lastTime: time.describe('Of the last event in it.'),
  lastFields: fields.nullable().describe('Of the last event in it; null: as those of the first.'),
  ageMs: z
    .number()
    .min(0)
    .exactOptional()
    .describe(
      'Since the last event, at least: the longer span of the monotonic and the wall clock of the gateway. Absent: a gateway that does not report it.',
    ),
});
type JournalEntry = DeepReadonly<z.infer<typeof journalEntrySchema>>;

/** A log that also keeps its last events in memory, for a technician without a shell on the gateway. */
export interface Journal {
  /**
   * Writes to the given log and keeps the event; repeated events are folded in both. Events with `audit: true` among
   * their fields (stop, sign-in, drive, evidence, a failed service) are kept in the audit list too.
   */
  readonly log: Log;
  /** The last events of every kind, oldest first. */
  entries(): readonly JournalEntry[];
  /** The last audit events, oldest first; other events do not displace them. */
  audit(): readonly JournalEntry[];
  /** Events of every kind since then, oldest first; `atMs` of the last event in each entry, by the monotonic clock. */
  since(ms: number): readonly (JournalEntry & { readonly atMs: number })[];
  /** Emits the folded events that are pending; for an orderly end. */
  flush(): void;
}

export interface JournalOptions {
  readonly maxEntries?: number;
  /** Of each kind of audit event, so that one kind does not displace another. */
  readonly maxAuditEntriesPerKind?: number;
}

type Kept = { -readonly [K in Exclude<keyof JournalEntry, 'ageMs'>]: JournalEntry[K] } & {
  readonly burst: object | null;
  readonly same: string;
  /** Of the last event in it, by the monotonic clock. */
  atMs: number;
};

/** Kinds of audit events are constants of the program; beyond this limit the rest shares one ring. */
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

  function emit(event: EmittedEvent): void {
    if (event.level !== 'debug') {
      keep(all, event, maxEntries);
      if ((event.fields as { readonly audit?: unknown }).audit === true) {
        keep(auditRing(`${event.level} ${event.message}`), event, maxAuditEntriesPerKind);
      }
    }
    writeEvent(log, event);
  }

  function auditRing(kind: string): Kept[] {
    const known = audit.get(kind);
    if (known !== undefined) return known;
    if (audit.size >= MAX_AUDIT_KINDS && kind !== '') return auditRing('');
    const fresh: Kept[] = [];
    audit.set(kind, fresh);
    return fresh;
  }

  function keep(ring: Kept[], event: EmittedEvent, maxLength: number): void {
    const { level, message, fold, burst } = event;
    const time = clock.wall().toISOString();
    const atMs = clock.monotonicMs();
    const fields = plain(event.fields);
    const same = `${level} ${message} ${JSON.stringify(fields)}`;
    // All folded events of a burst share one entry, and so do identical single events in a row.
    const before = fold === null ? ring.at(-1) : ring.findLast((kept) => kept.burst === burst);
    if (before !== undefined && (fold !== null || before.same === same)) {
      before.count += fold?.more ?? 1;
      before.lastTime = time;
      before.atMs = atMs;
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
      atMs,
    });
    if (ring.length > maxLength) ring.splice(0, ring.length - maxLength);
  }

  const aged = (kept: Kept): JournalEntry => ({
    ...shown(kept),
    ageMs: longestAgeMs(clock, { atMs: kept.atMs, at: kept.lastTime }),
  });

  const folded = createFoldedLog({ clock, emit });
  return {
    log: folded,
    entries: () => all.map(aged),
    audit: () =>
      [...audit.values()]
        .flat()
        .sort((a, b) => a.atMs - b.atMs)
        .map(aged),
    since: (ms) => all.filter(({ atMs }) => atMs >= ms).map((kept) => ({ ...shown(kept), atMs: kept.atMs })),
    flush: () => folded.flush(),
  };
}

function shown({ burst: _burst, same: _same, atMs: _atMs, ...entry }: Kept): JournalEntry {
  return entry;
}

/** Keeps only plain values: errors have no enumerable fields, and causes may hold anything. */
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
