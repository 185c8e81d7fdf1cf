import type { Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import type { TunnelAudit } from '../../tunnel/audit/index.ts';
import type { SessionEntry, SupportView } from '../../tunnel/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';

type Running = NonNullable<SupportView['running']>;
type RecordedSession = Extract<SessionEntry, { readonly kind: 'session' }>;

/** How the wait for a session ended. */
export type Wait =
  | { readonly kind: 'started'; readonly running: Running; readonly waitedMs: number }
  | { readonly kind: 'refused'; readonly refused: NonNullable<SupportView['lastRefused']>; readonly waitedMs: number }
  /** `repeated`: detail of a notification that had been received before. */
  | { readonly kind: 'none'; readonly waitedMs: number; readonly repeated: string | null };

/** How the wait for a connection through the tunnel ended. */
export interface Page {
  /** Whether the session still ran. */
  readonly isRunning: boolean;
  readonly wasConnected: boolean;
  readonly connections: number | null;
  readonly waitedMs: number;
}

/** How the end on site was answered. */
export type EndOnSite =
  | { readonly kind: 'answered'; readonly ended: boolean; readonly stillRuns: boolean; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly why: string }
  /** The session had ended by itself. */
  | { readonly kind: 'ended-before' };

/** Everything that was measured of a session that started. */
export interface Measured {
  readonly running: Running;
  readonly page: Page;
  readonly end: EndOnSite;
  readonly proxies: Proxies;
  /** null: not in the records. */
  readonly entry: RecordedSession | null;
  readonly records: SupportView['records'];
  readonly audit: AuditResult;
}

/** The audit of the records on this machine, or why there is none. */
export type AuditResult =
  | Pick<TunnelAudit, 'local' | 'recordsPath' | 'records' | 'lastAt' | 'counts'>
  | { readonly why: string };

/** Processes of the proxy: those of the session, and those of them that are left after its end; null: unknown. */
interface Proxies {
  readonly pids: readonly number[] | null;
  readonly left: readonly number[] | null;
}

const SPEC = 'States and transitions';
/** Services that a request may name. @source specification, 'States and transitions' */
const MAX_NAMED = 3;
/** Rounding of the reported times. */
const TOLERANCE_MS = 2_000;
const AGAIN = 'Open a tunnel for this robot in the cloud console, then run this step again.';
const SEE_LOG = 'See the log of `gw serve`; deliver without remote support until this is fixed.';
const NO_SESSION = 'no session started';

/** The services that the person is asked to name. */
export function namedServices({ cloud }: Pick<Site, 'cloud'>): readonly string[] {
  return (cloud?.tunnel?.services ?? []).slice(0, MAX_NAMED);
}

export function readyFinding(site: Pick<Site, 'cloud'>, view: SupportView): Finding {
  const start: FindingStart = { id: 'ready', title: 'The gateway can open a tunnel', spec: SPEC };
  const { status, detail, remedy, records, running } = view;
  if (status === 'not-configured') {
    if (site.cloud?.tunnel !== undefined) return wrong(start, detail, remedy ?? 'Restart `gw serve`.');
    const next = 'Add cloud.tunnel to the site file (docs/site-file.md), and restart `gw serve`.';
    return notChecked(start, 'the site file has no cloud.tunnel, so every request is refused', next);
  }
  if (records.status === 'failing') {
    return wrong(start, `no session can be recorded: ${records.detail}`, 'Make `stateDir` writable.');
  }
  if (status === 'running') {
    const since = running === null ? '' : ` since ${running.since}`;
    const next = 'Wait for its end, or end it with `gw tunnel end`; then run this step again.';
    return notChecked(start, `a session runs already${since}; it does not count`, next);
  }
  if (status !== 'waiting') return notChecked(start, detail, remedy);
  if (site.cloud?.tunnel === undefined) {
    return wrong(start, 'the running gateway has a cloud.tunnel that this site file lacks', 'Restart `gw serve`.');
  }
  return ok(start, `no session runs; records: ${records.detail}`);
}

/** The findings of a session; null where no person was asked to open one, or where none started. */
export function sessionFindings(
  site: Pick<Site, 'cloud'>,
  wait: Wait | null,
  measured: Measured | null,
): readonly Finding[] {
  return [
    openedFinding(site, wait),
    ...parts.map(([start, judge]) =>
      measured === null ? notChecked(start, NO_SESSION) : judge(start, measured, site),
    ),
  ];
}

type Judge = (start: FindingStart, measured: Measured, site: Pick<Site, 'cloud'>) => Finding;

const parts: readonly (readonly [FindingStart, Judge])[] = [
  [{ id: 'own-clock', title: 'The own clock of the gateway is armed', spec: SPEC }, clockFinding],
  [{ id: 'connected', title: 'The page is opened through the tunnel', spec: SPEC }, connectedFinding],
  [{ id: 'ended', title: 'A person on site ends the session', spec: null }, endedFinding],
  [{ id: 'proxy', title: 'The process of the tunnel is gone', spec: SPEC }, proxyFinding],
  [{ id: 'recorded', title: 'Its start and its end are recorded', spec: SPEC }, recordedFinding],
  [{ id: 'sent', title: 'Its records are in the outbox to the cloud', spec: SPEC }, sentFinding],
  [{ id: 'audit', title: 'The records pass their audit', spec: null }, auditFinding],
];

function openedFinding(site: Pick<Site, 'cloud'>, wait: Wait | null): Finding {
  const start: FindingStart = { id: 'opened', title: 'A tunnel opened in the cloud starts a session', spec: SPEC };
  if (wait === null) return notChecked(start, 'not waited for');
  switch (wait.kind) {
    case 'started': {
      const { session, services } = wait.running;
      const known = site.cloud?.tunnel?.services ?? [];
      const unknown = services.filter((name) => !known.includes(name));
      const text = `session ${session} for ${services.join(', ')}, ${wait.waitedMs} ms after it was asked for`;
      if (services.length === 0) return wrong(start, `${text}: it names no service`, SEE_LOG);
      return unknown.length === 0
        ? ok(start, text)
        : wrong(start, `${text}: ${unknown.join(', ')} not in cloud.tunnel.services`, SEE_LOG);
    }
    case 'refused': {
      const { reason, detail } = wait.refused;
      const next = 'Compare region, services and serial number with the site file, then run this step again.';
      return wrong(start, `a request arrived and was refused (${reason}): ${detail}`, next);
    }
    case 'none': {
      const repeated = wait.repeated === null ? '' : '; an earlier notification was delivered again and refused';
      return notChecked(start, `none started within ${Math.round(wait.waitedMs / 1_000)} s${repeated}`, AGAIN);
    }
  }
}

function clockFinding(start: FindingStart, { running }: Measured, { cloud }: Pick<Site, 'cloud'>): Finding {
  const maxMs = (cloud?.tunnel?.maxMinutes ?? 0) * 60_000;
  const { forMs, leftMs } = running;
  const text = `ends after ${Math.round((forMs + leftMs) / 1_000)} s, maximum ${maxMs / 1_000} s`;
  if (leftMs > 0 && forMs + leftMs <= maxMs + TOLERANCE_MS) return ok(start, text);
  return wrong(start, text, 'Restart `gw serve`, so that it reads cloud.tunnel.maxMinutes; then see its log.');
}

/** Ends that are a fault of the tunnel, and not an act of a person. */
const faults: readonly string[] = ['token-refused', 'configuration', 'proxy-failed', 'network-lost'];

function connectedFinding(start: FindingStart, { page, entry }: Measured): Finding {
  const { isRunning, wasConnected, connections, waitedMs } = page;
  if (wasConnected && (connections ?? 0) > 0) {
    return ok(start, `${plural(connections ?? 0, 'connection')} to the read-only socket, after ${waitedMs} ms`);
  }
  if (!isRunning) {
    const end = entry?.end ?? null;
    const text = `the session ended before: ${end === null ? 'no reason recorded' : `${end.reason}, ${end.detail}`}`;
    return end !== null && faults.includes(end.reason) ? wrong(start, text, SEE_LOG) : notChecked(start, text, AGAIN);
  }
  const waited = `within ${Math.round(waitedMs / 1_000)} s`;
  if (!wasConnected) {
    const next = 'Run `gw network check` on the gateway, and compare cloud.tunnel with the cloud account.';
    return wrong(start, `no connection to the tunnel service ${waited}`, next);
  }
  return notChecked(
    start,
    `the tunnel is connected, and nothing was opened through it ${waited}`,
    'Connect with the source token of the tunnel, open the page of the robot, then run this step again.',
  );
}

function endedFinding(start: FindingStart, { end, entry }: Measured): Finding {
  switch (end.kind) {
    case 'ended-before':
      return notChecked(start, `the session had ended before: ${entry?.end?.reason ?? 'no reason recorded'}`, AGAIN);
    case 'failed':
      return wrong(start, `not ended: ${end.why}`, SEE_LOG);
    case 'answered': {
      if (end.stillRuns) return wrong(start, 'the session still runs', SEE_LOG);
      const reason = entry?.end?.reason;
      if (reason === undefined) return wrong(start, 'it runs no more, and its end is not recorded', SEE_LOG);
      if (reason !== 'ended-on-site') return notChecked(start, `it ended by itself at the same time: ${reason}`, AGAIN);
      if (!end.ended) return wrong(start, 'recorded as ended on site, and answered as not ended', SEE_LOG);
      return ok(start, `without sign-in, ${end.tookMs} ms after the request`);
    }
  }
}

const ON_GATEWAY = 'Run this step on the gateway itself, as the user of `gw serve`.';

function proxyFinding(start: FindingStart, { proxies: { pids, left } }: Measured): Finding {
  if (pids === null || left === null)
    return notChecked(start, 'the process of the gateway is not visible here', ON_GATEWAY);
  if (pids.length === 0) return notChecked(start, 'no process of a tunnel was visible during the session', ON_GATEWAY);
  if (left.length > 0) {
    return wrong(start, `still running: process ${left.join(', ')}`, 'End it with `kill`, and see the log of gw.');
  }
  return ok(start, `process ${pids.join(', ')} ran during the session and has ended`);
}

function recordedFinding(start: FindingStart, { entry, running }: Measured): Finding {
  if (entry === null) return wrong(start, `session ${running.session} is not in the records`, SEE_LOG);
  const { at, end } = entry;
  if (end === null) return wrong(start, `started ${at}, and no end in the records`, SEE_LOG);
  return ok(start, `started ${at}, ended ${end.at}: ${end.reason}`);
}

function sentFinding(start: FindingStart, { entry, records: { status, detail, notSentYet } }: Measured): Finding {
  if (entry === null || entry.end === null) return notChecked(start, 'start and end are not both recorded');
  if (status === 'failing') return wrong(start, `failing: ${detail}`, 'See the log of `gw serve`.');
  if (status === 'not-checked') return notChecked(start, detail, 'See the log of `gw serve`.');
  if (notSentYet === null) return notChecked(start, 'their number is not known', 'See the log of `gw serve`.');
  if (notSentYet > 0) return wrong(start, `${plural(notSentYet, 'record')} not taken yet`, 'Run `gw cloud outbox`.');
  return ok(start, 'all records were taken');
}

function auditFinding(start: FindingStart, { audit, entry }: Measured): Finding {
  const end = entry?.end ?? null;
  if (end === null) return notChecked(start, 'start and end are not both recorded');
  if ('why' in audit) return notChecked(start, audit.why, ON_GATEWAY);
  const { local: verdict, records, recordsPath, lastAt, counts } = audit;
  // The state folder of the site file may be another one than that of the running gateway.
  if (lastAt === null || lastAt < end.at) {
    const next = 'Restart `gw serve` with this site file, then run this step again.';
    return notChecked(start, `${recordsPath} does not have the end of this session`, next);
  }
  if (verdict === 'ok') return ok(start, `${plural(records, 'record')} without a finding, this session among them`);
  if (verdict === 'not-decided') return notChecked(start, 'a part of it could not be made', 'Run `gw tunnel audit`.');
  const found = counts.map(({ code, count }) => `${code} ${count}`).join(', ');
  return wrong(start, found, 'Run `gw tunnel audit` for the lines, and keep a copy of the records.');
}
