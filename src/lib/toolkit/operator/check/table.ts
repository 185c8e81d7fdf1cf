/**
 * The specified behaviour of the operator server's sockets. Written from the specification and deliberately not shared
 * with the operator module: a check that shared the table could not fail.
 */
export interface SpecifiedRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `<map_id>`: id of a map of the chassis. */
  readonly path: string;
  readonly meaning: string;
  readonly full: number;
  readonly readOnly: number;
  /** Body of the test request; malformed for routes that change state. */
  readonly body?: string;
}

/** @source specification, 'Operator server' */
export const specifiedSockets = { full: { port: 5173 }, readOnly: { host: '127.0.0.1', port: 5174 } } as const;

/** @source specification, 'Operator server', routes observed */
export const specifiedRoutes: readonly SpecifiedRoute[] = [
  { method: 'GET', path: '/', meaning: 'Operator surface', full: 200, readOnly: 200 },
  { method: 'GET', path: '/service', meaning: 'Technician page', full: 200, readOnly: 200 },
  { method: 'GET', path: '/api/nachbarn', meaning: 'Other robots', full: 200, readOnly: 200 },
  { method: 'GET', path: '/api/chassis/device/info', meaning: 'Chassis state', full: 200, readOnly: 200 },
  { method: 'GET', path: '/api/chassis/maps/<map_id>.png', meaning: 'Floor plan image', full: 200, readOnly: 403 },
  { method: 'GET', path: '/api/medien', meaning: 'Media library', full: 200, readOnly: 403 },
  { method: 'GET', path: '/api/chatbot/config', meaning: 'Voice service', full: 409, readOnly: 403 },
  { method: 'GET', path: '/api/uiot/status', meaning: 'Building module', full: 409, readOnly: 403 },
  { method: 'GET', path: '/anmeldung', meaning: 'Sign-in form', full: 200, readOnly: 403 },
  { method: 'POST', path: '/api/touren/lauf', meaning: 'Start a tour', full: 400, readOnly: 403, body: '{}' },
  { method: 'POST', path: '/api/anmeldung', meaning: 'Sign in', full: 409, readOnly: 403, body: '{}' },
  { method: 'DELETE', path: '/api/anmeldung', meaning: 'Sign out', full: 200, readOnly: 403 },
];

/** Closed on the read-only socket, and harmless to request on a faulty gateway. */
export const closedPaths = ['/api/medien', '/anmeldung', '/api/chatbot/config', '/api/uiot/status'] as const;

/** Spellings of a path that some routers, proxies and filters normalise to the path itself. */
export function spellingsOf(path: string): readonly string[] {
  const cut = path.lastIndexOf('/');
  const [parent, leaf] = [path.slice(0, cut), path.slice(cut + 1)];
  const escaped = `%${leaf.charCodeAt(0).toString(16)}${leaf.slice(1)}`;
  return [
    `/${path}`,
    path.replaceAll('/', '//'),
    `${path}/`,
    `${path}.`,
    `${path}%2e`,
    `${path}%00`,
    `${path};a=b`,
    `${path}?x=/api/nachbarn`,
    `/.${path}`,
    `/x/..${path}`,
    `/api/nachbarn/../..${path}`,
    `/api/nachbarn/%2e%2e/%2e%2e${path}`,
    `/service/..%2f..${path}`,
    `/assets/..${path}`,
    path.replaceAll('/', '%2f'),
    path.replaceAll('/', '\\'),
    `${parent}/${escaped}`,
    `${parent}/%25${escaped.slice(1)}`,
    path.toUpperCase(),
    `${parent}/${leaf.charAt(0).toUpperCase()}${leaf.slice(1)}`,
  ];
}

/** Headers with which some servers let a client override method, path, peer or socket. */
export const lies: readonly string[] = [
  'X-HTTP-Method-Override: POST',
  'X-HTTP-Method: DELETE',
  'X-Method-Override: PUT',
  'X-Forwarded-For: 127.0.0.1',
  'X-Forwarded-Host: localhost:5173',
  'X-Forwarded-Port: 5173',
  'X-Forwarded-Proto: https',
  'X-Real-IP: 127.0.0.1',
  'Forwarded: for=127.0.0.1;host=localhost:5173;proto=http',
  'X-Original-URL: /api/medien',
  'X-Rewrite-URL: /api/medien',
];

/** Methods other than GET and HEAD, known and unknown. */
export const otherMethods = [
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'BREW',
] as const;
