import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GwError } from '../../../src/lib/error/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import type { SourceEvent } from '../../../src/lib/tunnel/source/model.ts';
import { freePort } from '../../free-port.ts';
import { runs } from '../../properties.ts';
import { client, createWorld, echo, sameBack, tokens, type World } from '../relay-world.ts';
import { kinds, pack } from '../second-opinion/codec.ts';
import { startDestination } from '../second-opinion/destination.ts';
import type { Relay } from '../second-opinion/relay.ts';
import { clientToken, scriptedClock, startOurSource } from './harness.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const both = ['web', 'api'].map((id) => ({ id, port: 0 }));

/** A relay with the other side connected, each service with a target. */
async function setUp(targets: Record<string, number>, options: { chunkMax?: number; random?: () => number } = {}) {
  const relay = await world.relay({ services: Object.keys(targets), ...options });
  const link = { host: 'localhost', port: relay.port, ca: world.caPem, token: tokens.destination };
  const destination = await startDestination({ ...link, targets });
  world.onClose(() => destination.close());
  return { relay, destination };
}

/** Our source with one service, behind which connections are handled like this. */
async function running(onSocket: Parameters<World['service']>[0], options: Parameters<typeof startOurSource>[3] = {}) {
  const { port, sockets } = await world.service(onSocket);
  const { relay, destination } = await setUp({ web: port });
  const source = startOurSource(world, relay, undefined, options);
  const { web = 0 } = await source.ports();
  return { relay, destination, source, sockets, web };
}

test('the handshake is that of the protocol, with both tokens, and its events name the service and the local port', async () => {
  const { relay, source, web } = await running(echo);
  expect(await sameBack(web, 100)).toBe(true);
  expect(relay.handshakes.find(({ mode }) => mode === 'source')).toEqual({
    mode: 'source',
    token: tokens.source,
    clientToken,
    protocol: 'securetunneling-3.0',
    host: `localhost:${relay.port}`,
  });
  expect(source.events.slice(0, 4)).toEqual([
    { event: 'connected', channelId: 'relay-channel-1', services: ['web'] },
    { event: 'listening', listeners: [{ service: 'web', host: '127.0.0.1', port: web }] },
    { event: 'opened', service: 'web', connection: 1, open: 1 },
    { event: 'answered', service: 'web' },
  ]);
  source.end();
  const counts = { connections: 1, bytesUp: 100, bytesDown: 100, reconnects: 0 };
  expect(await source.done).toMatchObject({ reason: 'interrupted', ...counts });
  expect(relay.breaches).toEqual([]);
});

test('ids: one STREAM_START, then CONNECTION_STARTs, also when no connection is open; ids grow for the whole run', async () => {
  const { relay, source, web, destination } = await running(echo);
  expect(await sameBack(web, 10)).toBe(true);
  await source.event('closed');
  expect(await sameBack(web, 10)).toBe(true);
  await expect.poll(() => source.events.filter(({ event }) => event === 'closed')).toHaveLength(2);
  const sent = (type: number) => relay.frames.flatMap(({ frame }) => (frame.type === type ? [frame] : []));
  expect(sent(kinds.connectionStart)).toMatchObject([{ stream: 1, service: 'web', connection: 2 }]);
  destination.resetStream('web');
  // A connection that is begun before the reset arrives ends with it.
  await expect
    .poll(async () => {
      await sameBack(web, 10).catch(() => {});
      return sent(kinds.streamStart).map(({ stream }) => stream);
    })
    .toEqual([1, 2]);
  const [first, second] = sent(kinds.streamStart);
  expect(first).toMatchObject({ service: 'web', connection: 1 });
  expect(second?.connection).toBeGreaterThan(2);
  expect(relay.breaches).toEqual([]);
});

test('CONNECTION_RESET ends one connection and no other one; what was sent before arrives', async () => {
  const { source, web, sockets } = await running((socket) => socket.write('welcome'));
  const [one, two] = [client(web), client(web)];
  await Promise.all([one.until(7), two.until(7)]);
  [...sockets][0]?.end('bye');
  const first = await Promise.race([one.ended.then(() => one), two.ended.then(() => two)]);
  expect(first.received().toString()).toBe('welcomebye');
  const other = first === one ? two : one;
  expect(other.socket.destroyed).toBe(false);
  await expect
    .poll(() => source.events.filter(({ event }) => event === 'closed'))
    .toEqual([expect.objectContaining({ reason: 'remote', open: 1 })]);
});

test('STREAM_RESET and SESSION_RESET end all connections of the service, of every service', async () => {
  const { port } = await world.service((socket) => socket.write('hi'));
  const { relay, destination } = await setUp({ web: port, api: port });
  const ports = await startOurSource(world, relay, both).ports();
  const [web, api] = [client(ports.web as number), client(ports.api as number)];
  await Promise.all([web.until(2), api.until(2)]);
  // Of another stream: ignored.
  relay.inject('source', pack({ type: kinds.streamReset, stream: 9, service: 'web' }));
  destination.resetStream('web');
  await web.ended;
  expect(api.socket.destroyed).toBe(false);
  const again = client(ports.web as number);
  await again.until(2);
  relay.inject('source', pack({ type: kinds.sessionReset }));
  await Promise.all([api.ended, again.ended]);
  expect(await client(ports.api as number).until(2)).toHaveLength(2);
});

test('messages that do not fit are left out: unknown and ignorable, of another stream, of no connection, starts', async () => {
  const { relay, web } = await running(echo);
  const one = client(web);
  one.socket.write('x');
  await one.until(1);
  const evil = Buffer.from('evil');
  for (const frame of [
    { type: 99, ignorable: true, stream: 1, service: 'web' },
    { type: 99, stream: 5, service: 'web' },
    { type: 99 },
    { type: kinds.data, stream: 2, service: 'web', connection: 1, payload: evil },
    { type: kinds.data, stream: 1, service: 'web', connection: 7, payload: evil },
    { type: kinds.data, stream: 1, service: 'other', connection: 1, payload: evil },
    { type: kinds.data, stream: 1, connection: 1, payload: evil },
    { type: kinds.connectionReset, stream: 1, service: 'web', connection: 7 },
    { type: kinds.streamStart, stream: 1, service: 'web', connection: 1 },
    { type: kinds.connectionStart, stream: 1, service: 'web', connection: 1 },
    { type: kinds.serviceIds, offered: ['web'] },
  ])
    relay.inject('source', pack(frame));
  one.socket.write('y');
  expect((await one.until(2)).toString()).toBe('xy');
  // Not ignorable, and of this stream: it ends.
  relay.inject('source', pack({ type: 99, stream: 1, service: 'web', connection: 1 }));
  await one.ended;
  expect(relay.frames.at(-1)?.frame).toMatchObject({ type: kinds.streamReset, stream: 1, service: 'web' });
  expect(await sameBack(web, 10)).toBe(true);
});

test('the end of the sending side of a client ends its connection: the protocol has no half-close', async () => {
  const { relay, source, web } = await running((socket) => socket.on('data', () => {}));
  const one = client(web);
  one.socket.end('last words');
  await expect
    .poll(() => relay.frames.map(({ frame }) => frame.type))
    .toEqual([kinds.streamStart, kinds.data, kinds.connectionReset]);
  expect(await source.event('closed')).toMatchObject({ reason: 'local', bytesUp: 10 });
});

test('a client that does not read loses its own connection, above the limit; others go on', async () => {
  const clock = scriptedClock();
  const { relay, source, web } = await running(
    (socket) => {
      socket.on('data', (bytes) => {
        if (bytes.includes('flood')) for (let at = 0; at < 40; at += 1) socket.write(Buffer.alloc(512 * 1024));
        else socket.write(bytes);
      });
    },
    { clock, limits: { ...proxyLimits, holdMs: 50 } },
  );
  const stalled = client(web);
  stalled.socket.pause();
  stalled.socket.write('flood');
  await expect.poll(() => clock.fire(50)).toBeGreaterThan(0);
  expect(await source.event('closed')).toMatchObject({ reason: 'stalled' });
  await expect
    .poll(() => relay.frames.some(({ from, frame }) => from === 'source' && frame.type === kinds.connectionReset))
    .toBe(true);
  expect(await sameBack(web, 1_000)).toBe(true);
});

test('a lost WebSocket: connections are reset, the same port goes on after the reconnect with the same client token', async () => {
  const clock = scriptedClock();
  const { relay, source, web } = await running((socket) => socket.write('hi'), { clock });
  const one = client(web);
  await one.until(2);
  const error = new Promise((resolve) => one.socket.on('error', resolve));
  relay.cut('source');
  expect(await error).toMatchObject({ code: 'ECONNRESET' });
  await source.event('connected', true);
  expect(await client(web).until(2)).toHaveLength(2);
  const expected = { detail: expect.stringContaining('lost'), retryInMs: clock.slept[0] };
  expect(source.events.find(({ event }) => event === 'lost')).toMatchObject(expected);
  const shakes = relay.handshakes.filter(({ mode }) => mode === 'source');
  expect(shakes.map((shake) => shake.clientToken)).toEqual([clientToken, clientToken]);
  // A new stream with new ids: the other side may have kept the old one.
  const starts = relay.frames.filter(({ frame }) => frame.type === kinds.streamStart);
  expect(starts.map(({ frame }) => [frame.stream, frame.connection])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  source.end();
  expect(await source.done).toMatchObject({ reconnects: 1, connections: 2 });
});

test('a refusal after a loss says that the tunnel is closed, and ends it', async () => {
  const { relay } = await setUp({ web: 9 });
  const source = startOurSource(world, relay, undefined, { clock: scriptedClock() });
  await source.ports();
  relay.answers.push({ status: 400, body: 'Invalid access token' });
  relay.cut('source');
  await expect(source.done).rejects.toMatchObject({
    code: 'TUNNEL_REFUSED',
    message: expect.stringMatching(/tunnel is probably closed.*400.*Invalid access token/),
  });
});

test('the service closes the tunnel: an orderly end', async () => {
  const { relay } = await setUp({ web: 9 });
  const source = startOurSource(world, relay);
  const { web } = await source.ports();
  relay.closeTunnel();
  expect(await source.done).toMatchObject({ reason: 'closed-by-service', detail: expect.stringContaining('1000') });
  const late = client(web as number);
  await late.ended;
  expect(late.received()).toHaveLength(0);
});

test('the service closes the tunnel and leaves TCP open: the same end', async () => {
  const { relay } = await setUp({ web: 9 });
  const source = startOurSource(world, relay);
  await source.ports();
  // The answer is not read, so that the service never ends TCP.
  relay.hold('source', true);
  relay.closeTunnel();
  expect(await source.done).toMatchObject({ reason: 'closed-by-service', detail: expect.stringContaining('1000') });
});

test('Ctrl-C: a STREAM_RESET for every open stream, then a close frame', async () => {
  const { port } = await world.service((socket) => socket.write('hi'));
  const { relay, destination } = await setUp({ web: port, api: port });
  const source = startOurSource(world, relay, both);
  const ports = await source.ports();
  await client(ports.web as number).until(2);
  source.end();
  expect(await source.done).toMatchObject({ reason: 'interrupted' });
  expect(relay.frames.at(-1)?.frame).toMatchObject({ type: kinds.streamReset, stream: 1, service: 'web' });
  await expect.poll(() => destination.open()).toBe(0);
  expect(relay.breaches).toEqual([]);
});

test('no answer of the other side is said once, and an answer too', async () => {
  const clock = scriptedClock();
  const { source, web } = await running((socket) => socket.once('data', () => socket.write('late')), { clock });
  const [one, two] = [client(web), client(web)];
  await expect.poll(() => source.events.filter(({ event }) => event === 'opened')).toHaveLength(2);
  clock.fire(10_000);
  expect(source.events.filter(({ event }) => event === 'no-answer')).toEqual([
    { event: 'no-answer', service: 'web', forMs: 10_000 },
  ]);
  one.socket.write('go');
  two.socket.write('go');
  await Promise.all([one.until(4), two.until(4)]);
  expect(source.events.filter(({ event }) => event === 'answered')).toEqual([{ event: 'answered', service: 'web' }]);
});

describe('a service that is not reachable, or is none', () => {
  const settled = async (source: ReturnType<typeof startOurSource>) =>
    source.done.then(
      (end) => Promise.reject(new Error(JSON.stringify(end))),
      (error: GwError) => error,
    );

  test('nothing listens: given up after the limit, with address, duration and the last reason', async () => {
    const clock = scriptedClock();
    const port = await freePort();
    const source = startOurSource(world, { port }, undefined, { clock, giveUpMs: 60_000 });
    const error = await settled(source);
    expect(error).toMatchObject({
      code: 'TUNNEL_NOT_REACHABLE',
      message: expect.stringMatching(/^No connection to the tunnel service for \d+ s\. Last attempt: .*refused/),
      tried: { address: 'localhost', port, action: expect.stringContaining('/tunnel') },
    });
    expect(error.tried?.forMs).toBeLessThanOrEqual(60_000);
    // Backoff: doubling up to the maximum, here without jitter.
    expect(clock.slept.slice(0, 6)).toEqual([750, 1_500, 3_000, 6_000, 11_250, 11_250]);
    expect(source.events.every(({ event }) => event === 'lost')).toBe(true);
  });

  /** Cuts each WebSocket of the source when `is` says so; returns how many were cut. */
  function cutEach(relay: Relay, source: ReturnType<typeof startOurSource>, is: SourceEvent['event']) {
    let cuts = 0;
    source.onEvent(({ event }) => {
      if (event !== is) return;
      cuts += 1;
      // The client has what came before it.
      setImmediate(() => relay.cut('source'));
    });
    return () => cuts;
  }

  test('accepted, and dropped at once, again and again: given up after the same limit', async () => {
    const { relay } = await setUp({ web: 9 });
    const source = startOurSource(world, relay, undefined, { clock: scriptedClock(), giveUpMs: 60_000 });
    const cuts = cutEach(relay, source, 'connected');
    expect(await settled(source)).toMatchObject({
      code: 'TUNNEL_NOT_REACHABLE',
      message: expect.stringMatching(
        /^No working connection to the tunnel service for \d+ s\. Last attempt: Connection lost/,
      ),
    });
    expect(cuts()).toBeGreaterThan(3);
  });

  test('a connection that carried an answer, or lasted, begins the limit anew', async () => {
    const { port } = await world.service((socket) => socket.write('hi'));
    const { relay } = await setUp({ web: port });
    const clock = scriptedClock();
    const source = startOurSource(world, relay, undefined, { clock, giveUpMs: 20_000 });
    const { web } = await source.ports();
    const cuts = cutEach(relay, source, 'answered');
    while (cuts() < 8) await client(web as number).ended;
    const slept = clock.slept.reduce((sum, ms) => sum + ms, 0);
    expect(slept).toBeGreaterThan(40_000);
    source.end();
    expect(await source.done).toMatchObject({ reason: 'interrupted' });
  });

  test('5xx is tried again, then it works', async () => {
    const { relay } = await setUp({ web: 9 });
    relay.answers.push({ status: 503, body: 'busy' }, { status: 500, body: '' });
    const clock = scriptedClock();
    const source = startOurSource(world, relay, undefined, { clock });
    await source.ports();
    expect(source.events.map(({ event }) => event)).toEqual(['lost', 'lost', 'connected', 'listening']);
    expect(source.events[0]).toMatchObject({ detail: expect.stringMatching(/503.*busy/) });
  });

  test.each([
    [400, `token ${tokens.source} was previously used`, /a token works once/, /rotated/],
    [400, 'The client token does not match', /a token works once/, /rotated/],
    [400, 'Invalid path', /status 400 'Invalid path'/, /open tunnel/],
    [403, 'Forbidden', /status 403 'Forbidden'/, /open tunnel/],
    [404, '', /status 404\./, /open tunnel/],
    [302, 'elsewhere', /status 302/, /open tunnel/],
    [429, 'slow down', /too many requests.*429/, /Wait/],
  ])('%i %j is refused at once, in words and without the token', async (status, body, message, remedy) => {
    const { relay } = await setUp({ web: 9 });
    relay.answers.push({ status, body });
    const source = startOurSource(world, relay);
    const error = await settled(source);
    expect(error).toMatchObject({
      code: 'TUNNEL_REFUSED',
      message: expect.stringMatching(message),
      remedy: expect.stringMatching(remedy),
      details: { status },
      tried: { address: 'localhost', port: relay.port },
    });
    expect(JSON.stringify(error.toJSON())).not.toContain(tokens.source);
    expect(relay.handshakes.filter(({ mode }) => mode === 'source')).toHaveLength(1);
  });

  test('an untrusted certificate: no token is sent', async () => {
    const { relay } = await setUp({ web: 9 });
    const foreign = await createCa({ commonName: 'Another CA' });
    const source = startOurSource(world, relay, undefined, {
      clock: scriptedClock(),
      settings: { caPem: foreign.caPem },
    });
    expect((await settled(source)).message).toMatch(/certificate/i);
    expect(relay.handshakes.filter(({ mode }) => mode === 'source')).toEqual([]);
  });

  test('a service that is silent, or speaks before SERVICE_IDS, or in text, or nonsense', async () => {
    for (const what of ['silent', 'data', 'text', 'zero', 'nonsense'] as const) {
      const relay = await world.relay({ services: ['web'], announces: false });
      const clock = scriptedClock();
      const source = startOurSource(world, relay, undefined, { clock, giveUpMs: 500 });
      await relay.connected('source');
      if (what === 'silent') await expect.poll(() => clock.fire(20_000)).toBeGreaterThan(0);
      if (what === 'data') relay.inject('source', pack({ type: kinds.data, stream: 1, service: 'web', connection: 1 }));
      if (what === 'text') relay.text('source', 'hello');
      if (what === 'zero') relay.inject('source', Buffer.from([0, 2, 8, 0]));
      if (what === 'nonsense') relay.inject('source', Buffer.from([0, 3, 255, 255, 255]));
      const error = await settled(source);
      expect([what, error.code]).toEqual([what, 'TUNNEL_NOT_REACHABLE']);
    }
  });

  test('services: an asked one is missing, none, changed later; more than asked is fine', async () => {
    const missing = await world.relay({ services: ['api'] });
    expect(await settled(startOurSource(world, missing))).toMatchObject({
      code: 'USAGE',
      message: 'The tunnel has the services "api", not "web".',
      remedy: expect.stringContaining('rotated'),
    });
    const none = await world.relay({ services: [] });
    expect((await settled(startOurSource(world, none))).message).toContain('has the services none');
    const more = await world.relay({ services: ['api', 'web'] });
    const source = startOurSource(world, more);
    await source.ports();
    more.inject('source', pack({ type: kinds.serviceIds, offered: ['web', 'api'] }));
    more.inject('source', pack({ type: kinds.serviceIds, offered: ['web'] }));
    expect(await settled(source)).toMatchObject({ code: 'USAGE', message: expect.stringContaining('changed') });
  });

  test('a port in use ends the run and names it', async () => {
    const { relay } = await setUp({ web: 9 });
    const taken = await world.service(() => {});
    const source = startOurSource(world, relay, [{ id: 'web', port: taken.port }]);
    const expected = { code: 'PORT_IN_USE', tried: { address: '127.0.0.1', port: taken.port } };
    expect(await settled(source)).toMatchObject(expected);
    await expect.poll(() => relay.isConnected('source')).toBe(false);
  });
});

test('property: whatever bytes the service sends, the run goes on or says why; no client gets a byte of them', {
  tags: 'property',
}, async () => {
  const { relay } = await setUp({ web: 9 });
  const source = startOurSource(world, relay, undefined, {
    clock: scriptedClock(),
    giveUpMs: Number.POSITIVE_INFINITY,
  });
  await source.ports();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
      await relay.connected('source');
      relay.inject('source', Buffer.from(bytes));
    }),
    { numRuns: runs(50) },
  );
  // Whatever is half received is not joined with a later WebSocket.
  relay.cut('source');
  await source.event('connected', true);
  expect(source.events.filter(({ event }) => event === 'answered')).toEqual([]);
  source.end();
  expect(await source.done).toMatchObject({ reason: 'interrupted' });
});
