import { mkdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { directDialer } from '../../../../src/lib/net/index.ts';
import { localSocketPath, parseSite } from '../../../../src/lib/site/index.ts';
import type { PlannedPath } from '../../../../src/lib/toolkit/network/check/plans.ts';
import { provenByRunningLink } from '../../../../src/lib/toolkit/network/check/running-link.ts';
import type { Toolkit } from '../../../../src/lib/toolkit/toolkit.ts';
import { createPacedClock } from '../../../lifecycle/paced-clock.ts';
import { context, httpServer, ownFolder } from '../../kit.ts';

let dir: string;
beforeEach(() => {
  dir = ownFolder();
});

const site = () => ({
  ...parseSite('name: Lobby\nchassis: { host: 127.0.0.1, serial: SN0001 }\n', join(dir, 'site.yaml')),
  stateDir: join(dir, 's'),
});
const clock = createPacedClock();
const toolkit = (): Toolkit => ({ site: site(), dialer: directDialer, clock });
const planned = (...ids: string[]) => ids.map((id) => ({ id }) as PlannedPath);
const both = planned('mqtt-direct', 'mqtt-fallback', 'storage');

/** The socket for local commands of a gateway whose answers the test writes. */
async function gateway(answer: (path: string, response: ServerResponse) => void) {
  const asked: string[] = [];
  mkdirSync(join(dir, 's', 'local'), { recursive: true });
  const server = await httpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { path } = JSON.parse(body) as { path: string };
      asked.push(`${request.method} ${request.url} ${path}`);
      answer(path, response);
    });
  }, localSocketPath(site()));
  return { ...server, asked };
}

const json = (response: ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

describe('the paths of MQTT by the running gateway', () => {
  it('are asked for one after the other, the direct one last, so that the link ends there', async () => {
    await using world = await gateway((path, response) =>
      json(response, 200, { path, step: null, outcome: { verdict: 'ok', detail: `${path} works` } }),
    );
    expect([...(await provenByRunningLink(toolkit(), context(), both))]).toEqual([
      ['mqtt-fallback', { verdict: 'ok', detail: 'fallback works' }],
      ['mqtt-direct', { verdict: 'ok', detail: 'direct works' }],
    ]);
    expect(world.asked).toEqual(['POST /api/cloud/pruefung fallback', 'POST /api/cloud/pruefung direct']);
  });

  it('are not asked for when they are not planned', async () => {
    await using world = await gateway((_path, response) => json(response, 500, {}));
    expect((await provenByRunningLink(toolkit(), context(), planned('storage'))).size).toBe(0);
    expect(world.asked).toEqual([]);
  });

  it('are wrong where the broker rejects, and not checked where the gateway did not get that far', async () => {
    await using _world = await gateway((path, response) =>
      json(response, 200, {
        path,
        step: path === 'direct' ? 'tcp' : 'subscribe',
        outcome: { verdict: 'wrong', detail: 'no', remedy: 'do this', ask: 'Allow it.' },
      }),
    );
    const proven = await provenByRunningLink(toolkit(), context(), both);
    expect(proven.get('mqtt-fallback')).toEqual({
      verdict: 'wrong',
      detail: 'no',
      remedy: 'do this',
      ask: 'Allow it.',
    });
    // The probe of this very path says what is wrong with it.
    expect(proven.get('mqtt-direct')).toMatchObject({
      verdict: 'not-checked',
      detail: 'not tried by the running gateway: no',
    });
  });

  it.each<[string, (response: ServerResponse) => void, string]>([
    [
      'a busy gateway',
      (response) => json(response, 409, { error: { code: 'BUSY', message: 'Another check runs.' } }),
      'Another check runs.',
    ],
    [
      'an older gateway',
      (response) => json(response, 404, { error: { code: 'NOT_FOUND', message: 'No such page.' } }),
      'No such page.',
    ],
    [
      'an unknown verdict',
      (response) => json(response, 200, { step: null, outcome: { verdict: 'green', detail: '' } }),
      'Unexpected answer',
    ],
    ['no JSON', (response) => response.end('ok'), 'Unexpected answer'],
    ['a connection that is closed', (response) => response.destroy(), 'does not answer'],
  ])('are not checked for %s, never ok', async (_what, answer, says) => {
    await using _world = await gateway((_path, response) => answer(response));
    const proven = await provenByRunningLink(toolkit(), context(), both);
    expect([...proven.values()].map(({ verdict }) => verdict)).toEqual(['not-checked', 'not-checked']);
    expect(proven.get('mqtt-direct')?.detail).toContain(`the running gateway did not check it: `);
    expect(proven.get('mqtt-direct')?.detail).toContain(says);
  });

  it('are waited for as long as the steps of a connection to a silent broker take', async () => {
    await using _world = await gateway((path, response) => {
      // TCP, TLS and CONNACK with their timeouts; the answer about the other path comes at once.
      void clock
        .sleep(path === 'fallback' ? 6_000 : 0)
        .then(() => json(response, 200, { path, step: 'mqtt', outcome: { verdict: 'wrong', detail: 'no CONNACK' } }));
    });
    const proven = await provenByRunningLink(toolkit(), context(), both);
    expect(proven.get('mqtt-fallback')).toEqual({ verdict: 'wrong', detail: 'no CONNACK' });
  });

  it('are unknown without a socket for local commands', async () => {
    expect((await provenByRunningLink(toolkit(), context(), both)).size).toBe(0);
  });

  it('end with the command', async () => {
    const ending = new AbortController();
    await using world = await gateway(() => ending.abort(new Error('interrupted')));
    await expect(provenByRunningLink(toolkit(), { ...context(), signal: ending.signal }, both)).rejects.toThrow(
      'interrupted',
    );
    expect(world.asked).toHaveLength(1);
  });
});

/** A gateway that refuses as often as this, as while another check is running. */
async function busyGateway(refusals: number) {
  const world = await gateway((_path, response) => {
    if (world.asked.length > refusals)
      json(response, 200, { step: null, outcome: { verdict: 'ok', detail: 'accepted' } });
    else json(response, 503, { error: { code: 'BUSY', message: 'Too many concurrent requests of this kind.' } });
  });
  return world;
}

describe('a path that the running link proves', () => {
  it('is asked for again while the gateway proves one for another check', async () => {
    await using world = await busyGateway(3);
    const proven = await provenByRunningLink(toolkit(), context(), planned('mqtt-direct'));
    expect(proven.get('mqtt-direct')).toEqual({ verdict: 'ok', detail: 'accepted' });
    expect(world.asked).toHaveLength(4);
  });

  it('is not checked where the gateway stays busy', async () => {
    await using world = await busyGateway(Number.POSITIVE_INFINITY);
    const proven = await provenByRunningLink(toolkit(), context(), planned('mqtt-direct'));
    expect(proven.get('mqtt-direct')).toEqual({
      verdict: 'not-checked',
      detail: 'the running gateway did not check it: Too many concurrent requests of this kind.',
    });
    expect(world.asked.length).toBeGreaterThan(10);
  });
});
