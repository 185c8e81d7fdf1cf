import { createHash } from 'node:crypto';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { type FaultName, faultNames, faultTable } from '../../../src/lib/sim/index.ts';
import { shared } from '../../lifecycle/shared.ts';
import { until } from '../raw-client.ts';
import { callStorage, certificateOf, connectPacket, exchange, SERIAL, secure, startCloudWorld } from './device.ts';
import { clientToken, connectSide, dial, frames } from './tunnel/client.ts';

// Every fault of the cloud as observed by clients of their own, on a clock that the tests advance.

const world = shared(await startCloudWorld());

const object = Buffer.from(Array.from({ length: 100_001 }, (_, i) => i % 253));
const fault = (name: FaultName, on: boolean) => {
  world.sim.setFault(name, on);
  return world.sim.settled();
};
const nowMs = () => world.clock.monotonicMs();
/** Simulated milliseconds until this is done. */
async function took<T>(work: Promise<T>): Promise<readonly [number, T]> {
  const began = nowMs();
  const result = await world.clock.during(work);
  return [nowMs() - began, result];
}

const mqttPlace = () => world.cloud.places.mqtt;
const storagePort = () => Number(new URL(world.cloud.places.storageUrl).port);
const portsOf = () => [mqttPlace().port, mqttPlace().fallbackPort, storagePort(), world.cloud.places.tunnel.port];
const login = async () => secure(mqttPlace().port, await certificateOf(world.dir));
const byAlpn = async () =>
  secure(mqttPlace().fallbackPort, { ...(await certificateOf(world.dir)), ALPNProtocols: [mqttPlace().alpn] });
const refuses = (port: number) =>
  secure(port, {}).then(
    () => false,
    ({ code }) => code === 'ECONNREFUSED',
  );
const download = (headers = {}) => callStorage(world, world.cloud.storeObject('a', object), { headers });

/** A URL for an upload, and its headers. */
async function uploadUrl() {
  await using device = await world.join();
  await device.subscribe('storage/answer');
  const sha256 = createHash('sha256').update(object).digest('hex');
  const request = { clientToken: 't', method: 'PUT', name: 'a.tar', bytes: object.length, sha256 };
  const { url, headers } = (await device.ask('storage', request)).body as { url: string; headers: object };
  return [url, { ...headers, 'content-length': String(object.length) }] as const;
}
const upload = ([url, headers]: Awaited<ReturnType<typeof uploadUrl>>) =>
  callStorage(world, url, { method: 'PUT', headers }, object);

const service = () => ({ place: world.cloud.tunnel.place, caPem: world.ca().caPem });
const openTunnel = (lifetimeMs = 600_000) => world.cloud.tunnel.open({ services: ['SSH'], lifetimeMs });
const source = (token: string, about: object = {}) => connectSide(service(), 'source', { token, ...about });
const refusal = (status: number, body: string) => async (name: FaultName) => {
  const { sourceToken: token } = await openTunnel();
  expect(await dial(service(), 'source', { token })).toMatchObject({ status, body });
  await fault(name, false);
  expect(await dial(service(), 'source', { token })).toHaveProperty('ws');
};

/** A fault that is on when its check begins, unless that switches it off first. */
const checks: Partial<Record<FaultName, (name: FaultName) => Promise<unknown>>> = {
  async 'cloud-direct-closed'() {
    expect(await refuses(mqttPlace().port)).toBe(true);
    expect(await exchange(await byAlpn(), connectPacket(SERIAL))).toEqual(Buffer.from([0x20, 2, 0, 0]));
  },
  async 'cloud-silent'() {
    const events: string[] = [];
    const sockets = portsOf().map((port) => connect({ host: '127.0.0.1', port, rejectUnauthorized: false }));
    for (const socket of sockets) {
      for (const event of ['secureConnect', 'error', 'end']) socket.on(event, () => events.push(event));
    }
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    await world.clock.seconds(60);
    expect(events).toEqual([]);
    for (const socket of sockets) socket.destroy();
  },
  async 'cloud-inspected'() {
    for (const port of portsOf()) {
      const socket = await secure(port, { ca: world.ca().caPem, rejectUnauthorized: false });
      expect(socket.authorized).toBe(false);
      expect(socket.getPeerCertificate().issuer.CN).toBe('Simulated TLS inspection CA');
      socket.destroy();
    }
  },
  'cloud-alpn-refused': () => expect(byAlpn()).rejects.toThrow(/alert number 120/),
  async 'cloud-no-connack'() {
    const socket = await login();
    const events: string[] = [];
    for (const event of ['data', 'error', 'end']) socket.on(event, () => events.push(event));
    await new Promise((resolve) => socket.write(connectPacket(SERIAL), resolve));
    // A later connection, so that the broker has read the CONNECT.
    const later = await login();
    await world.clock.seconds(60);
    expect(events).toEqual([]);
    for (const one of [socket, later]) one.destroy();
  },
  async 'cloud-not-allowed'() {
    expect(await exchange(await login(), connectPacket(SERIAL))).toEqual(Buffer.from([0x20, 2, 0, 5]));
  },
  async 'cloud-clock-off'() {
    // The date of the storage and the times of jobs are a day ahead, and URLs are valid.
    const tomorrow = Math.floor(world.clock.wall().getTime() / 1000) + 24 * 3600;
    const socket = await secure(storagePort(), { ca: world.ca().caPem });
    const answer = (await exchange(socket, 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'))?.toString('latin1');
    expect(Date.parse(/\r\nDate: (.*)\r\n/.exec(answer ?? '')?.[1] ?? '')).toBe(tomorrow * 1000);
    await using device = await world.join();
    await device.subscribe('jobs/#');
    expect((await device.ask('jobs/start-next', {})).body.timestamp).toBe(tomorrow);
    expect((await download()).status).toBe(200);
  },
  async 'cloud-puback-lost'() {
    await using device = await world.join();
    let isAcknowledged = false;
    device.client.publish(device.topic('telemetry'), 'x', { qos: 1 }, (error) => {
      isAcknowledged = !error;
    });
    await until(() => world.cloud.received().some(({ client }) => client === device.serial));
    // The answer to a later packet arrives.
    await device.subscribe('stop');
    expect(isAcknowledged).toBe(false);
  },
  async 'cloud-slow'(name) {
    await fault(name, false);
    const { serial, client } = await world.join({ clean: true });
    await client.endAsync(true);
    await fault(name, true);
    const [connectMs, device] = await took(world.connect({}, serial));
    await took(device.subscribe('stop'));
    const stop = (id: string) => world.cloud.stop({ id, serial });
    await stop('one');
    await stop('two');
    const [stopMs, two] = await took(device.next('stop', 1));
    // What is late stays late and in order after the fault.
    await stop('three');
    world.sim.setFault('cloud-slow', false);
    await stop('four');
    const [lateMs, three] = await took(device.next('stop', 2));
    const [, four] = await took(device.next('stop', 3));
    expect([two, three, four]).toEqual(['two', 'three', 'four'].map((id) => ({ id })));
    world.sim.setFault('cloud-slow', true);
    const [downloadMs, { status }] = await took(download());
    expect(status).toBe(200);
    for (const ms of [connectMs, stopMs, lateMs, downloadMs]) expect(ms).toBeGreaterThanOrEqual(3_000);
    await world.clock.during(Promise.resolve(device[Symbol.asyncDispose]()));
  },
  async 'cloud-cut'(name) {
    for (const port of [mqttPlace().port, mqttPlace().fallbackPort]) expect(await refuses(port)).toBe(true);
    await fault(name, false);
    const device = await world.join();
    await device.subscribe('stop');
    world.sim.setFault(name, true);
    await device.closed;
    await fault(name, false);
    await using again = await world.connect({}, device.serial);
    expect(again.sessionPresent()).toBe(true);
  },
  async 'cloud-restarting'() {
    const { port, fallbackPort } = mqttPlace();
    let serial: string | undefined;
    for (const round of [1, 2]) {
      await world.clock.until(async () => (await refuses(port)) && (await refuses(fallbackPort)));
      await world.clock.until(async () => !(await refuses(port)));
      const device = serial === undefined ? await world.join() : await world.connect({}, serial);
      serial = device.serial;
      expect(device.sessionPresent()).toBe(round > 1);
      await device.subscribe('stop');
      await world.clock.during(device.closed);
    }
  },
  async 'cloud-session-lost'(name) {
    await fault(name, false);
    const first = await world.join();
    const { serial } = first;
    await first.subscribe('stop');
    await first.client.endAsync(true);
    await until(() => world.cloud.broker.connected() === 0);
    await world.cloud.stop({ id: 'meanwhile', serial });
    await fault(name, true);
    await using second = await world.connect({}, serial);
    expect(second.sessionPresent()).toBe(false);
    await second.subscribe('stop');
    await world.cloud.stop({ id: 'later', serial });
    expect(await second.next('stop')).toEqual({ id: 'later' });
  },
  async 'cloud-duplicates'() {
    const device = await world.join();
    const { serial } = device;
    const send = (id: string) => world.cloud.send(device.topic('stop'), `{"id":"${id}"}`, { qos: 0 });
    await device.subscribe('stop');
    // Twice under two packet ids without DUP, and once with QoS 0.
    await world.cloud.stop({ id: 'a', serial });
    await device.next('stop', 1);
    await send('b');
    await device.next('stop', 2);
    expect(device.received.map(({ text, dup }) => `${text} ${dup}`)).toEqual(
      ['a', 'a', 'b'].map((id) => `{"id":"${id}"} false`),
    );
    expect(device.received[0]?.messageId).not.toBe(device.received[1]?.messageId);
    // Both acknowledgements are consumed: nothing is delivered again.
    await device.client.endAsync();
    await using again = await world.connect({}, serial);
    await send('c');
    expect(await again.next('stop')).toEqual({ id: 'c' });
  },
  async 'cloud-error'() {
    await using device = await world.join();
    await device.subscribe('jobs/#', 'shadow/#');
    const job = await device.ask('jobs/start-next', { clientToken: 'a' });
    expect(job).toMatchObject({ topic: 'rejected', body: { code: 'InternalError', clientToken: 'a' } });
    const shadow = await device.ask('shadow/update', { state: { reported: {} }, clientToken: 'b' });
    expect(shadow).toMatchObject({ topic: 'rejected', body: { code: 500, clientToken: 'b' } });
    const { status, body } = await download();
    expect([status, body.toString()]).toEqual([500, expect.stringContaining('<Code>InternalError</Code>')]);
  },
  async 'cloud-url-expired'(name) {
    await fault(name, false);
    const before = world.cloud.storeObject('a', object);
    await fault(name, true);
    const { status, body } = await download();
    expect([status, body.toString()]).toEqual([403, expect.stringContaining('Request has expired')]);
    expect((await callStorage(world, before)).status).toBe(200);
  },
  async 'cloud-storage-cut'() {
    // Half of a download arrives, also of a resumed one, and no upload.
    const first = await download();
    expect([first.status, first.isComplete, first.headers['content-length']]).toEqual([200, false, '100001']);
    expect(first.body.equals(object.subarray(0, 50_000))).toBe(true);
    const second = await download({ range: 'bytes=50000-' });
    expect([second.status, second.isComplete]).toEqual([206, false]);
    expect(second.body.equals(object.subarray(50_000, 75_000))).toBe(true);
    expect([(await upload(await uploadUrl())).status, world.cloud.uploads()]).toEqual([0, []]);
  },
  async 'cloud-storage-slow'() {
    const [downloadMs, { body }] = await took(download());
    expect(body.equals(object)).toBe(true);
    const [uploadMs, { status }] = await took(upload(await uploadUrl()));
    expect(status).toBe(200);
    for (const ms of [downloadMs, uploadMs]) expect(ms).toBeGreaterThanOrEqual(1_000);
  },
  async 'cloud-storage-corrupt'() {
    const { status, body } = await download();
    expect([status, body.length]).toEqual([200, object.length]);
    expect(body.filter((byte, i) => byte !== object[i])).toHaveLength(1);
  },
  'cloud-tunnel-refused': refusal(403, 'Forbidden'),
  'cloud-tunnel-not-found': refusal(404, 'Not found'),
  'cloud-tunnel-rate-limited': refusal(429, 'Too many requests'),
  'cloud-tunnel-error': refusal(503, 'Service unavailable'),
  async 'cloud-tunnel-drops'(name) {
    await fault(name, false);
    const { sourceToken } = await openTunnel();
    const first = await source(sourceToken, { clientToken });
    await fault(name, true);
    // Open WebSockets at once, new ones after 2 seconds, without a close frame.
    expect((await first.untilClosed()).code).toBe(1006);
    const second = await source(sourceToken, { clientToken });
    const [ms, { code }] = await took(second.untilClosed());
    expect([code, ms >= 1_900]).toEqual([1006, true]);
    const third = await source(sourceToken, { clientToken });
    await fault(name, false);
    await world.clock.seconds(3);
    expect(third.closed()).toBeNull();
  },
  async 'cloud-tunnel-silent'(name) {
    await fault(name, false);
    const { tunnel, sourceToken, destinationToken } = await openTunnel();
    const closing = await openTunnel();
    const destination = await connectSide(service(), 'destination', { token: destinationToken });
    const from = await connectSide(service(), 'source', { token: sourceToken });
    const closed = await connectSide(service(), 'source', { token: closing.sourceToken });
    await fault(name, true);
    from.ws.ping('a');
    from.send(frames.startSsh);
    world.cloud.tunnel.close(closing.tunnel.tunnelId);
    const handshake = dial(service(), 'source', { token: (await openTunnel()).sourceToken }).catch(() => 'refused');
    await world.clock.seconds(2);
    // No pong, no frame, no close frame and no answer.
    expect([from.pongs, destination.messages.length, closed.closed()]).toEqual([[], 1, null]);
    expect(await Promise.race([handshake, 'no answer'])).toBe('no answer');
    await fault(name, false);
    expect((await destination.untilBytes(13)).toString('hex')).toBe(frames.startSsh);
    await until(() => from.pongs.includes('a'));
    expect(await closed.untilClosed()).toEqual({ code: 1000, reason: 'tunnel closed' });
    expect(world.cloud.tunnel.list().find(({ tunnelId }) => tunnelId === tunnel.tunnelId)?.status).toBe('OPEN');
  },
  async 'cloud-tunnel-clock-stopped'(name) {
    const { sourceToken, tunnel } = await openTunnel(3_000);
    const peer = await source(sourceToken);
    await world.clock.seconds(10);
    expect(peer.closed()).toBeNull();
    const shown = world.cloud.tunnel.list().find(({ tunnelId }) => tunnelId === tunnel.tunnelId);
    expect(shown).toMatchObject({ status: 'OPEN', leftMs: 3_000 });
    await fault(name, false);
    const [ms, closed] = await took(peer.untilClosed());
    expect(closed).toEqual({ code: 1000, reason: 'tunnel lifetime expired' });
    expect(ms).toBeGreaterThanOrEqual(2_900);
  },
  async 'cloud-tunnel-wrong-region'(name) {
    await using device = await world.connect();
    await device.subscribe('tunnels/notify');
    const { tunnel } = await openTunnel();
    expect(tunnel.region).toBe('eu-central-1');
    await world.cloud.tunnel.rotate(tunnel.tunnelId, 'destination');
    await fault(name, false);
    await world.cloud.tunnel.rotate(tunnel.tunnelId, 'destination');
    const regions = [0, 1, 2].map(async (skip) => (await device.next('tunnels/notify', skip)).region);
    expect(await Promise.all(regions)).toEqual(['xx-nowhere-1', 'xx-nowhere-1', 'eu-central-1']);
  },
};

describe('a fault of the cloud', () => {
  it.each(Object.entries(checks) as [FaultName, NonNullable<(typeof checks)[FaultName]>][])(
    '%s has the effect of its row, and a device can connect after it',
    async (name, check) => {
      await fault(name, true);
      try {
        await check(name);
      } finally {
        await fault(name, false);
      }
      // Accepted, with or without a session.
      const answer = await exchange(await login(), connectPacket(SERIAL));
      expect([answer?.at(0), answer?.at(3)]).toEqual([0x20, 0]);
      await until(() => world.cloud.broker.connected() === 0);
    },
  );

  it('has a check above', () => {
    expect(Object.keys(checks).toSorted()).toEqual(
      faultNames.filter((name) => faultTable[name].kind === 'cloud').toSorted(),
    );
  });
});
