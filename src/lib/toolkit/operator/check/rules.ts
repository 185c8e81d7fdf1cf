import type { Endpoint } from '../../../net/index.ts';
import type { Finding } from '../../finding.result.ts';
import { notChecked, ok, wrong } from '../../finding.ts';
import { type Ask, hostHeader, type PlainRequest, requestBytes } from './raw-http.ts';
import { closedPaths, lies, otherMethods, spellingsOf } from './table.ts';

/** One rule with several requests; it holds when each is answered as expected. */
interface Rule {
  readonly id: string;
  readonly title: string;
  readonly spec: string | null;
  readonly tries: readonly Try[];
}

interface Try {
  /** For a person: what was sent. */
  readonly what: string;
  readonly bytes: string;
  /** null when the answer is correct, otherwise what is wrong with it. */
  readonly judge: (statuses: readonly number[], body: string) => string | null;
}

const REMEDY = 'Do not deliver this gateway; its read-only socket violates the specification.';
/** Statuses of a refusal: no success and no redirect. */
const refusals = [400, 403, 404, 405, 414, 431];

const only =
  (...allowed: readonly number[]): Try['judge'] =>
  (statuses) => {
    const odd = statuses.filter((status) => !allowed.includes(status));
    if (statuses.length === 0) return 'no answer';
    return odd.length === 0 ? null : `${odd.join(', ')} instead of ${allowed.join(' or ')}`;
  };

const exactly =
  (...expected: readonly number[]): Try['judge'] =>
  (statuses) =>
    statuses.join() === expected.join()
      ? null
      : `${statuses.join(', ') || 'no answer'} instead of ${expected.join(', ')}`;

/** A closed request must be answered with 403 and an error body. */
const refusedInShape: Try['judge'] = (statuses, body) =>
  exactly(403)(statuses, body) ?? (/^\{"error":\{"code":"[A-Z_]+","message":"/.test(body) ? null : 'no error body');

/** The rules of the full socket that protect browsers; project decisions. */
export async function fullRules(full: Endpoint, ask: Ask): Promise<Finding[]> {
  const host = hostHeader(full);
  const get = (target: string, more: Partial<PlainRequest> = {}) =>
    requestBytes({ method: 'GET', target, host, ...more });
  const post = (headers: readonly string[]) =>
    requestBytes({ method: 'POST', target: '/api/touren/lauf', host, headers, body: '{}' });
  return checkRules(full, ask, [
    {
      id: 'full.names',
      title: 'The full socket accepts its own host names only',
      spec: null,
      tries: ['evil.example', 'localhost.evil.example', '127.1'].map((name) => ({
        what: `Host: ${name}`,
        bytes: get('/api/nachbarn', { host: name }),
        judge: exactly(421),
      })),
    },
    {
      id: 'full.cross-site',
      title: 'Cross-site requests are refused',
      spec: null,
      tries: ['Origin: http://evil.example', 'Origin: null', 'Sec-Fetch-Site: cross-site'].map((header) => ({
        what: `POST /api/touren/lauf with ${header}`,
        bytes: post([header]),
        judge: exactly(403),
      })),
    },
    {
      id: 'full.sign-in',
      title: 'Routes that need a session answer 401 without one',
      spec: 'Authentication',
      tries: ['/api/einstellungen', '/api/protokolle', '/api/wartung/sitzungen'].map((path) => ({
        what: `GET ${path}`,
        bytes: get(path),
        judge: exactly(401),
      })),
    },
  ]);
}

/** The four rules of the read-only socket, against the known bypasses. */
export async function readOnlyRules(
  readOnly: Endpoint | null,
  ask: Ask,
  map: { readonly id: string | null },
): Promise<Finding[]> {
  const host = readOnly === null ? '' : hostHeader(readOnly);
  const get = (target: string, more: Partial<PlainRequest> = {}) =>
    requestBytes({ method: 'GET', target, host, ...more });
  const line = (text: string, ...more: readonly string[]) =>
    [`${text} HTTP/1.1`, `Host: ${host}`, ...more, '', ''].join('\r\n');
  const rules: Rule[] = [
    {
      id: 'read-only.methods',
      title: 'The read-only socket refuses every method but GET and HEAD',
      spec: 'Rules for the read-only socket, 1',
      tries: [
        ...otherMethods.map((method) => ({ what: method, bytes: get('/', { method }), judge: refusedInShape })),
        { what: 'CONNECT', bytes: line('CONNECT 127.0.0.1:22'), judge: exactly(403) },
        {
          what: 'DELETE /api/wartung/sitzung',
          bytes: get('/api/wartung/sitzung', { method: 'DELETE' }),
          judge: refusedInShape,
        },
        { what: 'HEAD', bytes: get('/api/nachbarn', { method: 'HEAD' }), judge: exactly(200) },
      ],
    },
    {
      id: 'read-only.allow-list',
      title: 'The read-only socket refuses paths that are not on the allow list',
      spec: 'Rules for the read-only socket, 2',
      tries: [...closedPaths, '/api/unknown', '/unknown', '/api', '/api/', '/.git/config', '/api/medien/x.png'].map(
        (path) => ({
          what: `GET ${path}`,
          bytes: get(path),
          judge: refusedInShape,
        }),
      ),
    },
    {
      id: 'read-only.spellings',
      title: 'No spelling of a closed path is answered',
      spec: 'Rules for the read-only socket, 2',
      tries: closedPaths.flatMap((path) =>
        spellingsOf(path).map((spelling) => ({ what: spelling, bytes: get(spelling), judge: only(...refusals) })),
      ),
    },
    {
      id: 'read-only.targets',
      title: 'The read-only socket is not a proxy and accepts origin-form paths only',
      spec: 'Rules for the read-only socket, 2',
      tries: ['http://127.0.0.1/api/medien', 'http://localhost:5173/', 'HTTP://127.0.0.1/', '*'].map((target) => ({
        what: `GET ${target}`,
        bytes: get(target),
        judge: only(400, 403),
      })),
    },
    {
      id: 'read-only.headers',
      title: 'No header changes the permissions of the socket',
      spec: 'Rules for the read-only socket, 3',
      tries: [
        ...lies.map((lie) => ({ what: lie, bytes: get('/api/medien', { headers: [lie] }), judge: exactly(403) })),
        ...lies.map((lie) => ({
          what: `POST with ${lie}`,
          bytes: get('/', { method: 'POST', headers: [lie] }),
          judge: exactly(403),
        })),
        ...['localhost:5173', '127.0.0.1:5173', '[::1]:5173'].map((name) => ({
          what: `Host: ${name}`,
          bytes: get('/api/medien', { host: name }),
          judge: exactly(403),
        })),
      ],
    },
    {
      id: 'read-only.upgrade',
      title: 'No connection is upgraded',
      spec: 'Rules for the read-only socket, 1',
      tries: ['websocket', 'h2c'].flatMap((protocol) =>
        ['/api/nachbarn', '/ws/v2/topics'].map((path) => ({
          what: `GET ${path} with Upgrade: ${protocol}`,
          bytes: line(
            `GET ${path}`,
            `Upgrade: ${protocol}`,
            'Connection: Upgrade, close',
            'Sec-WebSocket-Version: 13',
            'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
          ),
          judge: only(200, 400, 403),
        })),
      ),
    },
    {
      id: 'read-only.pipelining',
      title: 'Pipelined requests are checked one by one',
      spec: 'Rules for the read-only socket, 2',
      tries: [
        {
          what: 'allowed, closed, allowed',
          bytes: line('GET /api/nachbarn') + line('GET /api/medien') + get('/api/nachbarn'),
          judge: exactly(200, 403, 200),
        },
        {
          what: 'a closed request behind a body',
          bytes: `${line('GET /api/nachbarn', 'Content-Length: 2')}{}${get('/api/medien')}`,
          // After a body that it does not take, a server may also end the connection.
          judge: (statuses, body) => (statuses.length === 1 ? exactly(200) : exactly(200, 403))(statuses, body),
        },
        {
          what: 'a closed request between Content-Length and Transfer-Encoding',
          bytes: `${line('GET /api/nachbarn', 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n${get('/api/medien')}`,
          judge: (statuses) => (statuses.slice(1).includes(200) ? 'the hidden request was answered' : null),
        },
      ],
    },
    {
      id: 'read-only.malformed',
      title: 'Malformed and oversized requests are refused',
      spec: null,
      tries: [
        { what: 'NUL in the path', bytes: get('/\u0000'), judge: only(400, 403) },
        { what: 'a header without colon', bytes: line('GET /', 'broken'), judge: only(400) },
        { what: 'two Host headers', bytes: line('GET /', 'Host: evil.example'), judge: only(400, 421) },
        {
          what: 'a path of 100,000 characters',
          bytes: get(`/${'a'.repeat(100_000)}`),
          judge: (s) => (s[0] === 200 ? 'answered' : null),
        },
      ],
    },
    {
      id: 'read-only.no-session',
      title: 'The read-only socket has no sessions',
      spec: 'Authentication',
      tries: ['/api/einstellungen', '/api/protokolle', '/api/wartung/sitzungen'].map((path) => ({
        what: `GET ${path}`,
        bytes: get(path, { headers: ['Cookie: gw_session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'] }),
        judge: exactly(401),
      })),
    },
  ];
  const data: Rule = {
    id: 'read-only.map-data',
    title: 'Map data is readable, the map image is refused',
    spec: 'Rules for the read-only socket, 4',
    tries:
      map.id === null
        ? []
        : [
            { what: 'the map as data', bytes: get(`/api/chassis/maps/${map.id}`), judge: exactly(200) },
            { what: 'the map as image', bytes: get(`/api/chassis/maps/${map.id}.png`), judge: exactly(403) },
            { what: 'the map as IMAGE', bytes: get(`/api/chassis/maps/${map.id}.PNG`), judge: exactly(403) },
          ],
  };
  return checkRules(readOnly, ask, [...rules, data]);
}

async function checkRules(socket: Endpoint | null, ask: Ask, rules: readonly Rule[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { id, title, spec, tries } of rules) {
    const base = { id, title, spec };
    if (socket === null || tries.length === 0) {
      const detail = socket === null ? 'the socket is not reachable from here' : 'no map on the chassis';
      findings.push(notChecked(base, detail));
      continue;
    }
    const faults: string[] = [];
    for (const { what, bytes, judge } of tries) {
      const { statuses, body } = await ask(socket, bytes);
      const fault = judge(statuses, body);
      if (fault !== null) faults.push(`${what}: ${fault}`);
    }
    const more = faults.length > 5 ? `; and ${faults.length - 5} more` : '';
    findings.push(
      faults.length === 0
        ? ok(base, `${tries.length} requests answered as expected`)
        : wrong(base, `${faults.slice(0, 5).join('; ')}${more}`, REMEDY),
    );
  }
  return findings;
}
