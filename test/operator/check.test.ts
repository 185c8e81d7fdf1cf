import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderOperatorCheck } from '../../src/cli/render/operator.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type CheckedSockets, checkOperator, checkSockets } from '../../src/lib/toolkit/operator/check.ts';
import { operatorCheckSchema } from '../../src/lib/toolkit/operator/operator.result.ts';
import type { Toolkit } from '../../src/lib/toolkit/toolkit.ts';
import { startServer, type TestServer } from './server.ts';
import { tried } from './stand-ins.ts';

const context = { signal: new AbortController().signal, onProgress() {} };
const toolkitOf = ({ site }: TestServer): Toolkit => ({ site, dialer: directDialer, clock: systemClock });
const socketsOf = ({ full, readOnly }: TestServer): CheckedSockets => ({
  full: { host: '127.0.0.1', port: full },
  readOnly: { host: '127.0.0.1', port: readOnly },
});

/** Another server at the address of the operator server. */
async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('gw operator check against a correct server', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('passes every row and every rule, and disturbs nothing', async () => {
    const result = await checkSockets(toolkitOf(server), socketsOf(server), context);
    expect(result.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(result.routes).toHaveLength(12);
    expect(result.routes.map(({ full, readOnly }) => `${full.found}/${readOnly.found}`)).toEqual([
      '200/200',
      '200/200',
      '200/200',
      '200/200',
      '200/403',
      '200/403',
      '409/403',
      '409/403',
      '200/403',
      '400/403',
      '409/403',
      '200/403',
    ]);
    expect(server.motion.calls).toEqual([]);
    expect(operatorCheckSchema.parse(result)).toEqual(result);
    const text = stripVTControlCharacters(renderOperatorCheck(result));
    expect(text).toMatch(/^ok: \d+ checks\. Operator server at 127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+\.\n/);
    expect(text).toContain('POST /api/touren/lauf');
  });

  it('reports checks as not checked while the chassis is disconnected', async () => {
    server.link.setState({ kind: 'not-connected', failure: 'cut', detail: 'connection closed unexpectedly', tried });
    const { counts, findings } = await checkSockets(toolkitOf(server), socketsOf(server), context);
    server.link.setState({ kind: 'connected', tried });
    expect(counts.wrong).toBe(0);
    expect(findings.filter(({ verdict }) => verdict === 'not-checked').map(({ id }) => id)).toEqual([
      'route GET /api/chassis/device/info',
      'route GET /api/chassis/maps/<map_id>.png',
      'read-only.map-data',
    ]);
  });

  it('expects the configuration of the site file, and uses no sign-in attempt', async () => {
    await using device = await listen((_request, response) => response.end('{}'));
    await using configured = await startServer({
      password: true,
      voiceUrl: `http://127.0.0.1:${device.port}`,
      buildingUrl: `http://127.0.0.1:${device.port}`,
    });
    for (let i = 0; i < 6; i += 1) {
      const { routes, counts } = await checkSockets(toolkitOf(configured), socketsOf(configured), context);
      expect(counts).toMatchObject({ wrong: 0, notChecked: 0 });
      const found = (path: string) => routes.find((row) => row.path === path)?.full.found;
      expect([found('/api/chatbot/config'), found('/api/uiot/status')]).toEqual([200, 200]);
      expect(routes.find((row) => row.method === 'POST' && row.path === '/api/anmeldung')?.full.found).toBe(400);
    }
  });
});

describe('gw operator check against a broken server', () => {
  const wrong = async (server: TestServer, sockets: CheckedSockets) => {
    const { findings } = await checkSockets(toolkitOf(server), sockets, context);
    return findings.filter(({ verdict }) => verdict === 'wrong').map(({ id }) => id);
  };

  it('detects a read-only socket that accepts writes', async () => {
    await using server = await startServer();
    const { full } = socketsOf(server);
    const ids = await wrong(server, { full, readOnly: full });
    for (const id of [
      'route GET /api/medien',
      'route POST /api/touren/lauf',
      'read-only.methods',
      'read-only.allow-list',
      'read-only.headers',
      'read-only.pipelining',
      'read-only.map-data',
    ]) {
      expect(ids).toContain(id);
    }
    expect(server.motion.calls).toEqual([]);
  });

  it('detects a server that answers 200 to everything', async () => {
    await using server = await startServer();
    await using lenient = await listen((_request, response) => response.end('[{"id":7}]'));
    const socket = { host: '127.0.0.1', port: lenient.port };
    const ids = await wrong(server, { full: socket, readOnly: socket });
    expect(ids).toContain('read-only.spellings');
    expect(ids).toContain('full.names');
    expect(ids.length).toBeGreaterThan(12);
  });

  it('detects one path that a spelling or a header opens', async () => {
    await using server = await startServer();
    const { full, readOnly } = socketsOf(server);
    const leaky = (opens: (url: string, headers: Record<string, unknown>) => boolean) =>
      listen(async (request, response) => {
        if (opens(request.url ?? '', request.headers)) return void response.end('{}');
        const headers = Object.fromEntries(
          Object.entries(request.headers).filter(([name]) => !['connection', 'transfer-encoding'].includes(name)),
        ) as Record<string, string>;
        delete headers['content-length'];
        const answer = await fetch(`http://127.0.0.1:${server.readOnly}${request.url}`, {
          method: request.method ?? 'GET',
          headers,
        }).catch(() => null);
        response.writeHead(answer?.status ?? 400).end(await answer?.text());
      });
    await using slash = await leaky((url) => url === '//api/medien');
    expect(await wrong(server, { full, readOnly: { ...(readOnly ?? full), port: slash.port } })).toContain(
      'read-only.spellings',
    );
    await using header = await leaky((_url, headers) => headers['x-forwarded-port'] === '5173');
    expect(await wrong(server, { full, readOnly: { ...(readOnly ?? full), port: header.port } })).toContain(
      'read-only.headers',
    );
  });

  it('detects that the read-only socket does not answer while the other does', async () => {
    await using server = await startServer();
    const gone = await listen(() => {});
    await gone[Symbol.asyncDispose]();
    const { full } = socketsOf(server);
    const sockets = { full, readOnly: { host: '127.0.0.1', port: gone.port } };
    const { findings, counts } = await checkSockets(toolkitOf(server), sockets, context);
    expect(findings.find(({ id }) => id === 'read-only.answers')).toMatchObject({ verdict: 'wrong' });
    expect(counts.notChecked).toBeGreaterThan(10);
  });

  it('fails as not reachable when no server answers, naming the address', async () => {
    await using server = await startServer();
    const gone = await listen(() => {});
    await gone[Symbol.asyncDispose]();
    const site = { ...server.site, operator: { ...server.site.operator, port: gone.port } };
    const attempt = checkOperator({ ...toolkitOf(server), site }, {}, context);
    await expect(attempt).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
      exitCode: 3,
      tried: { address: '127.0.0.1', port: gone.port },
    });
  });
});
