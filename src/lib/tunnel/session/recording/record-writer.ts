import { asGwError, GwError } from '../../../error/index.ts';
import { type Clock, createWakeup, type Log, onAbort, untilAborted } from '../../../lifecycle/index.ts';
import type { Records } from '../../records/index.ts';
import type { RecordBody, SessionRecord } from '../../records/schema.ts';
import type { SupportView } from '../../view.ts';
import type { StartBody, StartRecord } from '../state.ts';

/** Within this time a start is on the disk, or there is no session. Project decision. */
const START_WITHIN_MS = 5_000;
/** Between two attempts while the disk fails; a start is an attempt of its own. */
const RETRY_MS = 5_000;
/** Refusals that wait in memory; beyond that new ones are lost. Ends are never lost. Project decision. */
export const MAX_WAITING_REFUSALS = 100;

interface WaitingStart {
  readonly resolve: (record: StartRecord) => void;
  readonly reject: (error: GwError) => void;
  isLate: boolean;
}

interface Item {
  readonly body: RecordBody;
  /** null: it is attempted until it is written. */
  readonly start: WaitingStart | null;
}

export interface RecordWriterOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** A start that was written after its caller had given up: it needs an end. */
  readonly onLateStart: (start: StartRecord) => void;
  readonly onWritten: () => void;
}

/**
 * Writes the records of support sessions in the order in which they were given. Ends and refusals have happened already:
 * they wait in memory until the disk accepts them. A start is attempted once and has a deadline, because a session begins
 * only after it.
 */
export function createRecordWriter({ clock, log, onLateStart, onWritten }: RecordWriterOptions) {
  let queue: Item[] = [];
  const wakeup = createWakeup();
  let open: Records | null = null;
  let inFlightSinceMs: number | null = null;
  let lastError: GwError | null = null;
  let lastWrittenAt: string | null = null;
  let lost = 0;
  let onEmpty: (() => void)[] = [];
  let retryNow: (() => void) | null = null;

  function next(item: Item): void {
    queue = queue.filter((one) => one !== item);
    if (queue.length > 0) return;
    for (const resolve of onEmpty) resolve();
    onEmpty = [];
  }

  function written(item: Item, record: SessionRecord): void {
    next(item);
    lastError = null;
    lastWrittenAt = record.at;
    if (item.start !== null && record.kind === 'start') {
      if (item.start.isLate) onLateStart(record);
      else item.start.resolve(record);
    }
    onWritten();
  }

  /** True: wait before the next attempt. */
  function failed(item: Item, error: unknown): boolean {
    if (lastError === null)
      log.error({ error: asGwError(error).message }, 'a record of a support session is not written');
    lastError = asGwError(error);
    if (item.start === null) return true;
    next(item);
    item.start.reject(lastError);
    return false;
  }

  return {
    /** Writes what waits and what comes, until the signal is aborted. */
    async run(records: Records, signal: AbortSignal): Promise<void> {
      const isOpen = new Set(records.openSessions().map(({ session }) => session));
      // An end of an earlier run of the service may have been written after that run had given up waiting.
      queue = queue.filter(({ body }) => body.kind !== 'end' || isOpen.has(body.session));
      open = records;
      using _aborted = onAbort(signal, wakeup.wake);
      while (!signal.aborted) {
        const [item] = queue;
        if (item === undefined) {
          await wakeup.wait();
          continue;
        }
        inFlightSinceMs = clock.monotonicMs();
        try {
          written(item, await untilAborted(signal, records.append(item.body)));
        } catch (error) {
          if (!signal.aborted && failed(item, error)) await retryWait(signal);
        } finally {
          inFlightSinceMs = null;
        }
      }
      open = null;
      if (queue.length > 0) {
        log.error({ records: queue.map(({ body }) => body) }, 'records of support sessions may not have been kept');
      }
    },

    /** Resolves when the record is durable. Throws FILE_UNWRITABLE after 5 s at the latest. */
    async start(body: StartBody): Promise<StartRecord> {
      const { promise, resolve, reject } = Promise.withResolvers<StartRecord>();
      const start: WaitingStart = { resolve, reject, isLate: false };
      const item: Item = { body, start };
      queue.push(item);
      wakeup.wake();
      retryNow?.();
      using _limit = clock.after(START_WITHIN_MS, () => {
        start.isLate = true;
        if (queue[0] !== item || inFlightSinceMs === null) next(item);
        lastError ??= new GwError('FILE_UNWRITABLE', `The disk has not answered for ${START_WITHIN_MS / 1_000} s.`);
        reject(lastError);
      });
      return await promise;
    },

    /** Writes it as soon as the disk accepts it. Never throws. */
    keep(body: RecordBody): void {
      const isFull = queue.filter((item) => item.body.kind === 'refused').length >= MAX_WAITING_REFUSALS;
      if (body.kind === 'refused' && isFull) {
        lost += 1;
        log.error({ lost }, 'a record of a refused notification is lost: too many wait for the disk');
        return;
      }
      queue.push({ body, start: null });
      wakeup.wake();
    },

    /** Whether a notification with this token is recorded, or waits to be. */
    hasToken(tokenHash: string): boolean {
      const isWaiting = queue.some(({ body }) => body.kind !== 'end' && body.tokenHash === tokenHash);
      return isWaiting || (open?.hasToken(tokenHash) ?? false);
    },

    /** Whether the end of this session waits to be written. */
    hasEnd(session: string): boolean {
      return queue.some(({ body }) => body.kind === 'end' && body.session === session);
    },

    /** Resolves when nothing waits. */
    async settled(): Promise<void> {
      if (queue.length === 0) return;
      await new Promise<void>((resolve) => onEmpty.push(resolve));
    },

    view(): SupportView['records'] {
      const notSentYet = open?.notSentYet() ?? null;
      const hungMs = inFlightSinceMs === null ? 0 : clock.monotonicMs() - inFlightSinceMs;
      const waiting = queue.length === 0 ? '' : ` ${queue.length} wait in memory.`;
      if (hungMs >= START_WITHIN_MS) {
        const detail = `The disk has not answered for ${Math.round(hungMs / 1_000)} s.${waiting}`;
        return { status: 'failing', detail, notSentYet };
      }
      if (lastError !== null) return { status: 'failing', detail: `${lastError.message}${waiting}`, notSentYet };
      if (lastWrittenAt !== null) return { status: 'ok', detail: `Last written at ${lastWrittenAt}.`, notSentYet };
      return { status: 'not-checked', detail: 'No record was written since the start of gw.', notSentYet };
    },
  };

  async function retryWait(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    retryNow = resolve;
    using _timer = clock.after(RETRY_MS, resolve);
    using _aborted = onAbort(signal, resolve);
    await promise;
    retryNow = null;
  }
}

export type RecordWriter = ReturnType<typeof createRecordWriter>;
