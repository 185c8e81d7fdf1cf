import { z } from 'zod';
import { asGwError } from '../../error/index.ts';
import { readStateFile, writeStateFile } from '../../json/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Outbox } from '../outbox/model.ts';
import { type CurrentFaults, type FaultsView, type PresentFault, presentFaultSchema } from './model.ts';
import { createSingleRun } from './single-run.ts';

const FORMAT = 'gw/cloud-faults/1';

/** A fault whose message was or may have been accepted by the outbox. */
const keptFault = z.object({
  ...presentFaultSchema.shape,
  faultId: z.string(),
  /** 'raising' and 'clearing' are written before the message is given to the outbox. */
  phase: z.enum(['raising', 'raised', 'clearing']),
  occurrences: z.int(),
  /** When it was first seen to be gone since it was present last, UTC; null: it was not. */
  goneAt: z.string().nullable(),
});
type KeptFault = Readonly<z.infer<typeof keptFault>>;
const faultFile = z.object({ format: z.literal(FORMAT), faults: z.array(keptFault) });

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
  /** By the last comparison; after a restart, until it is checked, by the file. */
  isPresent: boolean;
  isChecked: boolean;
  goneAt: string | null;
  /** Whether it was present again after its 'cleared' message was made. */
  isRecurring: boolean;
  readonly raisedAtMs: number;
  /** Why its message was not accepted; null: it was, or was not given to the outbox yet. */
  refusal: string | null;
  retryAtMs: number;
}

const asPresent = { isPresent: true, isChecked: true };

/**
 * Publishes raised and cleared faults. A fault is raised at once and cleared late rather than early: the cloud may show
 * a fault too long, never too short. Which faults are raised is durable, so a restart neither raises one again nor forgets
 * to clear it; a crash between the file and the outbox repeats a message with the same fault id.
 */
export function createFaultReports(options: {
  readonly topic: string;
  readonly path: string;
  readonly faults: () => CurrentFaults;
  readonly outbox: Pick<Outbox, 'append'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId?: () => string;
}) {
  const { topic, path, faults, outbox, clock, log, newId = () => crypto.randomUUID() } = options;
  const rows = new Map<string, Row>();
  let unreported = 0;
  let isLoaded = false;
  const reporting = createSingleRun(clock);
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
    { faultId, phase, occurrences, goneAt }: Pick<KeptFault, 'faultId' | 'phase' | 'occurrences' | 'goneAt'>,
    { isPresent, isChecked }: Pick<Row, 'isPresent' | 'isChecked'>,
  ): void {
    rows.set(key, {
      ...{ key, text, number, mark, faultId, phase, occurrences, goneAt, isPresent, isChecked },
      ...{ isRecurring: false, raisedAtMs: clock.monotonicMs(), refusal: null, retryAtMs: 0 },
    });
  }

  /** What is shown follows the faults also while a message is being written. */
  function compare({ present, unchecked }: CurrentFaults): void {
    const now = new Map(present.map((fault) => [fault.key, fault]));
    unreported = 0;
    for (const fault of now.values()) {
      const row = rows.get(fault.key);
      if (row !== undefined) seePresent(row, fault);
      else if (rows.size < MAX_RAISED) raise(fault);
      else unreported += 1;
    }
    for (const row of rows.values()) {
      if (now.has(row.key)) continue;
      row.isChecked = !unchecked.some((start) => row.key.startsWith(start));
      if (!row.isChecked) continue;
      row.isPresent = false;
      row.goneAt ??= clock.wall().toISOString();
    }
  }

  function raise(fault: PresentFault, state: Pick<Row, 'isPresent' | 'isChecked'> = asPresent): void {
    const goneAt = state.isPresent ? null : clock.wall().toISOString();
    add(fault, { faultId: newId(), phase: 'raising', occurrences: 1, goneAt }, state);
  }

  function seePresent(row: Row, { text }: PresentFault): void {
    const isBack = !row.isPresent;
    Object.assign(row, { isPresent: true, isChecked: true, text });
    // The 'cleared' message is the same in each repetition, so what it says is not changed any more.
    if (row.phase === 'clearing') {
      row.isRecurring = true;
      return;
    }
    if (isBack) row.occurrences += 1;
    row.goneAt = null;
  }

  /** Begins the clears that are due; the faults with a message to send. */
  function due(): readonly Row[] {
    const nowMs = clock.monotonicMs();
    for (const row of rows.values()) {
      const isGone = row.isChecked && !row.isPresent;
      if (row.phase === 'raised' && isGone && nowMs - row.raisedAtMs >= MIN_RAISED_MS) row.phase = 'clearing';
    }
    return [...rows.values()].filter(({ phase, retryAtMs }) => phase !== 'raised' && retryAtMs <= nowMs);
  }

  /** A fault is reported all the same when the file cannot be written; after a restart it is raised once more. */
  async function save(): Promise<void> {
    try {
      await writeStateFile(path, faultFile.parse({ format: FORMAT, faults: [...rows.values()] }));
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
      else {
        rows.delete(key);
        if (row.isRecurring) raise(row, row);
      }
    } catch (error) {
      row.retryAtMs = clock.monotonicMs() + RETRY_MS;
      row.refusal = failure(error, row.refusal, 'a fault could not be reported');
    }
  }

  async function report(): Promise<void> {
    const messages = due();
    if (messages.length > 0 || (unsavedBecause !== null && saveAtMs <= clock.monotonicMs())) await save();
    if (messages.length === 0) return;
    // One after the other: the outbox keeps the order in which it is given them.
    for (const row of messages) await send(row);
    await save();
  }

  function trouble(): string | null {
    if (!isLoaded) return 'The faults that were raised before are not read yet.';
    const refused = [...rows.values()].find(({ refusal }) => refusal !== null);
    return unknownBecause ?? reporting.stall() ?? refused?.refusal ?? unsavedBecause;
  }

  return {
    /** Reads what was raised before. Never rejects: without the file, present faults are raised again. */
    async load(): Promise<void> {
      try {
        for (const fault of (await readStateFile(path, faultFile))?.faults ?? []) {
          add(fault, fault, { isPresent: fault.goneAt === null, isChecked: false });
        }
      } catch (error) {
        unsavedBecause = failure(error, null, 'the raised faults could not be read');
      }
      isLoaded = true;
    },

    /** Reports what has changed. Never rejects; a call during another one only compares. */
    async tick(): Promise<void> {
      if (!isLoaded) return;
      try {
        compare(faults());
        unknownBecause = null;
      } catch (error) {
        unknownBecause = failure(error, unknownBecause, 'the present faults could not be determined');
        for (const row of rows.values()) row.isChecked = false;
        return;
      }
      await reporting.run(report);
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
