import type { Clock, Log } from '../lifecycle/index.ts';

export interface JournalEntry {
  /** UTC, for people. */
  readonly time: string;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that also keeps its last events, for the technician who has no shell on the gateway. */
export interface Journal {
  /** Writes to the log it was made with, and keeps the event. */
  readonly log: Log;
  /** Oldest first. */
  entries(): readonly JournalEntry[];
}

/** Keeps the last `capacity` events of level info and above in memory. */
export function createJournal(log: Log, clock: Pick<Clock, 'wall'>, capacity = 500): Journal {
  const kept: JournalEntry[] = [];
  const keep = (level: JournalEntry['level'], fields: object, message: string) => {
    kept.push({ time: clock.wall().toISOString(), level, message, fields: plain(fields) });
    if (kept.length > capacity) kept.splice(0, kept.length - capacity);
  };
  return {
    log: {
      debug: (fields, message) => log.debug(fields, message),
      info(fields, message) {
        keep('info', fields, message);
        log.info(fields, message);
      },
      warn(fields, message) {
        keep('warn', fields, message);
        log.warn(fields, message);
      },
      error(fields, message) {
        keep('error', fields, message);
        log.error(fields, message);
      },
    },
    entries: () => kept,
  };
}

/** Errors have no enumerable fields and causes may hold anything: only what is plain is kept. */
function plain(fields: object): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value instanceof Error) result[key] = value.message;
    else if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) result[key] = value;
    else if (value !== undefined) result[key] = bounded(value);
  }
  return result;
}

function bounded(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 1_000);
  } catch {
    return '[not printable]';
  }
}
