import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderOperatorCheck } from '../../src/cli/render/operator.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { failedTryRules } from '../../src/lib/operator/sign-in/sign-in.ts';
import { type CheckedSockets, checkOperator, checkSockets } from '../../src/lib/toolkit/operator/check.ts';
import { operatorCheckSchema } from '../../src/lib/toolkit/operator/operator.result.ts';
import type { Toolkit } from '../../src/lib/toolkit/toolkit.ts';
import { postJson, startServer, type TestServer } from './server.ts';
import { sharedServer } from './shared-server.ts';
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

const server = await sharedServer();

describe('gw operator check against a correct server', () => {
  it('passes every row and every rule, and disturbs nothing', async () => {
    const result = await checkSockets(toolkitOf(server), socketsOf(server), context);
    expect(result.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(result.routes).toHaveLength(12);
    expect(result.routes.map(({ full, readOnly }) => `${full.found}/${readOnly.found}`).join(' ')).toBe(
      '200/200 200/200 200/200 200/200 200/403 200/403 409/403 409/403 200/403 400/403 409/403 200/403',
    );
    expect(server.motion.calls).toEqual([]);
    expect(operatorCheckSchema.parse(result)).toEqual(result);
    const text = stripVTControlCharacters(renderOperatorCheck(result));
    expect(text).toMatch(/^ok: \d+ checks\. Operator server at 127\.0\.0\.1:\d+ and 127\.0\.0\.1:\d+\.\n/);
    expect(text).toContain('POST /api/touren/lauf');
  });

  it('reports checks as not checked while the chassis is disconnected', async () => {
    server.link.setState({ kind: 'not-connected', failure: 'cut', detail: 'connection closed unexpectedly', tried });
    const { counts, findings } = await checkSockets(toolkitOf(server), socketsOf(server), context);
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
    const { routes, counts } = await checkSockets(toolkitOf(configured), socketsOf(configured), context);
    expect(counts).toMatchObject({ wrong: 0, notChecked: 0 });
    const found = (path: string) => routes.find((row) => row.path === path)?.full.found;
    expect([found('/api/chatbot/config'), found('/api/uiot/status')]).toEqual([200, 200]);
    expect(routes.find((row) => row.method === 'POST' && row.path === '/api/anmeldung')?.full.found).toBe(400);
    // All of the wrong passwords that an address may try are left.
    for (let tries = 0; tries < failedTryRules.wrongTries; tries += 1) {
      expect((await postJson(configured.full, '/api/anmeldung', { password: 'wrong' })).status).toBe(401);
    }
  });
});

describe('gw operator check against a broken server', () => {
  const wrong = async (server: TestServer, sockets: CheckedSockets) => {
    const { findings } = await checkSockets(toolkitOf(server), sockets, context);
    return findings.filter(({ verdict }) => verdict === 'wrong').map(({ id }) => id);
  };

  it('detects a read-only socket that accepts writes', async () => {
    const { full } = socketsOf(server);
    const ids = await wrong(server, { full, readOnly: full });
    const rules = ['methods', 'allow-list', 'headers', 'pipelining', 'map-data'].map((rule) => `read-only.${rule}`);
    expect(ids).toEqual(expect.arrayContaining(['route GET /api/medien', 'route POST /api/touren/lauf', ...rules]));
    expect(server.motion.calls).toEqual([]);
  });

  it('detects a server that answers 200 to everything', async () => {
    await using lenient = await listen((_request, response) => response.end('[{"id":7}]'));
    const socket = { host: '127.0.0.1', port: lenient.port };
    const ids = await wrong(server, { full: socket, readOnly: socket });
    expect(ids).toContain('read-only.spellings');
    expect(ids).toContain('full.names');
    expect(ids.length).toBeGreaterThan(12);
  });

  it('detects one path that a spelling or a header opens', async () => {
    const { full, readOnly } = socketsOf(server);
    const unsent = ['connection', 'transfer-encoding', 'content-length'];
    await using leaky = await listen(async ({ url, method = 'GET', headers }, response) => {
      if (url === '//api/medien' || headers['x-forwarded-port'] === '5173') return void response.end('{}');
      const sent = Object.entries(headers).filter(([name]) => !unsent.includes(name)) as [string, string][];
      const to = `http://127.0.0.1:${server.readOnly}${url}`;
      const answer = await fetch(to, { method, headers: sent }).catch(() => null);
      response.writeHead(answer?.status ?? 400).end(await answer?.text());
    });
    const ids = await wrong(server, { full, readOnly: { ...(readOnly ?? full), port: leaky.port } });
    expect(ids).toEqual(expect.arrayContaining(['read-only.spellings', 'read-only.headers']));
  });

  it('detects that the read-only socket does not answer while the other does', async () => {
    const gone = await listen(() => {});
    await gone[Symbol.asyncDispose]();
    const { full } = socketsOf(server);
    const sockets = { full, readOnly: { host: '127.0.0.1', port: gone.port } };
    const { findings, counts } = await checkSockets(toolkitOf(server), sockets, context);
    expect(findings.find(({ id }) => id === 'read-only.answers')).toMatchObject({ verdict: 'wrong' });
    expect(counts.notChecked).toBeGreaterThan(10);
  });

  it('fails as not reachable when no server answers, naming the address', async () => {
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
