import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { readGatewayState, waitForGatewayState } from '../../src/lib/toolkit/gateway/state.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { context, httpServer } from '../toolkit/kit.ts';
import { until } from '../waiting.ts';

const state = (kind: string) => ({
  summary: kind === 'connected' ? 'connected' : 'not connected: nothing answered',
  link: { kind, tried: { address: '127.0.0.1', port: 8090 } },
  identity: kind === 'connected' ? { serial: 'S1' } : null,
  values: { pose: { status: 'received', ageMs: 12.4, value: { xM: 1, yM: 2, yawDeg: -90 } } },
  poseUnit: { verdict: 'degrees', doubt: null },
  unitContradicted: false,
});

async function gateway(listener: RequestListener, clock: Clock = createFakeClock()) {
  const server = await httpServer(listener);
  const { port } = server;
  const text = `name: t\nchassis: { host: 127.0.0.1, serial: S1 }\noperator: { port: ${port} }\n`;
  const toolkit = { site: parseSite(text, '/tmp/site.yaml'), dialer: directDialer, clock };
  return { ...server, toolkit };
}

describe('the chassis state reported by the gateway', () => {
  test('is read, with pose and target address', async () => {
    await using server = await gateway((_request, reply) => reply.end(JSON.stringify(state('connected'))));
    expect(await readGatewayState(server.toolkit, context())).toEqual({
      link: 'connected',
      summary: 'connected',
      tried: { address: '127.0.0.1', port: 8090 },
      serial: 'S1',
      pose: { xM: 1, yM: 2, yawDeg: -90, ageMs: 12 },
      poseUnit: 'degrees',
      unitContradicted: false,
      unitInDoubt: false,
      afterMs: 0,
    });
  });

  test('is awaited, with the waiting time reported', async () => {
    let requestCount = 0;
    await using server = await gateway((_request, reply) => {
      requestCount += 1;
      reply.end(JSON.stringify(state(requestCount < 4 ? 'connected' : 'not-connected')));
    }, createPacedClock());
    const result = await waitForGatewayState(server.toolkit, { link: 'not-connected', withinMs: 3_000 }, context());
    expect(result).toMatchObject({ link: 'not-connected', serial: null });
    expect(result.afterMs).toBeGreaterThan(100);
  });

  test('is reported as is after a timeout', async () => {
    const answer: RequestListener = (_request, reply) => reply.end(JSON.stringify(state('connected')));
    await using server = await gateway(answer, createPacedClock());
    const result = await waitForGatewayState(server.toolkit, { link: 'booting', withinMs: 200 }, context());
    expect(result.link).toBe('connected');
    expect(result.afterMs).toBeGreaterThanOrEqual(200);
  });

  test.each<[string, RequestListener]>([
    ['a web page', (_request, reply) => reply.end('<html>')],
    ['other JSON', (_request, reply) => reply.end('{"link":{}}')],
    ['an error', (_request, reply) => reply.writeHead(500).end('{}')],
    ['a redirect', (_request, reply) => reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['too much', (_request, reply) => reply.end('x'.repeat(2 * 1024 * 1024))],
    [
      'a truncated answer',
      (_request, reply) => void reply.writeHead(200, { 'content-length': 100 }).write('{', () => reply.destroy()),
    ],
  ])('%s is OPERATOR_NOT_REACHABLE with the tried address', async (_name, listener) => {
    await using server = await gateway(listener);
    await expect(readGatewayState(server.toolkit, context())).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
      tried: { address: '127.0.0.1', port: server.port, action: 'GET /api/chassis/state' },
    });
  });

  test('a silent gateway times out', async () => {
    let isAsked = false;
    const clock = createFakeClock();
    await using server = await gateway(() => {
      isAsked = true;
    }, clock);
    const read = expect(readGatewayState(server.toolkit, context())).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
    });
    await until(() => isAsked, Boolean);
    await clock.advance(5_000);
    await read;
  });

  test('an interruption is passed on unchanged', async () => {
    await using server = await gateway(() => {});
    const reason = new Error('enough');
    await expect(readGatewayState(server.toolkit, { ...context(), signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});
