import { join } from 'node:path';
import type { TunnelNotificationWire } from '../../cloud/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { createWakeup, type Log, onAbort, orAfter, untilAborted } from '../../lifecycle/index.ts';
import { RECORDS_FOLDER, type Support, type SupportOptions } from '../model.ts';
import { openRecords, type Records } from '../records/index.ts';
import type { RunningSession, SupportView } from '../view.ts';
import { createNotificationQueue } from './notification-queue.ts';
import { oneLine } from './proxy-events.ts';
import { entriesOf, recordsFor } from './recording/entries.ts';
import { forwardRecords } from './recording/forwarder.ts';
import { createOutcomes } from './recording/outcomes.ts';
import { createRecordWriter, type RecordWriter } from './recording/record-writer.ts';
import type { EndCause } from './session.ts';
import { createSessionSlot } from './session-slot.ts';
import { notified, type Refusal, refuse, type StartRecord, unknownEnd } from './state.ts';

/** Of an orderly end: until SIGKILL, and for the end record. The supervisor allows 1.5 s in all. */
const KILL_AT_STOP_MS = 600;
const END_AT_STOP_MS = 800;
const RECORD_AT_STOP_MS = 500;
const CLOSE_AT_STOP_MS = 100;
/** The disk may not answer. */
const READ_WITHIN_MS = 5_000;
const MAX_NAME_CHARACTERS = 120;

/** Opens the records; replaced in tests by a disk that does not answer. */
export type OpenRecords = (options: Parameters<typeof openRecords>[0]) => Promise<Records>;

/**
 * Remote support of one robot: checks notifications, runs at most one session at a time, and records all of it. Nothing
 * runs before `start`. A session needs a durable record of its start, so a failing disk means no session.
 */
export function createSupport(options: SupportOptions, open: OpenRecords = openRecords): Support {
  const { site, clock, log } = options;
  const wakeup = createWakeup();
  const writer = createRecordWriter({
    clock,
    log,
    onLateStart: (start) => closeLate(start, writer),
    onWritten: wakeup.wake,
  });
  const outcomes = createOutcomes({ writer, clock, log });
  const slot = createSessionSlot({ ...options, writer, outcomes, refusalByState });
  const notifications = createNotificationQueue(slot.handle, log);
  let records: Records | null = null;
  let openError: GwError | null = null;
  let isStopping = false;
  let life = new AbortController();
  let work: readonly Promise<void>[] = [];
  let stopping: Promise<void> | null = null;

  function refusalByState(): Refusal | null {
    if (isStopping) return { reason: 'shutting-down', detail: 'gw is stopping.' };
    if (records !== null) return null;
    return { reason: 'not-recorded', detail: 'The session records are not open, so no session can be recorded.' };
  }

  function endAll(cause: EndCause): Promise<void> {
    notifications.endAll(cause);
    return slot.session?.end(cause) ?? Promise.resolve();
  }

  function leave(): Promise<void> {
    stopping ??= (async () => {
      isStopping = true;
      const cause = { reason: 'shutdown', detail: 'gw was stopped.', killAfterMs: KILL_AT_STOP_MS } as const;
      await orAfter(clock, END_AT_STOP_MS, endAll(cause));
      await orAfter(clock, RECORD_AT_STOP_MS, notifications.allHandled().then(writer.settled));
      life.abort();
    })();
    return stopping;
  }

  async function openOnce(signal: AbortSignal): Promise<Records> {
    const { serial } = site.chassis;
    const opening = open({ dir: join(site.stateDir, RECORDS_FOLDER), serial, clock, log });
    try {
      return await untilAborted(signal, opening);
    } catch (error) {
      // It may open later, when this start has been given up.
      if (signal.aborted) void opening.then((late) => late.close()).catch(() => {});
      throw error;
    }
  }

  return {
    name: 'support',
    failedStart: 'is-retried',

    async start({ signal, fail }) {
      const own = new AbortController();
      [life, stopping, isStopping] = [own, null, false];
      let opened: Records;
      try {
        opened = await openOnce(signal);
        openError = null;
      } catch (error) {
        openError = asGwError(error);
        throw error;
      }
      closeOrphans(opened, writer, log);
      records = opened;
      onAbort(signal, () => void leave());
      const { sendRecord } = options;
      work = [
        writer.run(opened, own.signal),
        forwardRecords({ records: opened, sendRecord, clock, log, wakeup }, own.signal),
      ].map((part) =>
        part.catch((error: unknown) => {
          if (!own.signal.aborted) fail(error);
        }),
      );
    },

    async stop() {
      await leave();
      await Promise.all(work);
      work = [];
      const closing = records?.close() ?? Promise.resolve();
      records = null;
      await orAfter(clock, CLOSE_AT_STOP_MS, closing);
    },

    describe: () => stateNow().detail,

    offer(notification: TunnelNotificationWire, isRepeated: boolean) {
      const received = notified(notification);
      if (notifications.add(received, isRepeated)) return;
      const detail = 'Too many notifications wait for the ones before them.';
      outcomes.keepRefusal(refuse(received, { reason: 'not-recorded', detail }));
    },

    async endOnSite(by) {
      if (slot.session === null && notifications.isIdle()) return false;
      const allHandled = notifications.allHandled();
      const who = oneLine(by, MAX_NAME_CHARACTERS);
      log.info({ audit: true, by: who, session: slot.session?.id ?? null }, 'support session ended on site');
      await endAll({ reason: 'ended-on-site', detail: `Ended on site by ${who}.` });
      await allHandled;
      return true;
    },

    view: () => ({ ...stateNow(), records: recordsView(), ...outcomes.last() }),

    async sessions(limit) {
      const unreadable = (why: string) => new GwError('FILE_UNREADABLE', `The session records cannot be read: ${why}`);
      if (records === null) throw unreadable(openError?.message ?? 'they are not open yet.');
      const { promise: late, reject } = Promise.withResolvers<never>();
      const text = `the disk has not answered for ${READ_WITHIN_MS / 1_000} s.`;
      using _limit = clock.after(READ_WITHIN_MS, () => reject(unreadable(text)));
      return entriesOf(await Promise.race([records.last(recordsFor(limit)), late]), limit);
    },
  };

  function recordsView(): SupportView['records'] {
    if (records !== null || openError === null) return writer.view();
    return { status: 'failing', detail: openError.message, notSentYet: null };
  }

  function stateNow(): StateView {
    const isConfigured = site.cloud?.tunnel !== undefined;
    return stateOf({ running: slot.session?.view() ?? null, isConfigured, openError, isOpen: records !== null });
  }
}

type StateView = Pick<SupportView, 'status' | 'detail' | 'remedy' | 'running'>;

interface SupportState {
  readonly running: RunningSession | null;
  /** Whether the site file has a `cloud.tunnel`. */
  readonly isConfigured: boolean;
  /** Why the records could not be opened. */
  readonly openError: GwError | null;
  /** Whether the records are open. */
  readonly isOpen: boolean;
}

function stateOf({ running, isConfigured, openError, isOpen }: SupportState): StateView {
  const state = (status: SupportView['status'], detail: string, remedy: string | null = null) =>
    ({ status, detail, remedy, running: null }) as const;
  if (running !== null) {
    const { services, state, reportAgeMs } = running;
    const tunnel =
      state === 'not-checked' ? `tunnel not checked: no report for ${Math.round(reportAgeMs / 1_000)} s` : state;
    const detail = `A support session is running: ${services.join(', ')}, ${tunnel}.`;
    return { status: 'running', detail, remedy: null, running };
  }
  if (!isConfigured) {
    const remedy = 'Add cloud.tunnel to the site file if this robot is to have remote support.';
    return state('not-configured', 'Not configured: every notification is refused.', remedy);
  }
  if (openError !== null) return state('not-checked', `No session is possible: ${openError.message}`, openError.remedy);
  if (!isOpen) return state('not-checked', 'Not started: no session is possible.');
  return state('waiting', 'No support session is running.');
}

function closeLate({ session: id }: StartRecord, writer: Pick<RecordWriter, 'keep'>): void {
  const detail = 'Its start was recorded too late, so it was refused and no proxy was started.';
  writer.keep(unknownEnd(id, 'proxy-failed', detail, { durationS: 0, connections: 0, bytesIn: 0, bytesOut: 0 }));
}

/** Sessions that an earlier start of gw has left without an end. */
function closeOrphans(opened: Records, writer: Pick<RecordWriter, 'keep' | 'hasEnd'>, log: Log): void {
  for (const { session: id, at } of opened.openSessions()) {
    if (writer.hasEnd(id)) continue;
    log.warn({ audit: true, session: id, at }, 'support session of an earlier start of gw closed');
    const detail = `gw ended without ending the session that began at ${at}; the time of its end is unknown.`;
    writer.keep(unknownEnd(id, 'unclean-shutdown', detail));
  }
}
