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
import { startDestination } from './second-opinion/destination.ts';
import type { Relay, RelayOptions } from './second-opinion/relay.ts';
import { startSource } from './second-opinion/source.ts';
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

/** How the second implementation reaches the relay, with DATA of any length. */
function linkTo({ port }: Relay, side: keyof typeof tokens) {
  const pieces = seededRandom(side.length);
  const pieceBytes = () => 1 + Math.floor(pieces() * 64_512);
  return { host: 'localhost', port, ca: world.caPem, token: tokens[side], pieceBytes };
}

async function theirSource(relay: Relay, services: readonly string[], options: { version?: 1 | 2 | 3 } = {}) {
  const source = await startSource({ ...linkTo(relay, 'source'), services, ...options });
  world.onClose(() => source.close());
  return source;
}

async function theirDestination(relay: Relay, services: readonly string[], port: number) {
  const targets = Object.fromEntries(services.map((service) => [service, port]));
  const destination = await startDestination({ ...linkTo(relay, 'destination'), targets });
  world.onClose(() => destination.close());
  return destination;
}

async function ourSource(relay: Relay, services: readonly string[]) {
  const listening = services.map((id) => ({ id, port: 0 }));
  return { ports: await startOurSource(world, relay, listening).ports() };
}

const rechunked = (seed: number): Partial<RelayOptions> => ({ chunkMax: 131_076, random: seededRandom(seed) });

const pairs = [
  { name: 'itself', source: theirSource, destination: theirDestination },
  { name: 'our destination, its source', source: theirSource, destination: ourDestination },
  { name: 'our source, its destination', source: ourSource, destination: theirDestination },
  { name: 'our source, our destination', source: ourSource, destination: ourDestination },
];

describe.each(pairs)('second implementation: $name', ({ source, destination }) => {
  const services = ['web', 'api', 'a:b'];
  async function through(port: number, options: Partial<RelayOptions> = {}) {
    const relay = await world.relay({ services, ...options });
    await destination(relay, services, port);
    const { ports } = await source(relay, services);
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

describe('our destination and the source of the second implementation', () => {
  test.each([1, 2] as const)(
    'a source of version %i: one connection at a time, answered in its form',
    async (version) => {
      const { port, sockets } = await world.service(echo);
      const relay = await world.relay({ services: ['web'], ...rechunked(20) });
      await ourDestination(relay, ['web'], port);
      const source = await theirSource(relay, ['web'], { version });
      const at = source.ports.web as number;
      expect(await sameBack(at, 300_000)).toBe(true);
      // A second client is a new STREAM_START, which replaces the first.
      const one = client(at);
      one.socket.write('1');
      await one.until(1);
      const two = client(at);
      two.socket.write('2');
      expect((await two.until(1)).toString()).toBe('2');
      await expect.poll(() => sockets.size).toBe(1);
      // The end of the target is a STREAM_RESET in these versions.
      for (const socket of sockets) socket.end();
      await two.ended;
      const answers = relay.frames.filter(({ from }) => from === 'destination').map(({ frame }) => frame);
      expect(answers.at(-1)?.type).toBe(kinds.streamReset);
      for (const { connection, service } of answers) {
        expect(connection).toBe(0);
        expect(service).toBe(version === 1 ? '' : 'web');
      }
      expect(relay.breaches).toEqual([]);
    },
  );
});
