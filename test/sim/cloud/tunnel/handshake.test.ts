import { randomUUID } from 'node:crypto';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { TunnelService } from '../../../../src/lib/sim/cloud/tunnel/service.ts';
import { createFakeClock } from '../../../lifecycle/fake-clock.ts';
import { clientToken, connectSide, type Dial, dial, frames, hex, SUBPROTOCOL, startTunnel } from './client.ts';

/** One request as bytes; the whole answer as text. */
async function raw({ place, caPem }: TunnelService, request: string): Promise<string> {
  const socket = connectTls({ host: place.host, port: place.port, ca: caPem });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.write(request);
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

const asSource = '/tunnel?local-proxy-mode=source';
const upgrade = (...more: string[]) =>
  [
    `GET ${asSource} HTTP/1.1`,
    'Host: localhost',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `Sec-WebSocket-Protocol: ${SUBPROTOCOL}`,
    ...more,
    '\r\n',
  ].join('\r\n');
const refused = (body: string) => ({ status: 400, body });

describe('a handshake with the simulated tunnel service', () => {
  it('is answered with one subprotocol, a channel id, and SERVICE_IDS first and alone', async () => {
    await using world = await startTunnel({}, ['SSH', 'web:1']);
    const peer = await world.connect('destination');
    const channelId = peer.headers['channel-id'];
    expect([peer.ws.protocol, peer.headers['sec-websocket-protocol']]).toEqual([SUBPROTOCOL, SUBPROTOCOL]);
    expect(channelId).toMatch(/^[0-9a-f-]{36}$/);
    const serviceIds = `000e08053203535348${'3205'}${Buffer.from('web:1').toString('hex')}`;
    expect(peer.messages.map((message) => message.toString('hex'))).toEqual([serviceIds]);
    const [view] = world.service.list();
    expect(view?.destination).toMatchObject({ connected: true, connects: 1, channelId });
    expect(view?.source).toEqual({ connected: false, connects: 0, channelId: null, bytes: 0 });
  });

  it.each([
    [['securetunneling-3.0'], 'securetunneling-3.0'],
    [['vendor.securetunneling-1.0'], 'vendor.securetunneling-1.0'],
    [['a.securetunneling-2.0', 'a.securetunneling-3.0', 'chat'], 'a.securetunneling-3.0'],
  ])('with the subprotocols %j chooses %s', async (subprotocols, expected) => {
    await using world = await startTunnel();
    expect((await world.connect('destination', { subprotocols })).ws.protocol).toBe(expected);
  });

  it.each<[string, Dial, string]>([
    ['another path', { path: '/tunnels?local-proxy-mode=destination' }, 'Invalid path'],
    ['no mode', { path: '/tunnel' }, 'Invalid local proxy mode'],
    ['another mode', { path: '/tunnel?local-proxy-mode=both' }, 'Invalid local proxy mode'],
    ['two modes', { path: `${asSource}&local-proxy-mode=destination` }, 'Invalid local proxy mode'],
    ['another subprotocol', { subprotocols: ['securetunneling-4.0'] }, 'Invalid subprotocol'],
    ['no subprotocol', { subprotocols: [] }, 'Invalid subprotocol'],
    ['an unknown token', { token: 'abc' }, 'Invalid access token'],
    ['a client token of 31 characters', { clientToken: 'a'.repeat(31) }, 'Invalid client token'],
    ['a client token with a dot', { clientToken: `${'a'.repeat(40)}.` }, 'Invalid client token'],
  ])('with %s is refused with 400 in plain text, and the token stays unused', async (_, about, body) => {
    await using world = await startTunnel();
    expect(await world.dial('destination', about)).toEqual({ ...refused(body), type: 'text/plain; charset=utf-8' });
    await world.connect('destination');
    expect(world.service.handshakes()).toMatchObject([
      { status: 400, reason: body },
      { status: 101, reason: '' },
    ]);
  });

  it('without a token, with two, with that of the other mode, or that is no upgrade is refused', async () => {
    await using world = await startTunnel();
    const { service, tokens } = world;
    expect(await dial(service, 'source', {})).toMatchObject(refused('Missing access token'));
    expect(await dial(service, 'source', { token: tokens.destination })).toMatchObject(
      refused('Invalid access token: it is for the other mode'),
    );
    const token = `access-token: ${tokens.source}`;
    expect(await raw(service, upgrade(token, token))).toMatch(/^HTTP\/1\.1 400 [\s\S]*Invalid access token$/);
    const plain = `GET ${asSource} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    expect(await raw(service, plain)).toMatch(/^HTTP\/1\.1 400 [\s\S]*Not a WebSocket handshake$/);
    expect(await raw(service, upgrade(`access-token: ${'a'.repeat(4_096)}`))).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('that is cut in the middle uses no token', async () => {
    await using world = await startTunnel();
    const { place, caPem } = world.service;
    const socket = connectTls({ host: place.host, port: place.port, ca: caPem });
    const request = upgrade(`access-token: ${world.tokens.source}`);
    await new Promise((resolve) => socket.write(request.slice(0, -4), resolve));
    socket.destroy();
    await world.connect('source');
    expect(world.service.handshakes()).toHaveLength(1);
  });

  it('with too many attempts per second is refused with 429, and accepted a second later', async () => {
    const clock = createFakeClock();
    await using world = await startTunnel({ clock });
    const statuses: unknown[] = [];
    for (let i = 0; i < 22; i++) statuses.push(await world.dial('source', { token: 'spent' }));
    expect(statuses).toMatchObject([...Array(20).fill(400), 429, 429].map((status) => ({ status })));
    // Another token is not affected.
    await world.connect('source');
    await clock.advance(1_000);
    expect(await world.dial('source', { token: 'spent' })).toMatchObject({ status: 400 });
  });
});

describe('an access token', () => {
  it('works once without a client token, and is in no list and no log', async () => {
    await using world = await startTunnel();
    (await world.connect('destination')).ws.terminate();
    const spent = refused('Invalid access token: it was previously used');
    expect(await world.dial('destination')).toMatchObject(spent);
    expect(await world.dial('destination', { clientToken })).toMatchObject(spent);
    const kept = JSON.stringify([world.service.list(), world.service.handshakes()]);
    for (const token of Object.values(world.tokens)) expect(kept).not.toContain(token);
    expect(world.tokens.source).toMatch(/^[\x21-\x7e]{300,4096}$/);
  });

  it('works again with the client token of its first handshake, and with no other', async () => {
    await using world = await startTunnel();
    for (let round = 0; round < 2; round += 1) {
      (await world.connect('destination', { clientToken })).ws.terminate();
    }
    expect(await world.dial('destination', { clientToken: randomUUID() })).toMatchObject(
      refused('Invalid client token: it does not match the access token'),
    );
    expect(await world.dial('destination')).toMatchObject({ status: 400 });
    await world.connect('destination', { clientToken });
    const last = { mode: 'destination', tunnelId: world.tunnelId, status: 101, hasClientToken: true };
    expect(world.service.handshakes().at(-1)).toMatchObject(last);
  });

  it('is not paired with the client token of another one while that tunnel is open', async () => {
    await using world = await startTunnel();
    await world.connect('destination', { clientToken });
    expect(await world.dial('source', { clientToken })).toMatchObject(
      refused('Invalid client token: it belongs to another access token'),
    );
    const { sourceToken: token } = await world.service.open({ services: ['SSH'], lifetimeMs: 60_000 });
    expect(await dial(world.service, 'source', { token, clientToken })).toMatchObject({ status: 400 });
    world.service.close(world.tunnelId);
    expect(await dial(world.service, 'source', { token, clientToken })).toHaveProperty('ws');
  });
});

describe('a notification', () => {
  it('is sent again with a new token by a rotation, which revokes the old one and ends no connection', async () => {
    await using world = await startTunnel();
    const { service, tunnelId } = world;
    const first = await world.connect('destination', { clientToken });
    const { destinationToken, sourceToken } = await service.rotate(tunnelId, 'destination');
    expect(sourceToken).toBeNull();
    expect(world.notified[1]).toMatchObject({ notification: { clientAccessToken: destinationToken } });
    expect(await world.dial('destination', { clientToken })).toMatchObject(
      refused('Invalid access token: it was rotated'),
    );
    // The source is not affected, neither connected nor not.
    await world.connect('source');
    expect(first.closed()).toBeNull();
    await connectSide(service, 'destination', { token: destinationToken ?? '' });
    expect(await first.untilClosed()).toEqual({ code: 1000, reason: 'replaced by another connection' });
  });

  it('of the source makes a token without a notification; of both does both', async () => {
    await using world = await startTunnel();
    const { service, tunnelId } = world;
    const source = await service.rotate(tunnelId, 'source');
    expect([source.destinationToken, world.notified.length]).toEqual([null, 1]);
    expect(await world.dial('source')).toMatchObject({ status: 400 });
    await connectSide(service, 'source', { token: source.sourceToken ?? '' });
    const both = await service.rotate(tunnelId, 'all');
    expect(world.notified).toHaveLength(2);
    expect(await dial(service, 'source', { token: source.sourceToken ?? '' })).toMatchObject({ status: 400 });
    await connectSide(service, 'source', { token: both.sourceToken ?? '' });
  });
});

describe('a tunnel', () => {
  it.each([
    [[], 60_000],
    [['a', 'b', 'c', 'd'], 60_000],
    [['a', 'a'], 60_000],
    [['a b'], 60_000],
    [['a'.repeat(129)], 60_000],
    [['a'], 0],
    [['a'], Number.NaN],
    [['a'], 720 * 60_000 + 1],
  ])('with the services %j for %s ms is not opened', async (services, lifetimeMs) => {
    await using world = await startTunnel();
    await expect(world.service.open({ services, lifetimeMs })).rejects.toMatchObject({ code: 'USAGE' });
    expect(world.service.list()).toHaveLength(1);
  });

  it('ends at its lifetime, whatever the wall clock: both sides get a close frame, and its tokens are refused', async () => {
    const clock = createFakeClock();
    await using world = await startTunnel({ clock });
    const { service } = world;
    const { tunnelId } = (await service.open({ services: ['SSH'], lifetimeMs: 700_000 })).tunnel;
    const peers = [await world.connect('destination', { clientToken }), await world.connect('source')];
    clock.setWall(new Date('2020-01-01'));
    await clock.advance(599_999);
    expect(service.list()[0]).toMatchObject({ status: 'OPEN', leftMs: 1 });
    await clock.advance(1);
    for (const peer of peers) {
      expect(await peer.untilClosed()).toEqual({ code: 1000, reason: 'tunnel lifetime expired' });
    }
    expect(service.list()).toMatchObject([
      { status: 'CLOSED', closedBy: 'lifetime', leftMs: 0 },
      { status: 'OPEN', leftMs: 100_000 },
    ]);
    expect(await world.dial('destination', { clientToken })).toMatchObject(
      refused('Invalid access token: the tunnel is closed'),
    );
    await clock.advance(100_000);
    expect(service.list()[1]).toMatchObject({ tunnelId, status: 'CLOSED' });
  });

  it('is closed by a person on both sides; a second time is an error', async () => {
    await using world = await startTunnel();
    const { service, tunnelId } = world;
    const destination = await world.connect('destination');
    expect(service.close(tunnelId)).toMatchObject({ status: 'CLOSED', closedBy: 'person' });
    expect(await destination.untilClosed()).toEqual({ code: 1000, reason: 'tunnel closed' });
    expect(() => service.close(tunnelId)).toThrow('is closed');
    await expect(service.rotate(tunnelId, 'all')).rejects.toMatchObject({ code: 'USAGE' });
    expect(() => service.close('none')).toThrow("There is no tunnel 'none'");
  });

  it('terminates a client that does not answer the close frame', async () => {
    const clock = createFakeClock();
    await using world = await startTunnel({ clock });
    const destination = await world.connect('destination');
    destination.ws.pause();
    world.service.close(world.tunnelId);
    await clock.advance(5_000);
    destination.ws.resume();
    await destination.untilClosed();
    expect(clock.pending).toBe(0);
  });

  it('ends with the service, as every connection and timer', async () => {
    const clock = createFakeClock();
    const world = await startTunnel({ clock });
    const source = await world.connect('source');
    source.send(frames.startSsh);
    await source.untilBytes(hex(frames.streamResetSsh).length);
    await world[Symbol.asyncDispose]();
    expect(await source.untilClosed()).toMatchObject({ code: 1006 });
    expect(clock.pending).toBe(0);
  });
});
