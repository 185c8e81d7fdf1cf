import { join } from 'node:path';
import type { TunnelNotificationWire } from '../../cloud/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, createWakeup, onAbort, orAfter, untilAborted } from '../../lifecycle/index.ts';
import { RECORDS_FOLDER, type Support, type SupportOptions } from '../model.ts';
import { openRecords, type Records } from '../records/index.ts';
import type { EndReason, RecordBody, SessionRecord } from '../records/schema.ts';
import type { SessionEntry, SupportView } from '../view.ts';
import { checkNotification } from './check.ts';
import { forwardRecords } from './forwarder.ts';
import { oneLine } from './proxy-events.ts';
import { createRecordLimit } from './record-limit.ts';
import { createRecordWriter } from './record-writer.ts';
import { beginSession, type EndCause, type Session } from './session.ts';
import { type Notified, notified, type Refusal, type Refused, refuse, unknownEnd } from './state.ts';

/** So long after such an end, a notification may be the rotation that caused it. Project decision. */
const ROTATION_WITHIN_MS = 10_000;
/** How a rotation ends the session when its proxy notices it before the notification arrives. */
const reasons: ReadonlySet<EndReason> = new Set(['token-refused', 'closed-by-cloud']);

/** Notifications that wait for those before them; more are refused. Project decision. */
export const MAX_WAITING_NOTIFICATIONS = 16;
/** Of an orderly end: until SIGKILL, and for the end record. The supervisor allows 1.5 s in all. */
const KILL_AT_STOP_MS = 600;
const END_AT_STOP_MS = 800;
const RECORD_AT_STOP_MS = 500;
const CLOSE_AT_STOP_MS = 100;
/** The disk may not answer. */
const READ_WITHIN_MS = 5_000;
const MAX_NAME_CHARACTERS = 120;

interface Waiting {
  readonly notified: Notified;
  /** The gate of the cloud has received its token before. */
  readonly isRepeated: boolean;
  /** Set when a person ends support before this notification was handled. */
  cause: EndCause | null;
}

/** Opens the records; replaced in tests by a disk that does not answer. */
export type OpenRecords = (options: Parameters<typeof openRecords>[0]) => Promise<Records>;

/**
 * Remote support of one robot: checks notifications, runs at most one session at a time, and records all of it. Nothing
 * runs before `start`. A session needs a durable record of its start, so a failing disk means no session.
 */
export function createSupport(options: SupportOptions, open: OpenRecords = openRecords): Support {
  const { site, clock, log } = options;
  const tunnel = site.cloud?.tunnel;
  const wakeup = createWakeup();
  const refusals = createRecordLimit(clock);
  const starts = createRecordLimit(clock);
  const lateRotation = createLateRotation(clock);
  const writer = createRecordWriter({ clock, log, onLateStart: closeLate, onWritten: wakeup.wake });
  let records: Records | null = null;
  let openError: GwError | null = null;
  let isStopping = false;
  let life = new AbortController();
  let work: readonly Promise<void>[] = [];
  let stopping: Promise<void> | null = null;
  const waiting: Waiting[] = [];
  let handling: Promise<void> = Promise.resolve();
  let handled: Waiting | null = null;
  let session: Session | null = null;
  let lastRefused: SupportView['lastRefused'] = null;
  let lastEnded: SupportView['lastEnded'] = null;

  /** One after the other, so that there is never a second proxy. */
  async function handle(item: Waiting): Promise<void> {
    const expected = { region: site.cloud?.region ?? '', services: tunnel?.services ?? null };
    const isSeen = item.isRepeated || writer.hasToken(item.notified.token.hash);
    const refusal = refusalByState() ?? checkNotification(item.notified, { ...expected, isSeen });
    if (refusal !== null || tunnel === undefined) {
      if (refusal !== null) keepRefusal(refuse(item.notified, refusal));
      return;
    }
    if (starts.admit() === null) {
      const detail = 'Too many sessions began within a short time; wait a minute.';
      return keepRefusal(refuse(item.notified, { reason: 'not-recorded', detail }));
    }
    const id = crypto.randomUUID();
    let untilMs = lateRotation.limit(clock.monotonicMs() + tunnel.maxMinutes * 60_000);
    let replaces: string | null = null;
    const before = session;
    if (before !== null && before.view() !== null) {
      // The clock goes on: the cloud cannot extend a session by rotating its token.
      untilMs = Math.min(untilMs, before.untilMs);
      void before.end({ reason: 'replaced', detail: `Replaced by session ${id}.` });
      replaces = (await before.done) === 'replaced' ? before.id : null;
      const late = refusalByState();
      if (late !== null) return keepRefusal(refuse(item.notified, late));
    }
    const { host, port, subprotocol } = tunnel;
    const settings = { host, port, subprotocol, caFile: site.cloud?.caFile ?? null };
    const { program } = options;
    const next = beginSession({
      id,
      notified: item.notified,
      untilMs,
      replaces,
      program,
      settings,
      writer: { start: writer.start, keep: keepEnd },
      clock,
      log,
    });
    session = next;
    if (item.cause !== null) void next.end(item.cause);
    void follow(next);
    await next.begun;
  }

  async function follow(current: Session): Promise<void> {
    const result = await current.done;
    if (session === current) session = null;
    if (typeof result === 'object') keepRefusal(result);
    else lateRotation.ended(result, current.untilMs);
  }

  function refusalByState(): Refusal | null {
    if (isStopping) return { reason: 'shutting-down', detail: 'gw is stopping.' };
    if (records !== null) return null;
    return { reason: 'not-recorded', detail: 'The session records are not open, so no session can be recorded.' };
  }

  function keepRefusal({ record }: Refused): void {
    const { reason, detail } = record;
    lastRefused = { reason, at: clock.wall().toISOString(), detail };
    log.warn({ audit: true, ...record }, 'tunnel notification refused');
    const skipped = refusals.admit();
    if (skipped === null) return;
    const more = skipped === 0 ? '' : ` ${skipped} refusals before it are not recorded: there were too many.`;
    writer.keep({ ...record, detail: `${detail}${more}` });
  }

  function keepEnd(record: RecordBody): void {
    if (record.kind === 'end') {
      const { session: id, reason } = record;
      // The state is readable without sign-in, also through a tunnel: the record alone names the person and the address.
      const detail = reason === 'ended-on-site' ? 'Ended on site.' : record.detail;
      lastEnded = { session: id, reason, at: clock.wall().toISOString(), detail };
    }
    writer.keep(record);
  }

  function next(): void {
    handling = handling.then(async () => {
      handled = waiting.shift() ?? null;
      if (handled === null) return;
      await handle(handled).catch((error: unknown) => {
        log.error({ error: asGwError(error).message }, 'a tunnel notification could not be handled');
      });
      handled = null;
    });
  }

  function closeLate({ session: id }: { readonly session: string }): void {
    const detail = 'Its start was recorded too late, so it was refused and no proxy was started.';
    writer.keep(unknownEnd(id, 'proxy-failed', detail, { durationS: 0, connections: 0, bytesIn: 0, bytesOut: 0 }));
  }

  function closeOrphans(opened: Records): void {
    for (const { session: id, at } of opened.openSessions()) {
      if (writer.hasEnd(id)) continue;
      log.warn({ audit: true, session: id, at }, 'support session of an earlier start of gw closed');
      const detail = `gw ended without ending the session that began at ${at}; the time of its end is unknown.`;
      writer.keep(unknownEnd(id, 'unclean-shutdown', detail));
    }
  }

  function endAll(cause: EndCause): Promise<void> {
    for (const item of handled === null ? waiting : [handled, ...waiting]) item.cause ??= cause;
    return session?.end(cause) ?? Promise.resolve();
  }

  function leave(): Promise<void> {
    stopping ??= (async () => {
      isStopping = true;
      const cause = { reason: 'shutdown', detail: 'gw was stopped.', killAfterMs: KILL_AT_STOP_MS } as const;
      await orAfter(clock, END_AT_STOP_MS, endAll(cause));
      await orAfter(clock, RECORD_AT_STOP_MS, handling.then(writer.settled));
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
      closeOrphans(opened);
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

    describe: () => stateOf().detail,

    offer(notification: TunnelNotificationWire, isRepeated: boolean) {
      const received = notified(notification);
      if (waiting.length >= MAX_WAITING_NOTIFICATIONS) {
        const detail = 'Too many notifications wait for the ones before them.';
        keepRefusal(refuse(received, { reason: 'not-recorded', detail }));
        return;
      }
      waiting.push({ notified: received, isRepeated, cause: null });
      next();
    },

    async endOnSite(by) {
      if (session === null && handled === null && waiting.length === 0) return false;
      const allHandled = handling;
      const who = oneLine(by, MAX_NAME_CHARACTERS);
      log.info({ audit: true, by: who, session: session?.id ?? null }, 'support session ended on site');
      await endAll({ reason: 'ended-on-site', detail: `Ended on site by ${who}.` });
      await allHandled;
      return true;
    },

    view: () => ({ ...stateOf(), records: recordsView(), lastRefused, lastEnded }),

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

  function stateOf(): Pick<SupportView, 'status' | 'detail' | 'remedy' | 'running'> {
    const state = (status: SupportView['status'], detail: string, remedy: string | null = null) =>
      ({ status, detail, remedy, running: null }) as const;
    const running = session?.view() ?? null;
    if (running !== null) {
      const { services, state, reportAgeMs } = running;
      const tunnel =
        state === 'not-checked' ? `tunnel not checked: no report for ${Math.round(reportAgeMs / 1_000)} s` : state;
      const detail = `A support session is running: ${services.join(', ')}, ${tunnel}.`;
      return { status: 'running', detail, remedy: null, running };
    }
    if (tunnel === undefined) {
      const remedy = 'Add cloud.tunnel to the site file if this robot is to have remote support.';
      return state('not-configured', 'Not configured: every notification is refused.', remedy);
    }
    if (openError !== null)
      return state('not-checked', `No session is possible: ${openError.message}`, openError.remedy);
    if (records === null) return state('not-checked', 'Not started: no session is possible.');
    return state('waiting', 'No support session is running.');
  }
}

/**
 * Keeps the deadline of a session that a rotation may have ended. A notification does not name its tunnel, so a new tunnel
 * looks the same: within the time for it, it gets the deadline of the session before, and later one of its own.
 */
function createLateRotation(clock: Pick<Clock, 'monotonicMs'>) {
  let last: { readonly untilMs: number; readonly endedMs: number } | null = null;
  return {
    ended(reason: EndReason, untilMs: number): void {
      last = reasons.has(reason) ? { untilMs, endedMs: clock.monotonicMs() } : null;
    },
    /** The deadline of a session that would otherwise end at `untilMs`. */
    limit(untilMs: number): number {
      if (last === null || clock.monotonicMs() - last.endedMs > ROTATION_WITHIN_MS) return untilMs;
      return Math.min(untilMs, last.untilMs);
    },
  };
}

/** Each entry has at most two records, and one older session may have ended among them. */
function recordsFor(entries: number): number {
  return 2 * entries + 1;
}

/** Sessions and refusals from records, newest first as the records are. An end without its start is left out. */
function entriesOf(records: readonly SessionRecord[], limit: number): SessionEntry[] {
  const ends = new Map(records.flatMap((record) => (record.kind === 'end' ? [[record.session, record] as const] : [])));
  return records.flatMap((record) => entryOf(record, ends)).slice(0, limit);
}

type EndRecord = Extract<SessionRecord, { readonly kind: 'end' }>;

function entryOf(record: SessionRecord, ends: ReadonlyMap<string, EndRecord>): SessionEntry[] {
  if (record.kind === 'end') return [];
  const { at, region, services } = record;
  if (record.kind === 'refused') {
    return [{ kind: 'refused', at, reason: record.reason, detail: record.detail, region, services }];
  }
  const { session, maxS } = record;
  const end = ends.get(session);
  return [{ kind: 'session', session, at, region, services, maxS, end: end === undefined ? null : pickEnd(end) }];
}

function pickEnd({ at, reason, detail, durationS, connections }: EndRecord) {
  return { at, reason, detail, durationS, connections };
}
