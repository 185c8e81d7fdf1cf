import type { Clock, Log } from '../../lifecycle/index.ts';
import { PROXY_REPORT_MS, type ProxyExit, type ProxySettings, proxyExits } from '../model.ts';
import type { ProxyEvent } from '../proxy.result.ts';
import type { EndReason } from '../records/schema.ts';
import type { RunningSession } from '../view.ts';
import { newClientToken } from './access-token.ts';
import { armClock } from './own-clock.ts';
import { KILL_AFTER_MS, type ProxyClosed, startProxy } from './proxy-process.ts';
import type { RecordWriter } from './recording/record-writer.ts';
import {
  type Checked,
  type EndBody,
  type EndFigures,
  end,
  type Notified,
  pass,
  type Refused,
  type Running,
  refuse,
  run,
  type StartRecord,
  startBody,
} from './state.ts';

const reasons: Readonly<Record<ProxyExit, EndReason>> = {
  closed: 'closed-by-cloud',
  configuration: 'configuration',
  'network-lost': 'network-lost',
  refused: 'token-refused',
  'own-clock': 'own-clock',
  internal: 'proxy-failed',
  // Not by this gateway, which knows why it ends a proxy.
  terminated: 'proxy-failed',
};

const sentences: Readonly<Record<ProxyExit, string>> = {
  closed: 'Closed in the cloud.',
  configuration: 'The proxy rejected its settings or the services of the tunnel.',
  'network-lost': 'The tunnel service could not be reached any more.',
  refused: 'The tunnel service refused the token.',
  'own-clock': 'The clock of the proxy has expired.',
  internal: 'The proxy failed.',
  terminated: 'The proxy was terminated, and not by gw.',
};

interface ProxyEnd {
  readonly reason: EndReason;
  readonly detail: string;
}

/** After so long without a report, what was reported before is not shown as the state of now. Project decision. */
const SILENT_MS = 5 * PROXY_REPORT_MS;

/** Why a session is to end; the first one counts. */
export interface EndCause {
  readonly reason: EndReason;
  readonly detail: string;
  /** Between SIGTERM and SIGKILL. */
  readonly killAfterMs?: number;
}

export interface SessionOptions {
  readonly id: string;
  readonly notified: Notified;
  /** When the own clock expires, by the monotonic clock. */
  readonly untilMs: number;
  readonly replaces: string | null;
  readonly program: readonly string[];
  readonly settings: Omit<ProxySettings, 'services' | 'maxS'>;
  readonly writer: Pick<RecordWriter, 'start' | 'keep'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Session {
  readonly id: string;
  readonly untilMs: number;
  /** Resolves when its proxy was started, or when it has ended before. */
  readonly begun: Promise<void>;
  /** Resolves when its proxy is gone and its end is given to the writer, or with the refusal when it never started. */
  readonly done: Promise<Refused | EndReason>;
  /** Resolves as `done` does. */
  end(cause: EndCause): Promise<void>;
  /** null: its start is not recorded yet. */
  view(): RunningSession | null;
}

/** What the proxy has reported. */
interface Reported {
  isConnected: boolean;
  /** Of the last one, by the monotonic clock; before the first one the time of its start. */
  atMs: number;
  channelId: string | null;
  counts: Extract<ProxyEvent, { readonly event: 'counts' }> | null;
}

/** Begins the session of a notification that has passed all checks: its clock runs from here on. */
export function beginSession(options: SessionOptions): Session {
  const { id, notified, untilMs, replaces, writer, clock, log } = options;
  const { promise: ending, resolve: endBy } = Promise.withResolvers<EndCause>();
  const { promise: begun, resolve: hasBegun } = Promise.withResolvers<void>();
  const reported: Reported = { isConnected: false, atMs: clock.monotonicMs(), channelId: null, counts: null };
  let running: Running | null = null;
  let cause: EndCause | null = null;

  function endOnce(next: EndCause): void {
    cause ??= next;
    endBy(cause);
  }

  const ownClock = armClock(clock, untilMs, () => {
    endOnce({ reason: 'own-clock', detail: 'The clock of the gateway has expired.' });
  });
  const checked = pass(notified, { session: id, clock: ownClock, replaces });

  async function live(): Promise<Refused | EndReason> {
    let start: StartRecord;
    try {
      start = await writer.start(startBody(checked));
    } catch (error) {
      return refuse(checked, { reason: 'not-recorded', detail: `The start could not be recorded: ${textOf(error)}` });
    }
    running = run(checked, start);
    logStart(log, running);
    const figures = cause === null ? await withProxy(running).catch(failedFigures) : withoutProxy(cause);
    const { record } = end(running, figures);
    running = null;
    writer.keep(record);
    logEnd(log, record);
    return record.reason;
  }

  async function withProxy(from: Running): Promise<EndFigures> {
    const clientToken = newClientToken();
    reported.atMs = clock.monotonicMs();
    const proxy = startProxy({
      running: from,
      clientToken,
      program: options.program,
      settings: { ...options.settings, services: from.services, maxS: maxSOfProxy(from) },
      clock,
      log,
      onEvent: (event) => take(event, reported, clock.monotonicMs()),
    });
    hasBegun();
    const stopped = await Promise.race([proxy.closed.then(() => null), ending]);
    if (stopped !== null) await proxy.stop(stopped.killAfterMs ?? KILL_AFTER_MS);
    const closed = await proxy.closed;
    const { reason, detail } = stopped === null ? endOfProxy(closed) : stoppedEnd(stopped, closed);
    return figuresOf(reported, closed, { reason, detail: from.token.scrub(detail) });
  }

  const done = live().finally(() => {
    ownClock.disarm();
    hasBegun();
  });

  return {
    id,
    untilMs,
    begun,
    done,
    async end(next) {
      endOnce(next);
      await done;
    },
    view() {
      if (running === null) return null;
      const reportAgeMs = Math.round(clock.monotonicMs() - reported.atMs);
      return {
        session: id,
        services: running.services,
        since: running.start.at,
        forMs: Math.round(ownClock.elapsedMs()),
        leftMs: Math.round(ownClock.leftMs()),
        state: reportAgeMs > SILENT_MS ? 'not-checked' : reported.isConnected ? 'connected' : 'connecting',
        reportAgeMs,
        open: reported.counts?.open ?? null,
        connections: reported.counts?.connections ?? null,
      };
    },
  };
}

/**
 * Why the session ended, by the exit of a proxy that gw did not stop. An exit code counts only together with the event that
 * says the same, since a program that never became the proxy has exit codes too.
 */
export function endOfProxy({ code, signal, startError, ended, stderr }: ProxyClosed): ProxyEnd {
  const failed = (text: string) => ({ reason: 'proxy-failed' as const, detail: withCause(text, stderr) });
  if (startError !== null) return failed(`The proxy could not be started: ${startError}.`);
  if (code === null) return failed(`The proxy was ended by ${signal ?? 'an unknown signal'}, and not by gw.`);
  const exit = exitOfCode(code);
  if (exit === null) return failed(`The proxy ended with exit code ${code}.`);
  if (ended === null) return failed(`The proxy ended with exit code ${code} without saying why.`);
  if (ended.exit !== exit) return failed(`The proxy reported '${ended.exit}' and ended with exit code ${code}.`);
  return { reason: reasons[exit], detail: withCause(sentences[exit], ended.detail) };
}

function exitOfCode(code: number): ProxyExit | null {
  return (Object.keys(proxyExits) as ProxyExit[]).find((exit) => proxyExits[exit] === code) ?? null;
}

function withCause(sentence: string, cause: string): string {
  return cause === '' ? sentence : `${sentence.replace(/\.$/, '')}: ${cause}`;
}

/** The clock of the proxy begins later than that of the gateway, and ends in the same second. */
function maxSOfProxy({ clock }: Checked | Running): number {
  return Math.max(1, Math.ceil(clock.leftMs() / 1_000));
}

function take(event: ProxyEvent, reported: Reported, nowMs: number): void {
  reported.atMs = nowMs;
  switch (event.event) {
    case 'connected':
      reported.isConnected = true;
      reported.channelId = event.channelId ?? reported.channelId;
      return;
    case 'lost':
      reported.isConnected = false;
      return;
    case 'counts':
      reported.counts = event;
      return;
    case 'services':
    case 'ended':
      return;
  }
}

function stoppedEnd({ reason, detail }: EndCause, { signal }: ProxyClosed): Pick<EndFigures, 'reason' | 'detail'> {
  const wasKilled = signal === 'SIGKILL';
  return { reason, detail: wasKilled ? `${detail} The proxy did not end by itself and was killed.` : detail };
}

/**
 * Counts are known only from a proxy that reported its end, before which it reports every change; what one that was killed
 * has reported before is a minimum, and goes into the detail.
 */
function figuresOf(
  { channelId, counts }: Reported,
  { ended }: ProxyClosed,
  { reason, detail }: Pick<EndFigures, 'reason' | 'detail'>,
): EndFigures {
  if (ended !== null) {
    const { connections, bytesIn, bytesOut } = counts ?? { connections: 0, bytesIn: 0, bytesOut: 0 };
    return { reason, detail, connections, bytesIn, bytesOut, channelId };
  }
  const last =
    counts === null
      ? ''
      : ` Last report of the proxy: ${counts.connections} connections, ${counts.bytesIn} bytes in, ${counts.bytesOut} bytes out.`;
  return { reason, detail: `${detail}${last}`, connections: null, bytesIn: null, bytesOut: null, channelId };
}

/** An error of gw itself must not leave a session without its end. */
function failedFigures(error: unknown): EndFigures {
  const unknown = { connections: null, bytesIn: null, bytesOut: null, channelId: null };
  return { reason: 'proxy-failed', detail: `Internal error: ${textOf(error)}`, ...unknown };
}

/** Ended before the proxy was started. */
function withoutProxy({ reason, detail }: EndCause): EndFigures {
  const none = { connections: 0, bytesIn: 0, bytesOut: 0, channelId: null };
  return { reason, detail: `${detail} The proxy had not been started.`, ...none };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function logStart(log: Log, { session, region, services, start, replaces }: Running): void {
  const { tokenHash, maxS } = start;
  log.info({ audit: true, session, region, services, tokenHash, maxS, replaces }, 'support session started');
}

function logEnd(log: Log, { kind: _, ...fields }: EndBody): void {
  log.info({ audit: true, ...fields }, 'support session ended');
}
