import { describe, expect, it } from 'vitest';
import { shared } from '../../lifecycle/shared.ts';
import { until } from '../raw-client.ts';
import { type Device, secure, startCloudWorld } from './device.ts';

// The broker as seen by the package mqtt.

const world = shared(await startCloudWorld());

const ofDevice = ({ serial }: Device, { cloud } = world) => cloud.received().filter(({ client }) => client === serial);
const texts = (device: Device, at = world) =>
  ofDevice(device, at).map(({ payload }) => Buffer.from(payload).toString());
const closed = ({ serial }: Device) =>
  world.cloud.broker
    .closed()
    .filter(({ clientId }) => clientId === serial)
    .map(({ reason }) => reason);

describe('messages of a device', () => {
  it('are kept in order with client, topic, payload and QoS', async () => {
    await using device = await world.join();
    const payload = Buffer.from([0, 255, 10, 195]);
    await device.publish('telemetry', payload);
    await device.client.publishAsync(device.topic('records'), 'two', { qos: 0 });
    await until(() => ofDevice(device).length === 2);
    expect(ofDevice(device)).toMatchObject([
      { topic: device.topic('telemetry'), qos: 1 },
      { topic: device.topic('records'), qos: 0 },
    ]);
    expect(Buffer.from(ofDevice(device)[0]?.payload ?? [])).toEqual(payload);
  });

  it('include the last will of a lost connection, and not that of an orderly end', async () => {
    const will = { topic: 'gw/SIM-0001/presence', payload: Buffer.from('gone'), qos: 1, retain: false } as const;
    const lost = await world.connect({ will });
    lost.client.stream.destroy();
    await until(() => texts(lost).length === 1);
    const ended = await world.connect({ will });
    await ended.client.endAsync(false);
    await ended.closed;
    await until(() => world.cloud.broker.connected() === 0);
    expect(texts(lost)).toEqual(['gone']);
  });

  it('are kept up to 10,000, the latest', { tags: 'large' }, async () => {
    await using own = await startCloudWorld({ cloud: { limits: { maxPublishesPerSecond: 1e9, maxInFlight: 1e9 } } });
    await using device = await own.join();
    for (let i = 0; i < 10_000; i += 1) device.client.publish(device.topic('telemetry'), String(i));
    await device.publish('telemetry', 'last');
    await until(() => texts(device, own).at(-1) === 'last');
    expect([texts(device, own).length, texts(device, own)[0]]).toEqual([10_000, '1']);
  });
});

describe('sessions', () => {
  it('survive a restart of the broker with subscriptions, what was sent, and what was not acknowledged', async () => {
    const first = await world.join();
    const again = () => world.connect({}, first.serial);
    expect(first.sessionPresent()).toBe(false);
    await first.subscribe('stop');
    await world.cloud.restart();
    await first.closed;
    await world.cloud.stop({ id: 'while-away', serial: first.serial });
    const second = await again();
    expect(second.sessionPresent()).toBe(true);
    expect(await second.next('stop')).toEqual({ id: 'while-away' });
    second.client.handleMessage = () => {};
    await world.cloud.stop({ id: 'unacknowledged', serial: first.serial });
    expect(await second.next('stop', 1)).toEqual({ id: 'unacknowledged' });
    await world.cloud.restart();
    await using third = await again();
    expect(await third.next('stop')).toEqual({ id: 'unacknowledged' });
    // Only a copy is marked as one, and what waited is no retained message.
    expect([second, third].map(({ received }) => received.map(({ dup, retain }) => [dup, retain]))).toEqual([
      [
        [false, false],
        [false, false],
      ],
      [[true, false]],
    ]);
  });

  it('gives out a retained message that waited in the session as a new one, and once more as retained', async () => {
    const first = await world.join();
    await first.subscribe('stop');
    await world.cloud.restart();
    await first.closed;
    await world.cloud.send(first.topic('stop'), '{"id":"kept"}', { retain: true });
    await using second = await world.connect({ clean: false }, first.serial);
    await second.subscribe('stop');
    await second.next('stop', 1);
    expect(second.received.map(({ dup, retain }) => [dup, retain])).toEqual([
      [false, false],
      [false, true],
    ]);
  });

  it('waits with a message until the broker is back', async () => {
    await using device = await world.join({ clean: true });
    const restarted = world.cloud.restart();
    const sent = world.cloud.send(device.topic('presence'), 'x');
    await Promise.all([restarted, sent, device.closed]);
    await using later = await world.join({ clean: true });
    expect(later.client.connected).toBe(true);
  });

  it('has one connection per client id: the second displaces the first', async () => {
    await using first = await world.join();
    await using second = await world.connect({}, first.serial);
    await first.closed;
    await second.publish('telemetry', 'second');
    expect(texts(second)).toEqual(['second']);
  });
});

describe('what the cloud sends', () => {
  it('is retained on request, and then marked as retained at a later subscription', async () => {
    await using device = await world.join();
    const { serial } = device;
    await world.cloud.send(device.topic('stop'), '{"id":"old"}', { retain: true });
    await device.subscribe('stop');
    await device.next('stop');
    const stop = { id: 'new', reason: 'Übung', by: 'A. Person' };
    await world.cloud.stop({ ...stop, serial });
    expect(await device.next('stop', 1)).toEqual(stop);
    expect(device.received.map(({ retain }) => retain)).toEqual([true, false]);
  });

  it('may be larger than a device may send, and reaches only the device that it is for', async () => {
    await using own = await world.join();
    await using other = await world.join();
    await own.subscribe('stop');
    await other.subscribe('stop');
    await world.cloud.send(other.topic('stop'), JSON.stringify({ id: 'x'.repeat(300_000) }));
    expect(String((await other.next('stop')).id)).toHaveLength(300_000);
    expect(own.received).toEqual([]);
  });
});

describe('limits and policy of the broker', () => {
  type Act = (device: Device) => unknown;
  const publish =
    (topic: string | ((device: Device) => string), payload: string | Buffer = 'x', retain = false): Act =>
    (device) =>
      device.client.publish(typeof topic === 'string' ? topic : topic(device), payload, { qos: 1, retain });
  const filters = (count: number) => Array.from({ length: count }, (_, i) => `f${i}`);

  it.each<[string, Act, string]>([
    ['a payload above 128 KiB', publish((it) => it.topic('a'), Buffer.alloc(131_073)), 'a payload of 131073 bytes'],
    ['9 filters in one SUBSCRIBE', (it) => it.subscribe(...filters(9)), '9 filters in one SUBSCRIBE'],
    ['a PUBLISH without its serial number', publish('gw/OTHER/a'), "a PUBLISH to the topic 'gw/OTHER/a'"],
    ['its serial number inside of an element', publish((it) => `gw/x${it.serial}/a`), 'a PUBLISH to the topic'],
    ['too many slashes', publish((it) => it.topic('1/2/3/4/5/6/7')), 'a PUBLISH to a topic with more than 7 slashes'],
    ['a long topic', publish((it) => it.topic('x'.repeat(250))), 'a PUBLISH to a topic of more than 256 bytes'],
    ['#', ({ client }) => client.subscribe('#'), 'without its serial number'],
    ['any device', ({ client }) => client.subscribe('gw/+/stop'), 'without its serial number'],
    ['another device', ({ client }) => client.subscribe('gw/OTHER/#'), 'without its serial number'],
    ['a retained PUBLISH', publish((it) => it.topic('presence'), 'x', true), 'a retained PUBLISH'],
  ])('closes a connection for %s', async (_title, act, reason) => {
    await using device = await world.join();
    void Promise.resolve(act(device)).catch(() => {});
    await device.closed;
    expect(closed(device)).toEqual([expect.stringContaining(reason)]);
    expect(ofDevice(device)).toEqual([]);
  });

  it('accepts exactly 128 KiB, 8 filters and 50 subscriptions, and closes a connection for the 51st', async () => {
    await using device = await world.join();
    await device.publish('telemetry', Buffer.alloc(128 * 1024, 'a'));
    expect(texts(device)).toHaveLength(1);
    const all = filters(50);
    for (let at = 0; at < 50; at += 8) await device.subscribe(...all.slice(at, at + 8));
    // Not a further one.
    await device.subscribe('f0');
    device.client.subscribe(device.topic('f50'));
    await device.closed;
    expect(closed(device)).toEqual(['51 subscriptions']);
  });

  it('refuses a last will that is retained, or one of another device', async () => {
    const will = { topic: 'gw/OTHER/presence', payload: Buffer.from('x'), qos: 1, retain: false } as const;
    const before = world.cloud.broker.closed().length;
    for (const refused of [{ ...will, topic: 'gw/SIM-0001/presence', retain: true }, will]) {
      await expect(world.connect({ will: refused })).rejects.toThrow('closed before CONNACK');
    }
    const reasons = world.cloud.broker.closed().slice(before);
    expect(reasons.map(({ reason }) => reason)).toEqual([
      'a last will that is retained',
      "a last will to the topic 'gw/OTHER/presence' without its serial number",
    ]);
  });

  it('does not answer QoS 2', async () => {
    await using device = await world.join();
    let isAnswered = false;
    device.client.publish(device.topic('telemetry'), 'two', { qos: 2 }, () => {
      isAnswered = true;
    });
    await device.publish('telemetry', 'one');
    expect([isAnswered, texts(device)]).toEqual([false, ['one']]);
    expect(world.cloud.broker.discarded()).toMatchObject({ 'qos-2': 1 });
  });

  it('discards what exceeds the rate without PUBACK, and keeps the connection', async () => {
    await using own = await startCloudWorld({ cloud: { limits: { maxPublishesPerSecond: 20 } } });
    await using device = await own.join();
    let acknowledged = 0;
    for (let i = 0; i < 50; i += 1) {
      device.client.publish(device.topic('telemetry'), String(i), { qos: 1 }, (error) => {
        acknowledged += error ? 0 : 1;
      });
    }
    await until(() => own.cloud.broker.discarded().rate === 30);
    await until(() => acknowledged === 20);
    expect(texts(device, own)).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
    expect(device.client.connected).toBe(true);
  });

  it('discards what exceeds the unacknowledged publishes', async () => {
    await using own = await startCloudWorld({ cloud: { limits: { maxInFlight: 3 } } });
    await using device = await own.join();
    own.sim.setFault('cloud-puback-lost', true);
    for (let i = 0; i < 5; i += 1) device.client.publish(device.topic('telemetry'), String(i), { qos: 1 });
    await until(() => own.cloud.broker.discarded()['in-flight'] === 2);
    expect(texts(device, own)).toEqual(['0', '1', '2']);
  });

  it('is closed for good at the end of the simulator, also during a restart of the broker', async () => {
    const own = await startCloudWorld();
    const { port } = own.cloud.places.mqtt;
    const restarting = own.cloud.restart();
    await own[Symbol.asyncDispose]();
    await restarting.catch(() => {});
    await own.cloud.restart();
    await expect(secure(port, {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
