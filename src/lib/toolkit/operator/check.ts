import { GwError } from '../../error/index.ts';
import {
  type Endpoint,
  isLoopback,
  parseListeningSockets,
  readListeningSockets,
  type SocketPlace,
  type Ssh,
} from '../../net/index.ts';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { asJson, operatorAccess } from './access.ts';
import { type Ask, createRawHttp, hostHeader, requestBytes } from './check/raw-http.ts';
import { fullRules, readOnlyRules } from './check/rules.ts';
import { type SpecifiedRoute, specifiedRoutes, specifiedSockets } from './check/table.ts';
import type { OperatorCheck, RouteRow } from './operator.result.ts';

export interface OperatorCheckOptions {
  /** Host of the operator server; by default this machine. */
  readonly host?: string;
}

/** The two sockets; `readOnly` is null on a machine that must not reach it. */
export interface CheckedSockets {
  readonly full: Endpoint;
  readonly readOnly: Endpoint | null;
}

/**
 * Checks a running operator server over its sockets: the status of every specified route, the known bypasses of the
 * read-only socket, and the reachability of that socket. Read-only: requests that would change state are malformed, and
 * no sign-in attempt is used up. Throws GATEWAY_OTHER_ROBOT, and OPERATOR_NOT_REACHABLE when the full socket does not answer.
 */
export async function checkOperator(
  toolkit: Toolkit,
  { host = '127.0.0.1' }: OperatorCheckOptions,
  context: CheckContext,
): Promise<OperatorCheck> {
  const isHere = toolkit.dialer.way !== 'direct' || isLoopback(host);
  const { readOnly } = specifiedSockets;
  const robot = robotFinding(await operatorAccess(toolkit, context, host).robot());
  const check = await checkSockets(
    toolkit,
    { full: { host, port: toolkit.site.operator.port }, readOnly: isHere ? { ...readOnly } : null },
    context,
  );
  const key = robot.verdict === 'ok' ? 'ok' : 'notChecked';
  return {
    ...check,
    findings: [robot, ...check.findings],
    counts: { ...check.counts, [key]: check.counts[key] + 1 },
    requests: check.requests + 1,
  };
}

/** Another robot is an error of the access, and not a finding: everything below would be about that one. */
function robotFinding(serial: string | null): Finding {
  const base = { id: 'robot', title: 'The gateway belongs to the robot of the site file', spec: null };
  return serial === null ? notChecked(base, 'it does not name its robot') : ok(base, serial);
}

/** The same for given sockets; those of the command are constants, except the full port of the site file. */
export async function checkSockets(
  toolkit: Toolkit,
  sockets: CheckedSockets,
  context: CheckContext,
): Promise<OperatorCheck> {
  const { clock, dialer } = toolkit;
  const began = clock.monotonicMs();
  const http = createRawHttp(dialer, clock);
  let requests = 0;
  const ask: Ask = (socket, bytes) => {
    requests += 1;
    return http.send(socket, bytes, context.signal);
  };

  context.onProgress('Connecting to the full socket');
  const mapId = await findMap(sockets.full, ask);
  const seen = await readOnlyAnswers(sockets.readOnly, ask);
  const readOnly = seen === null ? sockets.readOnly : null;
  context.onProgress('Comparing the route table');
  const routes: RouteRow[] = [];
  for (const route of specifiedRoutes) {
    routes.push(await checkRoute(route, { full: sockets.full, readOnly }, { toolkit, ask, mapId }));
  }
  const findings: Finding[] = routes.map(routeFinding);
  if (seen !== null) findings.push(seen);
  context.onProgress('Testing the rules of the sockets');
  findings.push(...(await fullRules(sockets.full, ask)));
  findings.push(...(await readOnlyRules(readOnly, ask, mapId)));
  findings.push(await reachFinding(toolkit, sockets, ask, context));

  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  return {
    verdict: conclude(findings),
    full: sockets.full,
    readOnly: sockets.readOnly,
    routes,
    findings,
    counts: { ok: count('ok'), wrong: count('wrong'), notChecked: count('not-checked') },
    requests,
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** A map of the chassis, or why none is known. */
type MapId = { readonly id: string } | { readonly id: null; readonly why: string };

async function findMap(full: Endpoint, ask: Ask): Promise<MapId> {
  const { statuses, body } = await ask(
    full,
    requestBytes({ method: 'GET', target: '/api/chassis/maps', host: hostHeader(full) }),
  );
  if (statuses.length === 0) {
    throw new GwError('OPERATOR_NOT_REACHABLE', 'TCP connected, but no HTTP answer.', {
      tried: { address: full.host, port: full.port },
    });
  }
  const data = asJson(body);
  if (statuses[0] !== 200 || !Array.isArray(data))
    return { id: null, why: chassisTrouble(body) ?? 'no list of maps received' };
  const id: unknown = (data[0] as { id?: unknown } | undefined)?.id;
  return typeof id === 'number' || typeof id === 'string'
    ? { id: String(id) }
    : { id: null, why: 'the chassis has no map' };
}

/** null when the read-only socket answers, or must not be reachable from here. */
async function readOnlyAnswers(readOnly: Endpoint | null, ask: Ask): Promise<Finding | null> {
  if (readOnly === null) return null;
  const base = { id: 'read-only.answers', title: 'The read-only socket answers', spec: 'Operator server' } as const;
  try {
    const request = requestBytes({ method: 'GET', target: '/', host: hostHeader(readOnly) });
    const { statuses } = await ask(readOnly, request);
    if (statuses.length > 0) return null;
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'OPERATOR_NOT_REACHABLE') throw error;
  }
  return wrong(
    base,
    `not connected: no answer at ${readOnly.host}:${readOnly.port}, while the full socket answers`,
    'See the log of `gw serve`; both sockets belong to one server.',
  );
}

interface RouteTools {
  readonly toolkit: Toolkit;
  readonly ask: Ask;
  readonly mapId: MapId;
}

async function checkRoute(route: SpecifiedRoute, sockets: CheckedSockets, tools: RouteTools): Promise<RouteRow> {
  const { method, meaning, body } = route;
  const { mapId } = tools;
  const needsMap = route.path.includes('<map_id>');
  // The read-only socket must refuse any map, also one that does not exist.
  const target = route.path.replace('<map_id>', mapId.id ?? '1');
  const request = async (socket: Endpoint) => {
    const bytes = requestBytes({ method, target, host: hostHeader(socket), ...(body !== undefined && { body }) });
    return tools.ask(socket, bytes);
  };
  const row = { method, path: target, meaning };
  const expected = expectedOnFull(route, tools.toolkit);

  const answer = needsMap && mapId.id === null ? null : await request(sockets.full);
  const found = answer?.statuses[0] ?? null;
  const trouble = answer === null ? (mapId.id === null ? mapId.why : null) : chassisTrouble(answer.body);
  const isForwarded = route.path.startsWith('/api/chassis/');
  const excused = isForwarded && (answer === null || (found === 503 && trouble !== null));
  const full = {
    expected: expected.statuses,
    found,
    verdict: excused ? ('not-checked' as const) : verdictOf(expected.statuses, found),
  };
  const refused = sockets.readOnly === null ? null : await request(sockets.readOnly);
  const foundThere = refused?.statuses[0] ?? null;
  const excusedThere = refused === null || (isForwarded && foundThere === 503 && chassisTrouble(refused.body) !== null);
  return {
    ...row,
    full,
    readOnly: {
      expected: [route.readOnly],
      found: foundThere,
      verdict: excusedThere ? 'not-checked' : verdictOf([route.readOnly], foundThere),
    },
    note: excused ? trouble : expected.note,
  };
}

function verdictOf(expected: readonly number[], found: number | null): 'ok' | 'wrong' {
  return found !== null && expected.includes(found) ? 'ok' : 'wrong';
}

/** The specified status, or those for a service that this site has configured and the test setup had not. */
function expectedOnFull({ method, path, full }: SpecifiedRoute, { site }: Toolkit) {
  const { voice, building, passwordFile } = site.operator;
  if (path === '/api/chatbot/config' && voice) {
    return { statuses: [200, 502], note: 'a voice service is configured: 200, or 502 when it does not answer' };
  }
  if (path === '/api/uiot/status' && building) {
    return { statuses: [200, 502], note: 'a building module is configured: 200, or 502 when it does not answer' };
  }
  if (method === 'POST' && path === '/api/anmeldung' && passwordFile !== undefined) {
    return { statuses: [400], note: 'a device password is configured: the malformed test request is 400' };
  }
  return { statuses: [full], note: null };
}

function routeFinding({ method, path, meaning, full, readOnly, note }: RouteRow): Finding {
  const verdict = conclude([full, readOnly]);
  const text = ({ expected, found, verdict }: RouteRow['full']) =>
    verdict === 'wrong'
      ? `${found ?? 'no answer'} instead of ${expected.join(' or ')}`
      : verdict === 'ok'
        ? `${found}`
        : 'not checked';
  return {
    id: `route ${method} ${path.replace(/\/maps\/[^/]+\.png$/, '/maps/<map_id>.png')}`,
    title: `${method} ${path}: ${meaning}`,
    verdict,
    detail: `full socket ${text(full)}, read-only socket ${text(readOnly)}${note === null ? '' : `; ${note}`}`,
    remedy: verdict === 'wrong' ? 'Do not deliver this gateway; its operator server violates the specification.' : null,
    spec: 'Operator server, routes',
  };
}

async function reachFinding(
  { dialer, ssh }: Toolkit,
  { full, readOnly }: CheckedSockets,
  ask: Ask,
  { signal }: CheckContext,
): Promise<Finding> {
  const base = {
    id: 'read-only.loopback',
    title: 'The read-only socket is reachable on loopback only',
    spec: 'Operator server',
  };
  const remedy = 'Take this gateway off the network: any client of the socket is treated as the maintenance proxy.';
  if (readOnly === null) {
    const { port } = specifiedSockets.readOnly;
    const bytes = requestBytes({ method: 'GET', target: '/', host: hostHeader(full) });
    const answered = await ask({ host: full.host, port }, bytes).then(
      ({ statuses }) => statuses.length > 0,
      () => false,
    );
    return answered
      ? wrong(base, `${full.host}:${port} answers from another machine`, remedy)
      : ok(base, `${full.host}:${port} does not answer from here`);
  }
  try {
    const listed = dialer.way === 'direct' ? await readListeningSockets() : await readFarSockets(ssh, signal);
    if (listed === null) {
      return notChecked(base, 'the remote host does not list its sockets');
    }
    const listening = listed.filter(({ port }) => port === readOnly.port);
    const open = listening.filter(({ address }) => !isLoopback(address)).map(({ address }) => address);
    if (listening.length === 0) return notChecked(base, 'the socket is not in the list of listening sockets');
    return open.length > 0
      ? wrong(base, `it also listens on ${open.join(', ')}`, remedy)
      : ok(base, `it listens on ${listening.map(({ address }) => address).join(', ')} only`);
  } catch {
    return notChecked(base, 'the kernel does not list the listening sockets');
  }
}

/** The listening sockets of the remote host; null when it does not list them. */
async function readFarSockets(ssh: Ssh | undefined, signal: AbortSignal): Promise<SocketPlace[] | null> {
  if (ssh === undefined) return null;
  const { readRemoteText } = await import('../remote-run.ts');
  // A kernel without IPv6 has no tcp6, and the other list is printed all the same.
  const four = await readRemoteText(ssh, ['cat', '/proc/net/tcp'], signal);
  const six = await readRemoteText(ssh, ['cat', '/proc/net/tcp6'], signal);
  return four === null ? null : [...parseListeningSockets(four), ...parseListeningSockets(six ?? '')];
}

/** The error of the chassis in an answer of the gateway; null when there is none. */
function chassisTrouble(body: string): string | null {
  const error = (asJson(body) as { error?: { code?: unknown; message?: unknown } } | null | undefined)?.error;
  const isChassis = typeof error?.code === 'string' && error.code.startsWith('CHASSIS_');
  return isChassis && typeof error.message === 'string' ? error.message : null;
}
