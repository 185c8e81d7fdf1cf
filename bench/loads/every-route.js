import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeIncident } from '../../src/lib/incident/incident-file.ts';
import { routes } from '../../src/lib/operator/routes.ts';
import { addresses, floodRequests, requestText } from '../attack.js';

/** @source specification, 'Operator server': the read-only socket */
const READ_ONLY = { host: '127.0.0.1', port: 5174 };
const MEDIA_FILES = 1_000;
const INCIDENTS = 50;

// All of the table, so that a new route cannot escape.
const reads = routes.filter(({ method }) => method === 'GET');
const changes = routes.filter(({ method }) => method !== 'GET');
const pathOf = ({ path }) => path.replace(/:id(\([^)]*\))?/, '1').replace(':name', 'file-1.png');
const textOf = (route) => requestText(route.method, pathOf(route), route.method === 'GET' ? {} : { body: '{}' });

/** These requests one after the other on each connection. */
function requestAll({ target, from, connections, routes }) {
  const texts = routes.map(textOf);
  return floodRequests({ target, from, connections, request: (turn) => texts[turn % texts.length] });
}

/** A full media library, and as many incidents as are kept, with causes as long as an earlier version wrote them. */
function prepare(dir) {
  const incidents = join(dir, 'state', 'incidents');
  mkdirSync(incidents, { recursive: true, mode: 0o700 });
  for (let id = 1; id <= INCIDENTS; id += 1) {
    const causes = Array.from({ length: 32 }, (_, alertCode) => ({
      ...{ code: 'alert', atMs: 0, alertCode, text: 'x'.repeat(2_000) },
    }));
    const head = {
      ...{ format: 'gw/incident/1', id, serial: 'SIM-0001', site: 'Bench', version: '0', timeZone: 'UTC' },
      ...{ at: '2026-01-31T12:00:00.000Z', causes, moreCauses: 0, fromMs: 0, toMs: 0, isComplete: true },
    };
    const none = { poses: 0, scenes: 0, log: 0 };
    const body = { stations: [], dock: null, poses: [], scenes: [], log: [], leftOut: none };
    writeFileSync(join(incidents, `incident-${id}.jsonl`), encodeIncident(head, body), { mode: 0o600 });
  }
  const media = join(dir, 'media');
  mkdirSync(media, { recursive: true });
  for (let at = 0; at < MEDIA_FILES; at += 1) writeFileSync(join(media, `file-${at}.png`), 'x');
}

export const everyRouteLoads = [
  {
    name: 'every-route',
    title: `every GET route by 400 addresses, with ${MEDIA_FILES} media and ${INCIDENTS} incidents`,
    from: addresses(16, 400),
    prepare,
    attack: ({ target, from }) => requestAll({ target, from, connections: from.length, routes: reads }),
  },
  {
    name: 'every-read-only-route',
    title: 'every GET route of the read-only socket on 64 connections',
    from: '127.0.0.1',
    prepare,
    attack: ({ from }) =>
      requestAll({ target: READ_ONLY, from, connections: 64, routes: reads.filter(({ readOnly }) => readOnly) }),
  },
  {
    name: 'every-change',
    title: 'every route that changes something, without sign-in, by 400 addresses',
    from: addresses(18, 400),
    attack: ({ target, from }) => requestAll({ target, from, connections: from.length, routes: changes }),
  },
  ...['/api/vorfaelle', '/api/medien', '/medien'].map((path) => ({
    name: `only ${path}`,
    title: `${path} without a pause on 64 connections of one address, with ${MEDIA_FILES} media and ${INCIDENTS} incidents`,
    prepare,
    attack: ({ target, from }) => requestAll({ target, from, connections: 64, routes: [{ method: 'GET', path }] }),
  })),
];
