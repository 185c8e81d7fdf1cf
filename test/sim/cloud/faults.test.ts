import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { type FaultName, faultNames, faultTable } from '../../../src/lib/sim/index.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { until } from '../raw-client.ts';
import {
  type CloudSim,
  callStorage,
  certificateOf,
  connectPacket,
  exchange,
  SERIAL,
  secure,
  startCloudSim,
} from './device.ts';
import { connectSide, dial, frames } from './tunnel/client.ts';

// Every fault of the cloud as observed by clients of their own. A fault without a test fails the last one.

const seen = new Set<FaultName>();
const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
const accepted = Buffer.from([0x20, 2, 0, 0]);
const topic = (name: string) => `gw/${SERIAL}/${name}`;
const object = Buffer.from(Array.from({ length: 100_001 }, (_, i) => i % 253));

/** Checks the effect of a fault, and that a device can connect after it. `paced`: in simulated time. */
async function withFault(
  name: FaultName,
  check: (world: CloudSim, nowMs: () => number) => Promise<void>,
  time?: 'paced',
) {
  seen.add(name);
  const clock = time === 'paced' ? createPacedClock() : systemClock;
  await using world = await startCloudSim({ clock });
  world.sim.setFault(name, true);
  await world.sim.settled();
  await check(world, clock.monotonicMs);
  world.sim.setFault(name, false);
  await world.sim.settled();
  const { port } = world.cloud.places.mqtt;
  const answer = await exchange(await secure(port, await certificateOf(world.dir)), connectPacket(SERIAL));
  // Accepted, with or without a session.
  expect([answer?.at(0), answer?.at(3)]).toEqual([0x20, 0]);
}

const clientToken = '0f8fad5b-d9cb-469f-a165-70867728950e';
const tunnelOf = (world: CloudSim) => ({ place: world.cloud.tunnel.place, caPem: world.ca().caPem });
const openTunnel = ({ cloud }: CloudSim, lifetimeMs = 600_000) => cloud.tunnel.open({ services: ['SSH'], lifetimeMs });

async function upload(world: CloudSim) {
  await using device = await world.connect();
  await device.client.subscribeAsync(topic('storage/answer'), { qos: 1 });
  const sha256 = createHash('sha256').update(object).digest('hex');
  const request = { clientToken: 't', method: 'PUT', name: 'a.tar', bytes: object.length, sha256 };
  const { url, headers } = (await device.ask(topic('storage'), request)).body as { url: string; headers: object };
  const all = { ...headers, 'content-length': String(object.length) };
  return callStorage(world, url, { method: 'PUT', headers: all }, object);
}

const isRefused = (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED';
const storagePort = ({ cloud }: CloudSim) => Number(new URL(cloud.places.storageUrl).port);
const portsOf = (world: CloudSim) => {
  const { mqtt, tunnel } = world.cloud.places;
  return [mqtt.port, mqtt.fallbackPort, storagePort(world), tunnel.port];
};

describe('faults of the cloud', () => {
  it('cloud-direct-closed: the first port refuses, and the second does not', () =>
    withFault('cloud-direct-closed', async (world) => {
      const { mqtt } = world.cloud.places;
      await expect(secure(mqtt.port, await certificateOf(world.dir))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      const second = await secure(mqtt.fallbackPort, {
        ...(await certificateOf(world.dir)),
        ALPNProtocols: [mqtt.alpn],
      });
      expect(await exchange(second, connectPacket(SERIAL))).toEqual(accepted);
    }));

  it('cloud-silent: the ClientHello gets no answer', () =>
    withFault('cloud-silent', async (world) => {
      for (const port of portsOf(world)) {
        const answer = await Promise.race([
          secure(port, { rejectUnauthorized: false }).then(() => 'answered'),
          new Promise((resolve) => setTimeout(() => resolve('silent'), 150)),
        ]);
        expect(answer).toBe('silent');
      }
    }));

  it('cloud-inspected: every port presents a certificate of another issuer', () =>
    withFault('cloud-inspected', async (world) => {
      for (const port of portsOf(world)) {
        const socket = await secure(port, { ca: world.ca().caPem, rejectUnauthorized: false });
        expect(socket.authorized).toBe(false);
        expect(socket.getPeerCertificate().issuer.CN).toBe('Simulated TLS inspection CA');
        socket.destroy();
      }
    }));

  it('cloud-alpn-refused: the identifier of the site file is refused', () =>
    withFault('cloud-alpn-refused', async (world) => {
      const { mqtt } = world.cloud.places;
      const options = { ...(await certificateOf(world.dir)), ALPNProtocols: [mqtt.alpn] };
      await expect(secure(mqtt.fallbackPort, options)).rejects.toThrow(/alert number 120/);
    }));

  it('cloud-no-connack: CONNECT gets no CONNACK', () =>
    withFault('cloud-no-connack', async (world) => {
      expect(
        await exchange(
          await secure(world.cloud.places.mqtt.port, await certificateOf(world.dir)),
          connectPacket(SERIAL),
          300,
        ),
      ).toBeNull();
    }));

  it('cloud-not-allowed: CONNECT is rejected with return code 5', () =>
    withFault('cloud-not-allowed', async (world) => {
      const answer = await exchange(
        await secure(world.cloud.places.mqtt.port, await certificateOf(world.dir)),
        connectPacket(SERIAL),
      );
      expect(answer).toEqual(Buffer.from([0x20, 2, 0, 5]));
    }));

  it('cloud-clock-off: the date of the storage and the times of jobs are a day ahead, and URLs are valid', () =>
    withFault('cloud-clock-off', async (world) => {
      const socket = await secure(storagePort(world), { ca: world.ca().caPem });
      const date = /\r\nDate: (.*)\r\n/.exec((await exchange(socket, head))?.toString('latin1') ?? '')?.[1] ?? '';
      expect(Math.round((Date.parse(date) - Date.now()) / 3_600_000)).toBe(24);
      await using device = await world.connect();
      await device.client.subscribeAsync(topic('jobs/#'), { qos: 1 });
      const { body } = await device.ask(topic('jobs/start-next'), {});
      expect(Math.round((Number(body.timestamp) * 1_000 - Date.now()) / 3_600_000)).toBe(24);
      expect((await callStorage(world, world.cloud.storeObject('a', object))).status).toBe(200);
    }));

  it('cloud-puback-lost: a message arrives, and its PUBACK does not', () =>
    withFault('cloud-puback-lost', async (world) => {
      await using device = await world.connect();
      let isAcknowledged = false;
      device.client.publish(topic('telemetry'), 'x', { qos: 1 }, (error) => {
        isAcknowledged = error === undefined || error === null;
      });
      await until(() => world.cloud.received().length === 1);
      // The answer to a later packet arrives.
      await device.client.subscribeAsync(topic('stop'), { qos: 1 });
      expect(isAcknowledged).toBe(false);
    }));

  it('cloud-slow: answers of broker and storage are 3 seconds late, in order', () =>
    withFault(
      'cloud-slow',
      async (world, nowMs) => {
        const began = nowMs();
        await using device = await world.connect();
        expect(nowMs() - began).toBeGreaterThanOrEqual(3_000);
        await device.client.subscribeAsync(topic('stop'), { qos: 1 });
        const from = nowMs();
        await world.cloud.stop({ id: 'one' });
        await world.cloud.stop({ id: 'two' });
        expect(await device.next(topic('stop'), 1)).toEqual({ id: 'two' });
        expect(nowMs() - from).toBeGreaterThanOrEqual(3_000);
        // What is late stays late and in order after the fault.
        const last = nowMs();
        await world.cloud.stop({ id: 'three' });
        world.sim.setFault('cloud-slow', false);
        await world.cloud.stop({ id: 'four' });
        expect(await device.next(topic('stop'), 2)).toEqual({ id: 'three' });
        expect(nowMs() - last).toBeGreaterThanOrEqual(3_000);
        expect(await device.next(topic('stop'), 3)).toEqual({ id: 'four' });
        world.sim.setFault('cloud-slow', true);
        const download = nowMs();
        expect((await callStorage(world, world.cloud.storeObject('a', object))).status).toBe(200);
        expect(nowMs() - download).toBeGreaterThanOrEqual(3_000);
      },
      'paced',
    ));

  it('cloud-cut: connections end, both ports refuse until it is off, and the session is there afterwards', () =>
    withFault('cloud-cut', async (world) => {
      const { mqtt } = world.cloud.places;
      for (const port of [mqtt.port, mqtt.fallbackPort]) {
        await expect(secure(port, {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      }
      world.sim.setFault('cloud-cut', false);
      await world.sim.settled();
      await using device = await world.connect();
      await device.client.subscribeAsync(topic('stop'), { qos: 1 });
      world.sim.setFault('cloud-cut', true);
      await device.closed;
      world.sim.setFault('cloud-cut', false);
      await world.sim.settled();
      await using again = await world.connect();
      expect(again.sessionPresent()).toBe(true);
    }));

  it('cloud-restarting: connections end, both ports refuse, and the session is there afterwards, again and again', () =>
    withFault(
      'cloud-restarting',
      async (world) => {
        const { mqtt } = world.cloud.places;
        const refuses = (port: number) => secure(port, {}).then(() => false, isRefused);
        for (const round of [1, 2]) {
          await until(async () => (await refuses(mqtt.port)) && (await refuses(mqtt.fallbackPort)), 20_000);
          await until(async () => !(await refuses(mqtt.port)), 20_000);
          await using device = await world.connect();
          expect(device.sessionPresent()).toBe(round > 1);
          await device.client.subscribeAsync(topic('stop'), { qos: 1 });
          await device.closed;
        }
      },
      'paced',
    ));

  it('cloud-session-lost: CONNACK has sessionPresent 0, and what was sent meanwhile is lost', async () => {
    await withFault('cloud-session-lost', async (world) => {
      world.sim.setFault('cloud-session-lost', false);
      const first = await world.connect();
      await first.client.subscribeAsync(topic('stop'), { qos: 1 });
      await first.client.endAsync(true);
      await until(() => world.cloud.broker.connected() === 0);
      await world.cloud.stop({ id: 'meanwhile' });
      world.sim.setFault('cloud-session-lost', true);
      await using second = await world.connect();
      expect(second.sessionPresent()).toBe(false);
      await second.client.subscribeAsync(topic('stop'), { qos: 1 });
      await world.cloud.stop({ id: 'later' });
      expect(await second.next(topic('stop'))).toEqual({ id: 'later' });
    });
  });

  it('cloud-duplicates: a message arrives twice under two packet ids without DUP, and once with QoS 0', () =>
    withFault('cloud-duplicates', async (world) => {
      await using device = await world.connect();
      await device.client.subscribeAsync(topic('stop'), { qos: 1 });
      await world.cloud.stop({ id: 'a' });
      await device.next(topic('stop'), 1);
      await world.cloud.send(topic('stop'), '{"id":"b"}', { qos: 0 });
      await device.next(topic('stop'), 2);
      expect(device.received.map(({ text, dup }) => [text, dup])).toEqual([
        ['{"id":"a"}', false],
        ['{"id":"a"}', false],
        ['{"id":"b"}', false],
      ]);
      expect(device.received[0]?.messageId).not.toBe(device.received[1]?.messageId);
      // Both acknowledgements are consumed: nothing is delivered again.
      await device.client.endAsync();
      await using again = await world.connect();
      await world.cloud.send(topic('stop'), '{"id":"c"}', { qos: 0 });
      expect(await again.next(topic('stop'))).toEqual({ id: 'c' });
    }));

  it('cloud-error: jobs, shadow and storage answer with an internal error', () =>
    withFault('cloud-error', async (world) => {
      await using device = await world.connect();
      await device.client.subscribeAsync([topic('jobs/#'), topic('shadow/#')], { qos: 1 });
      const { topic: answer, body } = await device.ask(topic('jobs/start-next'), { clientToken: 'a' });
      expect([answer, body]).toMatchObject(['rejected', { code: 'InternalError', clientToken: 'a' }]);
      const shadow = await device.ask(topic('shadow/update'), { state: { reported: {} }, clientToken: 'b' });
      expect(shadow).toMatchObject({ topic: 'rejected', body: { code: 500, clientToken: 'b' } });
      const { status, body: xml } = await callStorage(world, world.cloud.storeObject('a', object));
      expect([status, xml.toString()]).toEqual([500, expect.stringContaining('<Code>InternalError</Code>')]);
    }));

  it('cloud-url-expired: a new URL is refused, and one from before is not', async () => {
    await withFault('cloud-url-expired', async (world) => {
      world.sim.setFault('cloud-url-expired', false);
      const before = world.cloud.storeObject('a', object);
      world.sim.setFault('cloud-url-expired', true);
      const { status, body } = await callStorage(world, world.cloud.storeObject('a', object));
      expect([status, body.toString()]).toEqual([403, expect.stringContaining('Request has expired')]);
      expect((await callStorage(world, before)).status).toBe(200);
    });
  });

  it('cloud-storage-cut: half of a download arrives, also of a resumed one, and no upload', () =>
    withFault('cloud-storage-cut', async (world) => {
      const url = world.cloud.storeObject('a', object);
      const first = await callStorage(world, url);
      expect([first.status, first.isComplete, first.headers['content-length']]).toEqual([200, false, '100001']);
      expect(first.body).toEqual(object.subarray(0, 50_000));
      const second = await callStorage(world, url, { headers: { range: 'bytes=50000-' } });
      expect([second.status, second.isComplete]).toEqual([206, false]);
      expect(second.body).toEqual(object.subarray(50_000, 75_000));
      expect((await upload(world)).status).toBe(0);
      expect(world.cloud.uploads()).toEqual([]);
    }));

  it('cloud-storage-slow: 100 kB take a second, in both directions', () =>
    withFault(
      'cloud-storage-slow',
      async (world, nowMs) => {
        const began = nowMs();
        expect((await callStorage(world, world.cloud.storeObject('a', object))).body).toEqual(object);
        expect(nowMs() - began).toBeGreaterThanOrEqual(1_000);
        const from = nowMs();
        expect((await upload(world)).status).toBe(200);
        expect(nowMs() - from).toBeGreaterThanOrEqual(1_000);
      },
      'paced',
    ));

  it('cloud-storage-corrupt: the length is right, and one byte is wrong', () =>
    withFault('cloud-storage-corrupt', async (world) => {
      const { status, body } = await callStorage(world, world.cloud.storeObject('a', object));
      expect([status, body.length]).toEqual([200, object.length]);
      expect(body.filter((byte, i) => byte !== object[i])).toHaveLength(1);
    }));

  it.each([
    ['cloud-tunnel-refused', 403, 'Forbidden'],
    ['cloud-tunnel-not-found', 404, 'Not found'],
    ['cloud-tunnel-rate-limited', 429, 'Too many requests'],
    ['cloud-tunnel-error', 503, 'Service unavailable'],
  ] as const)('%s: every handshake gets %i, and the token works afterwards', (name, status, body) =>
    withFault(name, async (world) => {
      const { sourceToken: token } = await openTunnel(world);
      expect(await dial(tunnelOf(world), 'source', { token })).toMatchObject({ status, body });
      world.sim.setFault(name, false);
      expect(await dial(tunnelOf(world), 'source', { token })).toHaveProperty('ws');
    }),
  );

  it('cloud-tunnel-drops: open WebSockets are dropped at once, new ones after 2 seconds, without a close frame', () =>
    withFault(
      'cloud-tunnel-drops',
      async (world, nowMs) => {
        world.sim.setFault('cloud-tunnel-drops', false);
        const { sourceToken: token } = await openTunnel(world);
        const about = { token, clientToken };
        const first = await connectSide(tunnelOf(world), 'source', about);
        world.sim.setFault('cloud-tunnel-drops', true);
        expect((await first.untilClosed()).code).toBe(1006);
        const began = nowMs();
        const second = await connectSide(tunnelOf(world), 'source', about);
        expect((await second.untilClosed()).code).toBe(1006);
        expect(nowMs() - began).toBeGreaterThanOrEqual(1_900);
        const third = await connectSide(tunnelOf(world), 'source', about);
        world.sim.setFault('cloud-tunnel-drops', false);
        const from = nowMs();
        await until(() => nowMs() - from > 3_000, 20_000);
        expect(third.closed()).toBeNull();
      },
      'paced',
    ));

  it('cloud-tunnel-silent: no pong, no frame, no close frame and no answer; what waits follows afterwards', () =>
    withFault('cloud-tunnel-silent', async (world) => {
      world.sim.setFault('cloud-tunnel-silent', false);
      const { tunnel, sourceToken, destinationToken } = await openTunnel(world);
      const closing = await openTunnel(world);
      const destination = await connectSide(tunnelOf(world), 'destination', { token: destinationToken });
      const source = await connectSide(tunnelOf(world), 'source', { token: sourceToken });
      const closed = await connectSide(tunnelOf(world), 'source', { token: closing.sourceToken });
      world.sim.setFault('cloud-tunnel-silent', true);
      source.ws.ping('a');
      source.send(frames.startSsh);
      world.cloud.tunnel.close(closing.tunnel.tunnelId);
      const { sourceToken: token } = await openTunnel(world);
      const handshake = dial(tunnelOf(world), 'source', { token, options: { handshakeTimeout: 200 } });
      await expect(handshake).rejects.toThrow('timed out');
      expect([source.pongs, destination.messages.length, closed.closed()]).toEqual([[], 1, null]);
      world.sim.setFault('cloud-tunnel-silent', false);
      expect((await destination.untilBytes(13)).toString('hex')).toBe(frames.startSsh);
      await until(() => source.pongs.includes('a'));
      expect(await closed.untilClosed()).toEqual({ code: 1000, reason: 'tunnel closed' });
      expect(world.cloud.tunnel.list().find(({ tunnelId }) => tunnelId === tunnel.tunnelId)?.status).toBe('OPEN');
    }));

  it('cloud-tunnel-clock-stopped: a tunnel stays open beyond its lifetime, and ends by what was left afterwards', () =>
    withFault(
      'cloud-tunnel-clock-stopped',
      async (world, nowMs) => {
        const { sourceToken: token } = await openTunnel(world, 3_000);
        const source = await connectSide(tunnelOf(world), 'source', { token });
        const began = nowMs();
        await until(() => nowMs() - began > 10_000, 20_000);
        expect(source.closed()).toBeNull();
        expect(world.cloud.tunnel.list()).toMatchObject([{ status: 'OPEN', leftMs: 3_000 }]);
        world.sim.setFault('cloud-tunnel-clock-stopped', false);
        const from = nowMs();
        expect(await source.untilClosed()).toEqual({ code: 1000, reason: 'tunnel lifetime expired' });
        expect(nowMs() - from).toBeGreaterThanOrEqual(2_900);
      },
      'paced',
    ));

  it('cloud-tunnel-wrong-region: notifications name another region, by a rotation too', () =>
    withFault('cloud-tunnel-wrong-region', async (world) => {
      await using device = await world.connect();
      await device.client.subscribeAsync(topic('tunnels/notify'), { qos: 1 });
      const { tunnel } = await openTunnel(world);
      await world.cloud.tunnel.rotate(tunnel.tunnelId, 'destination');
      expect([await device.next(topic('tunnels/notify')), await device.next(topic('tunnels/notify'), 1)]).toMatchObject(
        [{ region: 'xx-nowhere-1' }, { region: 'xx-nowhere-1' }],
      );
      expect(tunnel.region).toBe('eu-central-1');
      world.sim.setFault('cloud-tunnel-wrong-region', false);
      await world.cloud.tunnel.rotate(tunnel.tunnelId, 'destination');
      expect(await device.next(topic('tunnels/notify'), 2)).toMatchObject({ region: 'eu-central-1' });
    }));

  it('are all in the table, and all tested here', () => {
    expect([...seen].toSorted()).toEqual(faultNames.filter((name) => faultTable[name].kind === 'cloud').toSorted());
  });
});
