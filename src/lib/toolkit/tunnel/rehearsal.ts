import { readdir, readFile } from 'node:fs/promises';
import { asGwError, GwError } from '../../error/index.ts';
import { readOpenSockets } from '../../net/probe/index.ts';
import type { SessionEntry, SupportView } from '../../tunnel/index.ts';
import { readCloudStatus } from '../cloud/status.ts';
import { operatorAccess } from '../operator/access.ts';
import { type CheckContext, poll, type Toolkit } from '../toolkit.ts';
import { endedSchema } from './end.ts';
import {
  type AuditResult,
  type EndOnSite,
  type Measured,
  namedServices,
  type Page,
  readyFinding,
  sessionFindings,
  type Wait,
} from './rehearsal-findings.ts';
import { readSupport, SUPPORT_PATH } from './status.ts';
import { sessionListSchema, type TunnelRehearsal } from './tunnel.result.ts';

const PID = /^\d+$/;
/** Between the gateway and its proxy: none, or a newer runtime that gw has started itself on. */
const MAX_ANCESTORS = 4;

/**
 * Process ids of the tunnel proxies of the gateway that listens on `port` of this machine. Null where that process cannot
 * be seen: it belongs to another user.
 */
export async function readProxyProcesses(port: number): Promise<readonly number[] | null> {
  const sockets = await readOpenSockets().catch(() => []);
  const gateways = sockets
    .filter((socket) => socket.protocol === 'tcp' && socket.port === port)
    .flatMap(({ owners }) => owners.map(({ pid }) => pid));
  if (gateways.length === 0) return null;
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((name) => PID.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => ((await isProxy(pid)) && (await descendsFrom(pid, gateways)) ? [pid] : [])),
  );
  return found.flat();
}

/** An ended process that was not awaited yet has an empty command line. */
async function isProxy(pid: number): Promise<boolean> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return words.some((word, at) => word === 'tunnel' && words[at + 1] === 'proxy');
}

async function descendsFrom(pid: number, ancestors: readonly number[]): Promise<boolean> {
  let at = pid;
  for (let n = 0; n < MAX_ANCESTORS; n += 1) {
    const parent = await parentOf(at);
    if (parent === null) return false;
    if (ancestors.includes(parent)) return true;
    at = parent;
  }
  return false;
}

/** The name of the program is in parentheses and may contain anything. */
async function parentOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const parent = /^ \S (\d+) /.exec(stat.slice(stat.lastIndexOf(')') + 1))?.[1];
  return parent === undefined ? null : Number(parent);
}

export interface TunnelRehearsalOptions {
  /** The device password: the records are behind sign-in. */
  readonly password: string;
  /** How long to wait for a session, and then for a connection through it, in seconds. */
  readonly waitS: number;
  /** For the end of the session to be recorded and sent, and for its process to disappear; absent: a few seconds. */
  readonly settledWithinMs?: number;
  /** Plays the person; without it one follows the progress. */
  readonly person?: { openTunnel(): Promise<void>; openPage(): Promise<void> };
  /** Looks for the proxies of the gateway that listens on a port. */
  readonly proxiesOf?: typeof readProxyProcesses;
}

type Running = NonNullable<SupportView['running']>;

const POLL_MS = 250;
/** For the end record to be written, and for the outbox to take it. */
const RECORDED_WITHIN_MS = 10_000;
/** For the process of an ended session to disappear. */
const GONE_WITHIN_MS = 2_000;
const LIST_PATH = '/api/wartung/sitzungen?limit=100';

/**
 * Waits for a session that a person opens in the cloud console during this call, and for a connection through it; then
 * ends it as a person on site, and reads and audits its records. A session that runs already does not count and is not ended, nor is
 * one that follows. After an interruption a session goes on until its own clock ends it. Throws OPERATOR_NOT_REACHABLE,
 * CLOUD_NOT_CONNECTED, the error of the sign-in.
 */
export async function rehearseTunnel(
  toolkit: Toolkit,
  { password, waitS, settledWithinMs, person, proxiesOf = readProxyProcesses }: TunnelRehearsalOptions,
  context: CheckContext,
): Promise<TunnelRehearsal> {
  const { site, ssh } = toolkit;
  const { serial } = site.chassis;
  /** null: the gateway is on another machine, or its process cannot be seen. */
  const readProxies = async () => (ssh === undefined ? await proxiesOf(site.operator.port) : null);
  const operator = operatorAccess(toolkit, context);
  // Before a person is asked: with a wrong password the records could not be read.
  await (await operator.signIn(password)).signOut();
  const cloud = await readCloudStatus(toolkit, {}, context);
  const others = await readProxies();
  // The last before the person is asked: a session that began until then does not count.
  const before = await readSupport(toolkit, {}, context);
  const ready = readyFinding(site, before);
  const resultOf = (wait: Wait | null, measured: Measured | null): TunnelRehearsal => ({
    serial,
    session: measured?.running.session ?? null,
    services: measured?.running.services ?? null,
    connections: measured?.page.connections ?? null,
    waitedMs: wait?.waitedMs ?? 0,
    findings: [ready, ...sessionFindings(site, wait, measured)],
  });
  if (ready.verdict !== 'ok') return resultOf(null, null);
  if (cloud.status !== 'connected') {
    throw new GwError('CLOUD_NOT_CONNECTED', `No tunnel notification can arrive: ${cloud.detail}`, {
      remedy: cloud.remedy ?? 'See `gw cloud status`.',
    });
  }
  context.onProgress(`Open a tunnel for ${serial} naming ${namedServices(site).join(', ')} in the cloud console now`);
  await person?.openTunnel();
  const withinMs = waitS * 1_000;
  const wait = await waitForSession(toolkit, { before, withinMs }, context);
  if (wait.kind !== 'started') return resultOf(wait, null);

  const { running } = wait;
  context.onProgress('Open the page of the robot through the tunnel now');
  await person?.openPage();
  const page = await waitForPage(toolkit, { running, withinMs }, context);
  const pids = (await readProxies())?.filter((pid) => others?.includes(pid) === false) ?? null;
  const end = await endOnSite(toolkit, running.session, context);
  if (end.kind === 'answered') context.onProgress('Ended on site; close the tunnel in the cloud console, too');
  const goneMs = settledWithinMs ?? GONE_WITHIN_MS;
  const recordedMs = settledWithinMs ?? RECORDED_WITHIN_MS;
  const left = pids === null ? null : await leftProxies(toolkit, { pids, readProxies, withinMs: goneMs }, context);
  const entry = await recordOf(toolkit, { session: running.session, password, withinMs: recordedMs }, context);
  const records = await untilSent(toolkit, recordedMs, context);
  const audit = await auditHere(toolkit, context);
  return resultOf(wait, { running, page, end, proxies: { pids, left }, entry, records, audit });
}

/** By the function of `gw tunnel audit`, with the limits of the site file; the records are on the gateway. */
async function auditHere({ site, ssh, clock }: Toolkit, { signal }: CheckContext): Promise<AuditResult> {
  if (ssh !== undefined) return { why: 'the records are on another machine' };
  try {
    const { auditSessions } = await import('./audit.ts');
    return await auditSessions({ sitePath: site.path, lang: 'en', now: () => clock.wall(), signal });
  } catch (error) {
    signal.throwIfAborted();
    return { why: asGwError(error).message };
  }
}

interface LeftOptions {
  readonly pids: readonly number[];
  readonly readProxies: () => Promise<readonly number[] | null>;
  readonly withinMs: number;
}

/** Those that are still there after a moment; null: unknown. */
async function leftProxies(
  toolkit: Toolkit,
  { pids, readProxies, withinMs }: LeftOptions,
  context: CheckContext,
): Promise<readonly number[] | null> {
  const { value } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    async () => (await readProxies())?.filter((pid) => pids.includes(pid)) ?? null,
    (left) => left === null || left.length === 0,
  );
  return value;
}

async function waitForSession(
  toolkit: Toolkit,
  { before, withinMs }: { readonly before: SupportView; readonly withinMs: number },
  context: CheckContext,
): Promise<Wait> {
  const refusedIn = ({ lastRefused }: SupportView) =>
    lastRefused !== null && !isSame(lastRefused, before.lastRefused) ? lastRefused : null;
  // The broker may deliver an earlier notification again.
  const isRepeated = (refused: SupportView['lastRefused']) => refused === null || refused.reason === 'seen-before';
  const { value, waitedMs } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    () => readSupport(toolkit, {}, context),
    (state) => state.running !== null || !isRepeated(refusedIn(state)),
  );
  const refused = refusedIn(value);
  if (value.running !== null) return { kind: 'started', running: value.running, waitedMs };
  if (refused !== null && !isRepeated(refused)) return { kind: 'refused', refused, waitedMs };
  return { kind: 'none', waitedMs, repeated: refused?.detail ?? null };
}

function isSame(refused: NonNullable<SupportView['lastRefused']>, other: SupportView['lastRefused']): boolean {
  return other !== null && refused.at === other.at && refused.reason === other.reason;
}

async function waitForPage(
  toolkit: Toolkit,
  { running: first, withinMs }: { readonly running: Running; readonly withinMs: number },
  context: CheckContext,
): Promise<Page> {
  let wasConnected = false;
  let connections: number | null = null;
  const { value: isRunning, waitedMs } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    async () => {
      const { running } = await readSupport(toolkit, {}, context);
      if (running?.session !== first.session) return false;
      wasConnected ||= running.state === 'connected';
      connections = running.connections ?? running.open ?? connections;
      return true;
    },
    (runs) => !runs || (wasConnected && (connections ?? 0) > 0),
  );
  return { isRunning, wasConnected, connections, waitedMs };
}

/** Ends this session only: one that follows was opened by another person. */
async function endOnSite(toolkit: Toolkit, session: string, context: CheckContext): Promise<EndOnSite> {
  if ((await readSupport(toolkit, {}, context)).running?.session !== session) return { kind: 'ended-before' };
  const { clock } = toolkit;
  const beganMs = clock.monotonicMs();
  try {
    const { ended } = await operatorAccess(toolkit, context).ask('DELETE', SUPPORT_PATH, endedSchema);
    const tookMs = Math.round(clock.monotonicMs() - beganMs);
    const { running } = await readSupport(toolkit, {}, context);
    return { kind: 'answered', ended, stillRuns: running?.session === session, tookMs };
  } catch (error) {
    context.signal.throwIfAborted();
    return { kind: 'failed', why: asGwError(error).message };
  }
}

type RecordedSession = Extract<SessionEntry, { readonly kind: 'session' }>;

/** The record of the session, as soon as it has an end; null: not in the records. */
async function recordOf(
  toolkit: Toolkit,
  { session, password, withinMs }: { readonly session: string; readonly password: string; readonly withinMs: number },
  context: CheckContext,
): Promise<RecordedSession | null> {
  await using access = await operatorAccess(toolkit, context).signIn(password);
  const { value } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    async () => {
      const { sessions } = await access.ask('GET', LIST_PATH, sessionListSchema);
      return sessions.filter((one) => one.kind === 'session').find((one) => one.session === session) ?? null;
    },
    (entry) => entry !== null && entry.end !== null,
  );
  return value;
}

/** The state of the records, as soon as the outbox has all of them. */
async function untilSent(toolkit: Toolkit, withinMs: number, context: CheckContext): Promise<SupportView['records']> {
  const { value } = await poll(
    toolkit,
    context,
    { everyMs: POLL_MS, withinMs },
    async () => (await readSupport(toolkit, {}, context)).records,
    ({ notSentYet }) => notSentYet === 0,
  );
  return value;
}
