import type { Endpoint } from '../../../net/index.ts';
import type { Finding } from '../../finding.result.ts';
import { notChecked, ok, wrong } from '../../finding.ts';
import { type Ask, hostHeader, type PlainRequest, requestBytes } from './raw-http.ts';
import { closedPaths, lies, otherMethods, spellingsOf } from './table.ts';

/** null when the answer is correct, otherwise what is wrong with it. */
type Judge = (statuses: readonly number[], body: string) => string | null;

/** One rule with several requests; it holds when each is answered as expected. */
interface Rule {
  readonly id: string;
  readonly title: string;
  readonly spec: string | null;
  readonly expected: Judge;
  /** For a person what is sent, its bytes, and what is expected where that is not `expected`. */
  readonly requests: readonly (readonly [what: string, bytes: string, expected?: Judge])[];
}

const REMEDY = 'Do not deliver this gateway; its read-only socket violates the specification.';
/** Statuses of a refusal: no success and no redirect. */
const refusals = [400, 403, 404, 405, 414, 431];

const only =
  (...allowed: readonly number[]): Judge =>
  (statuses) => {
    const odd = statuses.filter((status) => !allowed.includes(status));
    if (statuses.length === 0) return 'no answer';
    return odd.length === 0 ? null : `${odd.join(', ')} instead of ${allowed.join(' or ')}`;
  };

const exactly =
  (...expected: readonly number[]): Judge =>
  (statuses) =>
    statuses.join() === expected.join()
      ? null
      : `${statuses.join(', ') || 'no answer'} instead of ${expected.join(', ')}`;

/** A closed request must be answered with 403 and an error body. */
const refusedInShape: Judge = (statuses, body) =>
  exactly(403)(statuses, body) ?? (/^\{"error":\{"code":"[A-Z_]+","message":"/.test(body) ? null : 'no error body');

const behindSignIn = ['/api/einstellungen', '/api/protokolle', '/api/wartung/sitzungen'];

/** The rules of the full socket that protect browsers; project decisions. */
export async function fullRules(full: Endpoint, ask: Ask): Promise<Finding[]> {
  const { send, get } = requestsTo(full);
  return checkRules(full, ask, [
    {
      id: 'full.names',
      title: 'The full socket accepts its own host names only',
      spec: null,
      expected: exactly(421),
      requests: ['evil.example', 'localhost.evil.example', '127.1'].map((host) => [
        `Host: ${host}`,
        get('/api/nachbarn', { host }),
      ]),
    },
    {
      id: 'full.cross-site',
      title: 'Cross-site requests are refused',
      spec: null,
      expected: exactly(403),
      requests: ['Origin: http://evil.example', 'Origin: null', 'Sec-Fetch-Site: cross-site'].map((header) => [
        `POST /api/touren/lauf with ${header}`,
        send('POST', '/api/touren/lauf', { headers: [header], body: '{}' }),
      ]),
    },
    {
      id: 'full.sign-in',
      title: 'Routes that need a session answer 401 without one',
      spec: 'Authentication',
      expected: exactly(401),
      requests: behindSignIn.map((path) => [`GET ${path}`, get(path)]),
    },
  ]);
}

function requestsTo(socket: Endpoint | null) {
  const host = socket === null ? '' : hostHeader(socket);
  const send = (method: string, target: string, more: Partial<PlainRequest> = {}) =>
    requestBytes({ method, target, host, ...more });
  return {
    send,
    get: (target: string, more?: Partial<PlainRequest>) => send('GET', target, more),
    /** Without `Connection: close`. */
    line: (text: string, ...more: readonly string[]) =>
      [`${text} HTTP/1.1`, `Host: ${host}`, ...more, '', ''].join('\r\n'),
  };
}

/** The four rules of the read-only socket, against the known bypasses. */
export async function readOnlyRules(
  readOnly: Endpoint | null,
  ask: Ask,
  map: { readonly id: string | null },
): Promise<Finding[]> {
  const { send, get, line } = requestsTo(readOnly);
  const session = { headers: ['Cookie: gw_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'] };
  return checkRules(readOnly, ask, [
    {
      id: 'read-only.methods',
      title: 'The read-only socket refuses every method but GET and HEAD',
      spec: 'Rules for the read-only socket, 1',
      expected: refusedInShape,
      requests: [
        ...otherMethods.map((method) => [method, send(method, '/')] as const),
        ['CONNECT', line('CONNECT 127.0.0.1:22'), exactly(403)],
        ['DELETE /api/wartung/sitzung', send('DELETE', '/api/wartung/sitzung')],
        ['HEAD', send('HEAD', '/api/nachbarn'), exactly(200)],
      ],
    },
    {
      id: 'read-only.allow-list',
      title: 'The read-only socket refuses paths that are not on the allow list',
      spec: 'Rules for the read-only socket, 2',
      expected: refusedInShape,
      requests: [...closedPaths, '/api/unknown', '/unknown', '/api', '/api/', '/.git/config', '/api/medien/x.png'].map(
        (path) => [`GET ${path}`, get(path)],
      ),
    },
    {
      id: 'read-only.spellings',
      title: 'No spelling of a closed path is answered',
      spec: 'Rules for the read-only socket, 2',
      expected: only(...refusals),
      requests: closedPaths.flatMap(spellingsOf).map((spelling) => [spelling, get(spelling)]),
    },
    {
      id: 'read-only.targets',
      title: 'The read-only socket is not a proxy and accepts origin-form paths only',
      spec: 'Rules for the read-only socket, 2',
      expected: only(400, 403),
      requests: ['http://127.0.0.1/api/medien', 'http://localhost:5173/', 'HTTP://127.0.0.1/', '*'].map((target) => [
        `GET ${target}`,
        get(target),
      ]),
    },
    {
      id: 'read-only.headers',
      title: 'No header changes the permissions of the socket',
      spec: 'Rules for the read-only socket, 3',
      expected: exactly(403),
      requests: [
        ...lies.map((lie) => [lie, get('/api/medien', { headers: [lie] })] as const),
        ...lies.map((lie) => [`POST with ${lie}`, send('POST', '/', { headers: [lie] })] as const),
        ...['localhost:5173', '127.0.0.1:5173', '[::1]:5173'].map(
          (host) => [`Host: ${host}`, get('/api/medien', { host })] as const,
        ),
      ],
    },
    {
      id: 'read-only.upgrade',
      title: 'No connection is upgraded',
      spec: 'Rules for the read-only socket, 1',
      expected: only(200, 400, 403),
      requests: ['websocket', 'h2c'].flatMap((protocol) =>
        ['/api/nachbarn', '/ws/v2/topics'].map((path) => {
          const key = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='];
          const headers = [`Upgrade: ${protocol}`, 'Connection: Upgrade, close', ...key];
          return [`GET ${path} with Upgrade: ${protocol}`, line(`GET ${path}`, ...headers)] as const;
        }),
      ),
    },
    {
      id: 'read-only.pipelining',
      title: 'Pipelined requests are checked one by one',
      spec: 'Rules for the read-only socket, 2',
      expected: exactly(200, 403, 200),
      requests: [
        ['allowed, closed, allowed', line('GET /api/nachbarn') + line('GET /api/medien') + get('/api/nachbarn')],
        [
          'a closed request behind a body',
          `${line('GET /api/nachbarn', 'Content-Length: 2')}{}${get('/api/medien')}`,
          // After a body that it does not take, a server may also end the connection.
          (statuses, body) => (statuses.length === 1 ? exactly(200) : exactly(200, 403))(statuses, body),
        ],
        [
          'a closed request between Content-Length and Transfer-Encoding',
          `${line('GET /api/nachbarn', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${get('/api/medien')}`,
          (statuses) => (statuses.slice(1).includes(200) ? 'the hidden request was answered' : null),
        ],
      ],
    },
    {
      id: 'read-only.malformed',
      title: 'Malformed and oversized requests are refused',
      spec: null,
      expected: only(400, 403),
      requests: [
        ['NUL in the path', get('/\u0000')],
        ['a header without colon', line('GET /', 'broken'), only(400)],
        ['two Host headers', line('GET /', 'Host: evil.example'), only(400, 421)],
        [
          'a path of 100,000 characters',
          get(`/${'a'.repeat(100_000)}`),
          ([status]) => (status === 200 ? 'answered' : null),
        ],
      ],
    },
    {
      id: 'read-only.no-session',
      title: 'The read-only socket has no sessions',
      spec: 'Authentication',
      expected: exactly(401),
      requests: behindSignIn.map((path) => [`GET ${path}`, get(path, session)]),
    },
    {
      id: 'read-only.map-data',
      title: 'Map data is readable, the map image is refused',
      spec: 'Rules for the read-only socket, 4',
      expected: exactly(403),
      requests:
        map.id === null
          ? []
          : [
              ['the map as data', get(`/api/chassis/maps/${map.id}`), exactly(200)],
              ['the map as image', get(`/api/chassis/maps/${map.id}.png`)],
              ['the map as IMAGE', get(`/api/chassis/maps/${map.id}.PNG`)],
            ],
    },
  ]);
}

async function checkRules(socket: Endpoint | null, ask: Ask, rules: readonly Rule[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { requests, expected, ...base } of rules) {
    if (socket === null || requests.length === 0) {
      const detail = socket === null ? 'the socket is not reachable from here' : 'no map on the chassis';
      findings.push(notChecked(base, detail));
      continue;
    }
    const faults: string[] = [];
    for (const [what, bytes, judge = expected] of requests) {
      const { statuses, body } = await ask(socket, bytes);
      const fault = judge(statuses, body);
      if (fault !== null) faults.push(`${what}: ${fault}`);
    }
    const more = faults.length > 5 ? `; and ${faults.length - 5} more` : '';
    findings.push(
      faults.length === 0
        ? ok(base, `${requests.length} requests answered as expected`)
        : wrong(base, `${faults.slice(0, 5).join('; ')}${more}`, REMEDY),
    );
  }
  return findings;
}
