import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localSocketPath } from '../../../src/lib/site/index.ts';
import { endTunnel, isEnded } from '../../../src/lib/toolkit/tunnel/end.ts';
import { readTunnelSessions } from '../../../src/lib/toolkit/tunnel/sessions.ts';
import { readTunnelStatus } from '../../../src/lib/toolkit/tunnel/status.ts';
import {
  tunnelEndSchema,
  tunnelSessionsSchema,
  tunnelStatusSchema,
} from '../../../src/lib/toolkit/tunnel/tunnel.result.ts';
import type { SessionEntry } from '../../../src/lib/tunnel/index.ts';
import { lostView } from '../../cloud/views.ts';
import { eachTest, httpServer, ownFolder } from '../kit.ts';
import { type FakeSupport, recorded, runningView, startFakeSupport, waiting } from './fake-support.ts';

const NOT_CONFIGURED = [409, { error: { code: 'NOT_CONFIGURED', message: 'The site file has no cloud.' } }] as const;
const refused: SessionEntry = {
  kind: 'refused',
  at: '2026-11-22T18:00:00.000Z',
  reason: 'services-count',
  detail: '4 services requested.',
  region: 'eu-central-1',
  services: [],
};

let gateway: FakeSupport;
eachTest(
  () => startFakeSupport(),
  (one) => {
    gateway = one;
  },
);

describe('the state of remote support', () => {
  it('has the session, and the cloud link by which a notification arrives', async () => {
    gateway.view = runningView('s-1', { open: 2, connections: 5 });
    gateway.cloud = lostView;
    const data = tunnelStatusSchema.parse(await readTunnelStatus(gateway.toolkit, {}, gateway.context));
    expect(data).toMatchObject({
      status: 'running',
      running: { session: 's-1', connections: 5 },
      cloud: { status: 'not-connected' },
    });
  });

  it('says to restart a gateway that was started without the cloud.tunnel of the site file', async () => {
    gateway.view = { ...waiting, status: 'not-configured', remedy: 'Add cloud.tunnel.' };
    const data = await readTunnelStatus(gateway.toolkit, {}, gateway.context);
    expect(data.remedy).toContain('restart `gw serve`');
  });

  it('is an error for an answer of another shape', async () => {
    Object.assign(gateway, { view: { ...waiting, status: 'fine' } });
    await expect(readTunnelStatus(gateway.toolkit, {}, gateway.context)).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
    });
  });
});

describe('the sessions in the records', () => {
  const read = async ({ toolkit, context, operator }: FakeSupport, limit = 50) =>
    tunnelSessionsSchema.parse(await readTunnelSessions(toolkit, { limit, password: operator.password }, context));

  it('are read as a signed-in person, who is signed out again', async () => {
    gateway.entries = [recorded('s-2'), refused];
    const data = await read(gateway, 2);
    expect(data.sessions?.map(({ kind }) => kind)).toEqual(['session', 'refused']);
    expect(data).toMatchObject({ hasMore: false, running: null });
    expect(gateway.operator.requests).toContain('GET /api/wartung/sitzungen?limit=2');
    expect(gateway.operator.sessions.size).toBe(0);
  });

  it('are read again where a session ended between list and state, so that it is not shown without its end', async () => {
    let reads = 0;
    gateway.onList = () => {
      reads += 1;
      return [200, { sessions: [recorded('s-1', reads === 1 ? null : {})], hasMore: false }];
    };
    expect((await read(gateway)).sessions).toMatchObject([{ session: 's-1', end: { reason: 'ended-on-site' } }]);
    expect(reads).toBe(2);
    reads = 0;
    gateway.view = runningView('s-1');
    expect(await read(gateway)).toMatchObject({ sessions: [{ end: null }], running: 's-1' });
    expect(reads).toBe(1);
  });

  it('are null without a cloud, and an error where they cannot be read', async () => {
    gateway.onList = () => NOT_CONFIGURED;
    expect(await read(gateway)).toEqual({ sessions: null, hasMore: false, running: null });
    gateway.onList = () => [500, { error: { code: 'FILE_UNREADABLE', message: 'Line 7 is malformed.' } }];
    await expect(read(gateway)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('need a password where there is no local socket', async () => {
    const { toolkit, context } = gateway;
    await expect(readTunnelSessions(toolkit, { limit: 1 }, context)).rejects.toMatchObject({ code: 'NOT_SIGNED_IN' });
  });
});

describe('the end on site', () => {
  const end = async ({ toolkit, context }: FakeSupport) => tunnelEndSchema.parse(await endTunnel(toolkit, {}, context));

  it('ends the session without a sign-in, and reports which one', async () => {
    gateway.view = runningView('s-1');
    const data = await end(gateway);
    expect(data).toMatchObject({ ended: true, status: 'waiting', session: { session: 's-1' }, running: null });
    expect(isEnded(data)).toBe(true);
    expect(gateway.operator.requests).not.toContain('POST /api/anmeldung');
  });

  it('has nothing to end where none runs, or no cloud is configured', async () => {
    expect(await end(gateway)).toMatchObject({ ended: false, session: null, running: null });
    gateway.view = { ...waiting, status: 'not-configured' };
    gateway.onEnd = () => NOT_CONFIGURED;
    const data = await end(gateway);
    expect(data).toMatchObject({ ended: false, status: 'not-configured' });
    expect(isEnded(data)).toBe(true);
  });

  it('is not confirmed by the answer alone, where the same session still runs', async () => {
    gateway.view = runningView('s-1');
    gateway.onEnd = () => [200, { ended: true }];
    expect(isEnded(await end(gateway))).toBe(false);
    gateway.onEnd = () => {
      gateway.view = runningView('s-2');
      return [200, { ended: true }];
    };
    const data = await end(gateway);
    expect(data).toMatchObject({ session: { session: 's-1' }, running: { session: 's-2' } });
    expect(isEnded(data)).toBe(true);
  });

  it('is an error where the gateway refuses or fails', async () => {
    gateway.view = runningView('s-1');
    gateway.onEnd = () => [503, { error: { code: 'INTERRUPTED', message: 'The gateway is stopping.' } }];
    await expect(end(gateway)).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('uses the socket for local commands where there is one', async () => {
    gateway.view = runningView('s-1');
    const dir = ownFolder();
    const path = localSocketPath({ stateDir: dir });
    mkdirSync(dirname(path), { recursive: true });
    const asked: string[] = [];
    await using _local = await httpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const [status, body] = request.method === 'DELETE' ? gateway.onEnd() : [200, gateway.view];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }, path);
    Object.assign(gateway.toolkit.site, { stateDir: dir });
    expect(await end(gateway)).toMatchObject({ ended: true });
    expect(asked).toEqual(['GET', 'DELETE', 'GET'].map((method) => `${method} /api/wartung/sitzung`));
    expect(gateway.operator.requests).toEqual([]);
  });
});
