import { asGwError } from '../../error/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import type { PresentFault } from '../model.ts';
import type { Outbox } from '../outbox/model.ts';
import { type KeptFault, readFaultFile, writeFaultFile } from './fault-file.ts';
import type { FaultsView } from './model.ts';

/** A fault is cleared this long after it was raised at the earliest, so a flapping one has one pair of messages a minute. */
const MIN_RAISED_MS = 60_000;
/** After the outbox has refused a message. */
const RETRY_MS = 10_000;
/** Project decision: a chassis that reports ever new alerts must not fill the outbox. */
export const MAX_RAISED = 256;

interface Row extends KeptFault {
  phase: KeptFault['phase'];
  text: string;
  occurrences: number;
  isPresent: boolean;
  isChecked: boolean;
  /** When it was last seen to be gone, UTC; null while present. */
  goneAt: string | null;
  readonly raisedAtMs: number;
  /** Why its message was not accepted; null: it was, or was not given to the outbox yet. */
  refusal: string | null;
  retryAtMs: number;
}

/**
 * Publishes raised and cleared faults. A fault is raised at once and cleared late rather than early: the cloud may show
 * a fault too long, never too short. Which faults are raised is durable, so a restart neither raises one again nor forgets
 * to clear it; a crash between the file and the outbox repeats a message with the same fault id.
 */
export function createFaultReports(options: {
  readonly topic: string;
  readonly path: string;
  readonly present: () => readonly PresentFault[];
  /** Starts of keys that cannot be checked now. */
  readonly unchecked: () => readonly string[];
  readonly outbox: Pick<Outbox, 'append'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId?: () => string;
}) {
  const { topic, path, present, unchecked, outbox, clock, log, newId = () => crypto.randomUUID() } = options;
  const rows = new Map<string, Row>();
  let unreported = 0;
  let isLoaded = false;
  let isBusy = false;
  /** Why the present faults are unknown. */
  let unknownBecause: string | null = null;
  let unsavedBecause: string | null = null;
  let saveAtMs = 0;

  /** Logs a failure that is new, and returns its text. */
  function failure(error: unknown, before: string | null, what: string): string {
    const { message } = asGwError(error);
    if (before !== message) log.warn({ error: message }, what);
    return message;
  }

  function add(
    { key, text, number, mark }: PresentFault,
    { faultId, phase, occurrences }: Pick<KeptFault, 'faultId' | 'phase' | 'occurrences'>,
    isChecked: boolean,
  ): void {
    rows.set(key, {
      ...{ key, text, number, mark, faultId, phase, occurrences, isChecked },
      ...{ isPresent: true, goneAt: null, raisedAtMs: clock.monotonicMs(), refusal: null, retryAtMs: 0 },
    });
  }

  /** Compares with the present faults. Returns whether a message is to be sent. */
  function compare(faults: readonly PresentFault[], starts: readonly string[]): boolean {
    const now = new Map(faults.map((fault) => [fault.key, fault]));
    const nowMs = clock.monotonicMs();
    unreported = 0;
    for (const fault of now.values()) {
      const row = rows.get(fault.key);
      if (row !== undefined) {
        if (!row.isPresent && row.phase !== 'clearing') row.occurrences += 1;
        if (row.phase !== 'clearing')
          Object.assign(row, { isPresent: true, isChecked: true, goneAt: null, text: fault.text });
      } else if (rows.size < MAX_RAISED) add(fault, { faultId: newId(), phase: 'raising', occurrences: 1 }, true);
      else unreported += 1;
    }
    for (const row of rows.values()) {
      if (now.has(row.key)) continue;
      row.isChecked = !starts.some((start) => row.key.startsWith(start));
      if (!row.isChecked) continue;
      row.isPresent = false;
      row.goneAt ??= clock.wall().toISOString();
      if (row.phase === 'raised' && nowMs - row.raisedAtMs >= MIN_RAISED_MS) row.phase = 'clearing';
    }
    return [...rows.values()].some(({ phase, retryAtMs }) => phase !== 'raised' && retryAtMs <= nowMs);
  }

  /** A fault is reported all the same when the file cannot be written; after a restart it is raised once more. */
  async function save(): Promise<void> {
    try {
      await writeFaultFile(path, [...rows.values()]);
      unsavedBecause = null;
    } catch (error) {
      unsavedBecause = failure(error, unsavedBecause, 'the raised faults could not be saved');
      saveAtMs = clock.monotonicMs() + RETRY_MS;
    }
  }

  async function send(row: Row): Promise<void> {
    const { key, faultId, number, mark, text, occurrences, goneAt } = row;
    const body =
      row.phase === 'raising'
        ? { event: 'raised', faultId, key, text, number, mark }
        : { event: 'cleared', faultId, key, number, mark, occurrences, goneAt };
    try {
      await outbox.append({ class: 'fault', topic, body });
      row.refusal = null;
      if (row.phase === 'raising') row.phase = 'raised';
      else rows.delete(key);
    } catch (error) {
      row.retryAtMs = clock.monotonicMs() + RETRY_MS;
      row.refusal = failure(error, row.refusal, 'a fault could not be reported');
    }
  }

  async function report(): Promise<void> {
    let isDue: boolean;
    try {
      isDue = compare(present(), unchecked());
      unknownBecause = null;
    } catch (error) {
      unknownBecause = failure(error, unknownBecause, 'the present faults could not be determined');
      return;
    }
    const nowMs = clock.monotonicMs();
    if (isDue || (unsavedBecause !== null && saveAtMs <= nowMs)) await save();
    if (!isDue) return;
    // One after the other: the outbox keeps the order in which it is given them.
    for (const row of [...rows.values()]) if (row.phase !== 'raised' && row.retryAtMs <= nowMs) await send(row);
    await save();
  }

  function trouble(): string | null {
    if (!isLoaded) return 'The faults that were raised before are not read yet.';
    const refused = [...rows.values()].find(({ refusal }) => refusal !== null);
    return unknownBecause ?? refused?.refusal ?? unsavedBecause;
  }

  return {
    /** Reads what was raised before. Never rejects: without the file, present faults are raised again. */
    async load(): Promise<void> {
      try {
        for (const fault of await readFaultFile(path)) add(fault, fault, false);
      } catch (error) {
        unsavedBecause = failure(error, null, 'the raised faults could not be read');
      }
      isLoaded = true;
    },

    /** Reports what has changed. Never rejects; a call during another one does nothing. */
    async tick(): Promise<void> {
      if (isBusy || !isLoaded) return;
      isBusy = true;
      try {
        await report();
      } finally {
        isBusy = false;
      }
    },

    view(): FaultsView {
      const raised = [...rows.values()].map(
        ({ key, text, number, mark, faultId, occurrences, isPresent, isChecked }) => {
          const state = isChecked ? (isPresent ? ('present' as const) : ('gone' as const)) : ('not-checked' as const);
          return { key, text, number, mark, faultId, occurrences, state };
        },
      );
      return { raised, unreported, trouble: trouble() };
    },
  };
}
