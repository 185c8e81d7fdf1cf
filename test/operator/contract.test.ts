import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../src/cli/contracts/openapi.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { routes } from '../../src/lib/operator/index.ts';
import { connectedView } from '../cloud/views.ts';
import { createWorld } from '../delivery/world.ts';
import { isFull } from '../properties.ts';
import { type Asked, document, expectDescribed, fault, operations, send } from './openapi.ts';
import { PASSWORD, signIn, startServer, type TestServer } from './server.ts';
import { tried } from './stand-ins.ts';
import { runningSupport, standInSupport } from './support-stand-in.ts';

const sampleOf = (path: string, name = 'a.txt') => path.replace('{id}', '7').replace('{name}', name);

const json = (body: unknown) => ({ headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
const form = (fields: Readonly<Record<string, string>>) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});
const upload = {
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--b--\r\n',
};

const conditions = { robotWillMove: true, spaceFree: true, emergencyStopInHand: true };
/** A body for each operation that takes one. */
const bodies: Readonly<Record<string, unknown>> = {
  ...{ checkCloudPath: { path: 'direct' }, setLogLevel: { level: 'debug', forS: 60 }, signIn: { password: PASSWORD } },
  ...{ stop: { reason: 'test' }, startTour: { tour: 'breakfast', keepAlive: true, although: [8004] } },
  ...{ pauseTour: { id: 'r1' }, continueTour: { tour: 'breakfast' }, endTour: { id: 'r1' }, keepTour: { id: 'r1' } },
  ...{ startDrive: { station: 'A' }, endDrive: { id: 'd1' }, keepDrive: { id: 'd1' } },
  seeRun: { id: 'd1' },
  ...{ proceed: { arrival: 'd1', next: null }, enqueue: { station: 'B' }, removeQueued: { id: 'q1' } },
  ...{ showCountdown: { id: 'c1' }, endCountdown: { id: 'c1' }, release: {} },
  ...{ setPose: { xM: 1, yM: 2, yawDeg: 90 }, startTrial: { kind: 'stop', who: 'A. Person', conditions } },
  keepTrial: { id: 't1' },
};
const bodyOf = (id: string): Partial<Asked> => (id === 'uploadMedia' ? upload : id in bodies ? json(bodies[id]) : {});

/** Any JSON for voice service and building module. */
async function startPeer() {
  const server = createServer((_request, response) => response.end('{"anything":[1]}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: async () => void server.close() };
}

/** A gateway on which every operation succeeds. */
async function startWhole(peerUrl: string) {
  const world = createWorld({ return: { afterMinutes: 1 } });
  await world.restart();
  await world.motion.startDrive({ station: 'A' }, { by: 'page' });
  world.end('succeeded');
  const list = { timeZone: 'UTC', deliveries: [], more: 0, unreadable: 0, lost: 0, trouble: null };
  const server = await startServer({
    ...{ password: true, incident: true, voiceUrl: peerUrl, buildingUrl: peerUrl },
    more: {
      cloud: () => connectedView,
      checkCloudPath: async (path) => ({ path, step: null, outcome: { verdict: 'ok', detail: 'CONNACK accepted' } }),
      support: standInSupport(runningSupport),
      delivery: world.delivery(),
      dayList: { list: async () => list },
    },
  });
  return Object.assign(server, { world });
}

describe('the OpenAPI document', () => {
  it('has an operation for each row of the route table and no other, and says on which sockets', () => {
    const plain = (path: string) => path.replace(/:(\w+)(?:\([^)]*\))?/g, '{$1}');
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      routes.map(({ method, path }) => `${method} ${plain(path)}`).sort(),
    );
    for (const { method, path, readOnly, signedIn } of routes) {
      const operation = document.paths[plain(path)]?.[method.toLowerCase()];
      expect(operation?.['x-gw-sockets']).toEqual(readOnly ? [5173, 5174] : [5173]);
      if (signedIn) expect(operation?.security).toEqual([{ session: [] }]);
    }
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
  });

  it('cannot be made for a route without a contract, or without the route of a contract', () => {
    const [first, ...others] = routes;
    if (first === undefined) throw new Error('no routes');
    expect(() => openApi('0', [first, ...others, { ...first, path: '/api/new' }])).toThrow(
      'GET /api/new has no contract',
    );
    expect(() => openApi('0', others)).toThrow('contracts without a route: GET /');
  });

  it('refers to nothing that it does not have', () => {
    const text = JSON.stringify(document);
    const refs = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer = '']) => pointer);
    expect(refs.length).toBeGreaterThan(100);
    for (const pointer of new Set(refs)) {
      const found = pointer.split('/').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document);
      expect(found, pointer).toBeDefined();
    }
  });

  it('says whose decisions it is', () => {
    expect(document.info.description).toContain("not the platform's contract named 'operator UI'");
  });
});

describe('every operation of the OpenAPI document', () => {
  it('succeeds with the described answer, with a described body and a session where it needs one', async () => {
    await using peer = await startPeer();
    await using server = await startWhole(peer.url);
    for (const { method, path, operation } of operations) {
      const { operationId, requestBody, security } = operation;
      const schema = requestBody?.content['application/json']?.schema;
      expect(operationId in bodies, operationId).toBe(schema !== undefined);
      if (schema !== undefined) expect([operationId, fault(schema, bodies[operationId])]).toEqual([operationId, null]);
      const cookie = security.length > 0 ? await signIn(server.full) : '';
      const { headers, ...body } = { headers: {}, ...bodyOf(operationId) };
      if (operationId === 'continueTour') await server.motion.pauseTour('test');
      if (operationId === 'seeRun') {
        const { id, kind, station, outcome } = await server.motion.startDrive({ station: 'A' });
        server.motion.set({ drive: { id, kind, station, outcome, state: 'failed', reason: 'x' } });
      }
      if (operationId === 'enqueue') await server.world.motion.startDrive({ station: 'A' }, { by: 'page' });
      // The file of the sample was deleted by another operation.
      if (operationId === 'deleteMediaForm') {
        const again = { headers: { ...upload.headers, cookie }, body: upload.body };
        await send(server.full, { method: 'POST', path: '/api/medien', ...again });
      }
      const answer = await send(server.full, {
        method,
        path: sampleOf(path),
        headers: { ...headers, ...(cookie && { cookie }) },
        ...body,
      });
      expect(answer.status, `${operationId}: ${answer.text}`).toBeLessThan(400);
      expectDescribed(operation, answer);
    }
  });

  it('answers a form as described', async () => {
    await using peer = await startPeer();
    await using server = await startWhole(peer.url);
    const fields: Readonly<Record<string, Record<string, string>>> = {
      signIn: { password: PASSWORD },
      startTour: { tour: 'breakfast' },
      startDrive: { dock: 'true' },
    };
    for (const id of ['signIn', 'stop', 'clearStopByForm', 'startTour', 'startDrive', 'endRun', 'endSupportByForm']) {
      const { method, path, operation } = operations.find((one) => one.operation.operationId === id) ?? {};
      if (method === undefined || path === undefined || operation === undefined) throw new Error(id);
      const { headers, body } = form(fields[id] ?? {});
      const cookie = await signIn(server.full);
      const answer = await send(server.full, { method, path, headers: { ...headers, cookie }, body });
      expect(answer.status, `${id}: ${answer.text}`).toBe(id === 'endSupportByForm' ? 200 : 303);
      expectDescribed(operation, answer);
    }
  });

  it('answers a part of a media file as described', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    await send(server.full, { method: 'POST', path: '/api/medien', ...upload, headers: { ...upload.headers, cookie } });
    const { operation } = operations.find((one) => one.operation.operationId === 'getMedia') ?? {};
    if (operation === undefined) throw new Error('getMedia');
    for (const [range, status] of [
      ['bytes=1-2', 206],
      ['bytes=99-', 200],
    ] as const) {
      const answer = await send(server.full, { method: 'GET', path: '/api/medien/a.txt', headers: { range } });
      expect(answer.status).toBe(status);
      expectDescribed(operation, answer);
    }
    expect(Object.keys(operation.responses)).not.toContain('416');
  });

  it('is open on the read-only socket where the document says so, without a session', async () => {
    await using peer = await startPeer();
    await using server = await startWhole(peer.url);
    const cookie = await signIn(server.full);
    for (const { method, path, operation } of operations) {
      const answer = await send(server.readOnly, { method, path: sampleOf(path), headers: { cookie } });
      const isOpen = operation['x-gw-sockets'].includes(5174);
      const expected = isOpen ? (operation.security.length > 0 ? 401 : 200) : 403;
      expect([operation.operationId, answer.status]).toEqual([operation.operationId, expected]);
      expectDescribed(operation, answer);
    }
  });

  const away = (server: TestServer) =>
    server.link.setState({ kind: 'not-connected', failure: 'cut', detail: 'connection closed unexpectedly', tried });
  const failing = (code: 'MOTION_STOPPED' | 'MOTION_REFUSED') => (server: TestServer) => {
    server.motion.failNext = new GwError(code, 'test');
  };

  type Case = [string, Partial<Asked>, { isSignedIn?: true; prepare?: (server: TestServer) => void; isBare?: true }];
  const cases: Case[] = [
    ['without session and body', {}, {}],
    ['without cloud, peers and password', {}, { isBare: true }],
    ['without body, signed in', {}, { isSignedIn: true }],
    ['with a malformed body', { headers: { 'content-type': 'application/json' }, body: '{' }, { isSignedIn: true }],
    ['with another body', json({ other: 1 }), { isSignedIn: true }],
    ['with a body of another type', { headers: { 'content-type': 'text/plain' }, body: 'x' }, { isSignedIn: true }],
    ['with a body in chunks', { headers: { 'transfer-encoding': 'chunked' }, body: '{}' }, { isSignedIn: true }],
    ['with a body that is too long', json('x'.repeat(17_000)), { isSignedIn: true }],
    ['from a page of another site', { headers: { origin: 'http://other.example' } }, { isSignedIn: true }],
    ['to another host', { headers: { host: 'other.example' } }, { isSignedIn: true }],
    ['meant for another robot', { headers: { 'gw-robot': 'OTHER' } }, { isSignedIn: true }],
    ['without a chassis', {}, { isSignedIn: true, prepare: away }],
    ['while the robot is stopped', {}, { isSignedIn: true, prepare: failing('MOTION_STOPPED') }],
    ['while the gate is closed', {}, { isSignedIn: true, prepare: failing('MOTION_REFUSED') }],
  ];
  it.each(cases.map(([name, ...more], nth) => [name, nth, ...more] as const))(
    'answers as described %s',
    { tags: 'property' },
    async (...of) => {
      const [name, nth, asked, { isSignedIn, prepare, isBare }] = of;
      await using peer = await startPeer();
      await using server = await (isBare ? startServer() : startWhole(peer.url));
      let cookie = isSignedIn ? await signIn(server.full) : '';
      for (const [at, { method, path, operation }] of operations.entries()) {
        // In `npm test` each case at every fifth operation, and each operation in two or three cases.
        if (!isFull && at % 5 !== nth % 5) continue;
        prepare?.(server);
        const given: Partial<Asked> = prepare === undefined ? {} : bodyOf(operation.operationId);
        const answer = await send(server.full, {
          method,
          path: sampleOf(path, 'none.txt'),
          ...given,
          ...asked,
          headers: { ...given.headers, ...asked.headers, ...(cookie && { cookie }) },
        });
        if (name === 'meant for another robot') {
          const isAsked = operation.parameters?.some(({ $ref }) => $ref === '#/components/parameters/robot') === true;
          const isForOther = answer.status === 409 && answer.text.includes('GATEWAY_OTHER_ROBOT');
          expect([operation.operationId, isForOther]).toEqual([operation.operationId, isAsked]);
        }
        expectDescribed(operation, answer);
        // Some of these end the session.
        if (isSignedIn && operation.operationId.startsWith('sign')) cookie = await signIn(server.full);
      }
    },
  );
});
