import { readdirSync, readFileSync } from 'node:fs';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seededRandom } from '../../bench/figures.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { runProxy } from '../../src/lib/tunnel/proxy/run.ts';
import type { ProxyEvent } from '../../src/lib/tunnel/proxy.result.ts';
import { client, createWorld, echo, sameBack, tokens, type World } from './relay-world.ts';
import { kinds, pack } from './second-opinion/codec.ts';
import type { Relay, RelayOptions } from './second-opinion/relay.ts';
import { startOurSource } from './source/harness.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

/** Our destination, connected; each service leads to the same port. */
async function ourDestination(relay: Relay, services: readonly string[], port: number) {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'gw-second-opinion-'));
  const caFile = join(dir.path, 'ca.pem');
  await writeFile(caFile, world.caPem);
  const ending = new AbortController();
  const events: ProxyEvent[] = [];
  const sockets: Socket[] = [];
  const ready = Promise.withResolvers<void>();
  const ended = runProxy(
    { host: 'localhost', port: relay.port, subprotocol: 'securetunneling-3.0', services, caFile, maxS: 600 },
    {
      tokens: { access: tokens.destination, client: null },
      clock: systemClock,
      signal: ending.signal,
      random: () => 0.5,
      connect: () => {
        const socket = connect({ host: '127.0.0.1', port });
        sockets.push(socket);
        return socket;
      },
      onEvent(event) {
        events.push(event);
        if (event.event === 'services') ready.resolve();
      },
    },
  );
  world.onClose(async () => {
    ending.abort();
    await ended;
  });
  await Promise.race([ready.promise, ended.then((end) => Promise.reject(new Error(JSON.stringify(end))))]);
  return { events, sockets, ended };
}

const rechunked = (seed: number): Partial<RelayOptions> => ({ chunkMax: 131_076, random: seededRandom(seed) });

describe('our source, with our destination', () => {
  const services = ['web', 'api', 'a:b'];
  async function through(port: number, options: Partial<RelayOptions> = {}) {
    const relay = await world.relay({ services, ...options });
    await ourDestination(relay, services, port);
    const listening = services.map((id) => ({ id, port: 0 }));
    const ports = await startOurSource(world, relay, listening).ports();
    return { relay, at: (service: string) => ports[service] as number };
  }

  test('three services with concurrent connections, cut anew into small pieces', async () => {
    const { port } = await world.service(echo);
    const { relay, at } = await through(port, { chunkMax: 700, random: seededRandom(11) });
    const all = await Promise.all(
      Array.from({ length: 18 }, (_, index) => sameBack(at(services[index % 3] as string), 1 + index * 1_777)),
    );
    expect(all).toEqual(all.map(() => true));
    expect(relay.breaches).toEqual([]);
  });

  const manyBytes = async (bytes: number) => {
    const { port } = await world.service(echo);
    const { relay, at } = await through(port, rechunked(12));
    expect(await sameBack(at('web'), bytes)).toBe(true);
    expect(relay.breaches).toEqual([]);
  };
  test('1 MB both ways at the same time, cut anew and joined', () => manyBytes(1_000_000));
  test('20 MB, more than all buffers', { tags: 'large' }, () => manyBytes(20_000_000));

  test('an end of the target ends the one connection, with all that was sent before; a client that leaves, too', async () => {
    const { port, sockets } = await world.service((socket) => {
      socket.on('data', () => socket.end(Buffer.alloc(300_000, 7)));
    });
    const { relay, at } = await through(port, rechunked(13));
    const [one, two] = [client(at('web')), client(at('web'))];
    await expect.poll(() => sockets.size).toBe(2);
    one.socket.write('?');
    await one.ended;
    expect(one.received()).toHaveLength(300_000);
    expect(two.socket.destroyed).toBe(false);
    two.socket.destroy();
    await expect.poll(() => sockets.size).toBe(0);
    expect(await client(at('web')).until(0)).toHaveLength(0);
    expect(relay.breaches).toEqual([]);
  });

  test('SESSION_RESET of the service ends all; new clients start anew', async () => {
    const { port } = await world.service((socket) => socket.write('hi'));
    const { relay, at } = await through(port);
    const clients = [client(at('web')), client(at('api'))];
    await Promise.all(clients.map(({ until }) => until(2)));
    relay.inject('source', pack({ type: kinds.sessionReset }));
    relay.inject('destination', pack({ type: kinds.sessionReset }));
    await Promise.all(clients.map(({ ended }) => ended));
    expect(await client(at('web')).until(2)).toHaveLength(2);
    expect(relay.breaches).toEqual([]);
  });
});

test('nothing of the second implementation comes from the product: only Node, the WebSocket library and its folder', () => {
  const folder = new URL('./second-opinion/', import.meta.url);
  const sources = readdirSync(folder).flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    return [...text.matchAll(/(?:^import|\bfrom|\bimport\() ?'([^']+)'/gm)].map(([, source]) => `${name}: ${source}`);
  });
  expect(sources.length).toBeGreaterThan(9);
  expect(sources.filter((each) => !/: (node:[a-z:/]+|ws|\.\/[a-z-]+\.ts)$/.test(each))).toEqual([]);
});
