/** One entry of the log as the technician page shows it; message and details are English sentences of programs. */
export interface LogEntry {
  /** UTC, of the last event in it. */
  readonly time: string;
  readonly level: 'error' | 'warn' | 'info';
  readonly message: string;
  readonly details: string;
  readonly count: number;
}

export type LogView =
  | { readonly state: 'closed' | 'loading' }
  /** By the code of the refusal. */
  | { readonly state: 'refused'; readonly code: string }
  | { readonly state: 'shown'; readonly entries: readonly LogEntry[] };

/** Project decisions: what a technician reads at once; the command `gw log` has the rest. */
const MAX_ENTRIES = 100;
const MAX_LENGTH = 400;

/** The newest entries of `GET /api/protokolle`, newest first. Whatever cannot be read is left out. */
export function readLog(answer: unknown): readonly LogEntry[] {
  const list = isObject(answer) && Array.isArray(answer.entries) ? (answer.entries as unknown[]) : [];
  const entries = list.flatMap((one): LogEntry[] => {
    if (!isObject(one) || typeof one.message !== 'string') return [];
    const { time, lastTime, level, message, fields, lastFields, count } = one;
    return [
      {
        time: typeof lastTime === 'string' ? lastTime : typeof time === 'string' ? time : '',
        level: level === 'error' || level === 'warn' ? level : 'info',
        message: message.slice(0, MAX_LENGTH),
        details: detailsOf(isObject(lastFields) ? lastFields : fields),
        count: typeof count === 'number' && Number.isSafeInteger(count) && count > 0 ? count : 1,
      },
    ];
  });
  // Repeated events share an entry in the place of the first of them.
  return entries
    .reverse()
    .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
    .slice(0, MAX_ENTRIES);
}

function detailsOf(fields: unknown): string {
  if (!isObject(fields)) return '';
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
    .slice(0, MAX_LENGTH);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
