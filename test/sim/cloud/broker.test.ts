import { describe, expect, it } from 'vitest';
import { until } from '../raw-client.ts';
import { type CloudSim, type Device, secure, startCloudSim } from './device.ts';

// The broker as seen by the package mqtt.

const topic = (name: string, serial = 'SIM-0001') => `gw/${serial}/${name}`;
const texts = (world: CloudSim, name: string) =>
  world.cloud
    .received()
    .filter((message) => message.topic === topic(name))
    .map(({ payload }) => Buffer.from(payload).toString());

/** Whether the broker closes the connection after this; the reason that it noted. */
async function closingReason(world: CloudSim, act: (device: Device) => unknown): Promise<string | undefined> {
  await using device = await world.connect();
  await act(device);
  await device.closed;
  return world.cloud.broker.closed().at(-1)?.reason;
}

describe('messages of a device', () => {
  it('are kept in order with client, topic, payload and QoS', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    const payload = Buffer.from([0, 255, 10, 195]);
    await device.client.publishAsync(topic('telemetry'), payload, { qos: 1 });
    await device.client.publishAsync(topic('records'), 'two', { qos: 0 });
    await until(() => world.cloud.received().length === 2);
    expect(world.cloud.received()).toMatchObject([
      { client: 'SIM-0001', topic: topic('telemetry'), qos: 1 },
      { client: 'SIM-0001', topic: topic('records'), qos: 0 },
    ]);
    expect(Buffer.from(world.cloud.received()[0]?.payload ?? [])).toEqual(payload);
  });

  it('include the last will of a lost connection, and not that of an orderly end', async () => {
    await using world = await startCloudSim();
    const will = { topic: topic('presence'), payload: Buffer.from('gone'), qos: 1, retain: false } as const;
    const lost = await world.connect({ will });
    lost.client.stream.destroy();
    await until(() => texts(world, 'presence').length === 1);
    const ended = await world.connect({ will });
    await ended.client.endAsync(false);
    await ended.closed;
    await until(() => world.cloud.broker.connected() === 0);
    expect(texts(world, 'presence')).toEqual(['gone']);
  });

  it('are kept up to 10,000, the latest', async () => {
    await using world = await startCloudSim({ cloud: { limits: { maxPublishesPerSecond: 1e9, maxInFlight: 1e9 } } });
    await using device = await world.connect();
    for (let i = 0; i < 10_000; i += 1) device.client.publish(topic('telemetry'), String(i));
    await device.client.publishAsync(topic('telemetry'), 'last', { qos: 1 });
    await until(() => texts(world, 'telemetry').at(-1) === 'last');
    expect(world.cloud.received()).toHaveLength(10_000);
    expect(texts(world, 'telemetry')[0]).toBe('1');
  });
});

describe('sessions', () => {
  it('survive a restart of the broker with their subscriptions and what was sent meanwhile', async () => {
    await using world = await startCloudSim();
    const first = await world.connect();
    expect(first.sessionPresent()).toBe(false);
    await first.client.subscribeAsync(topic('stop'), { qos: 1 });
    await world.cloud.restart();
    await first.closed;
    await world.cloud.stop({ id: 'while-away' });
    await using second = await world.connect();
    expect(second.sessionPresent()).toBe(true);
    expect(await second.next(topic('stop'))).toEqual({ id: 'while-away' });
    await world.cloud.stop({ id: 'after' });
    expect(await second.next(topic('stop'), 1)).toEqual({ id: 'after' });
  });

  it('deliver again after a restart what the device had not acknowledged', async () => {
    await using world = await startCloudSim();
    const first = await world.connect();
    await first.client.subscribeAsync(topic('stop'), { qos: 1 });
    first.client.handleMessage = () => {};
    await world.cloud.stop({ id: 'unacknowledged' });
    await until(() => first.received.length === 1);
    await world.cloud.restart();
    await using second = await world.connect();
    expect(await second.next(topic('stop'))).toEqual({ id: 'unacknowledged' });
  });

  it('waits with a message until the broker is back', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect({ clean: true });
    const restarted = world.cloud.restart();
    const sent = world.cloud.send(topic('presence'), 'x');
    await Promise.all([restarted, sent, device.closed]);
    await using later = await world.connect({ clean: true });
    expect(later.client.connected).toBe(true);
  });

  it('has one connection per client id: the second displaces the first', async () => {
    await using world = await startCloudSim();
    await using first = await world.connect();
    await using second = await world.connect();
    await first.closed;
    await second.client.publishAsync(topic('telemetry'), 'second', { qos: 1 });
    expect(texts(world, 'telemetry')).toEqual(['second']);
  });
});

describe('the end of the simulator', () => {
  it('is final, also during a restart of the broker', async () => {
    const world = await startCloudSim();
    const { port } = world.cloud.places.mqtt;
    const restarting = world.cloud.restart();
    await world[Symbol.asyncDispose]();
    await restarting.catch(() => {});
    await world.cloud.restart();
    await expect(secure(port, {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('what the cloud sends', () => {
  it('is retained on request, and then marked as retained at a later subscription', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    await world.cloud.send(topic('stop'), '{"id":"old"}', { retain: true });
    await device.client.subscribeAsync(topic('stop'), { qos: 1 });
    await device.next(topic('stop'));
    await world.cloud.stop({ id: 'new', reason: 'Übung', by: 'A. Person' });
    expect(await device.next(topic('stop'), 1)).toEqual({ id: 'new', reason: 'Übung', by: 'A. Person' });
    expect(device.received.map(({ retain }) => retain)).toEqual([true, false]);
  });

  it('may be larger than a device may send', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    await device.client.subscribeAsync(topic('stop'), { qos: 1 });
    await world.cloud.send(topic('stop'), JSON.stringify({ id: 'x'.repeat(3_000_000) }));
    expect(String((await device.next(topic('stop'))).id)).toHaveLength(3_000_000);
  });

  it('reaches only the device that it is for', async () => {
    await using world = await startCloudSim();
    await using own = await world.connect();
    await using other = await world.connect({}, 'SN0007');
    await own.client.subscribeAsync(topic('stop'), { qos: 1 });
    await other.client.subscribeAsync(topic('stop', 'SN0007'), { qos: 1 });
    await world.cloud.stop({ id: 'other', serial: 'SN0007' });
    expect(await other.next(topic('stop', 'SN0007'))).toEqual({ id: 'other' });
    expect(own.received).toEqual([]);
  });
});

describe('limits and policy of the broker', () => {
  it('closes a connection for a payload above 128 KiB, and accepts exactly 128 KiB', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    await device.client.publishAsync(topic('telemetry'), Buffer.alloc(128 * 1024, 'a'), { qos: 1 });
    expect(
      await closingReason(world, ({ client }) => client.publish(topic('telemetry'), Buffer.alloc(128 * 1024 + 1))),
    ).toBe('a payload of 131073 bytes');
    expect(texts(world, 'telemetry')).toHaveLength(1);
  });

  it('closes a connection for more than 8 filters in one SUBSCRIBE, and accepts 8', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    const filters = (count: number) => Array.from({ length: count }, (_, i) => topic(`f${i}`));
    await device.client.subscribeAsync(filters(8), { qos: 1 });
    const subscribe = (count: number) => (other: Device) => other.client.subscribe(filters(count), { qos: 1 });
    expect(await closingReason(world, subscribe(9))).toBe('9 filters in one SUBSCRIBE');
  });

  it('closes a connection for the 51st subscription', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    for (let i = 0; i < 50; i += 1) await device.client.subscribeAsync(topic(`f${i}`), { qos: 1 });
    // Not a further one.
    await device.client.subscribeAsync(topic('f0'), { qos: 1 });
    device.client.subscribe(topic('f50'));
    await device.closed;
    expect(world.cloud.broker.closed()).toEqual([{ clientId: 'SIM-0001', reason: '51 subscriptions' }]);
  });

  it.each([
    ['a PUBLISH without its serial number', 'gw/SN0007/telemetry', "a PUBLISH to the topic 'gw/SN0007/telemetry'"],
    ['a serial number inside of an element', 'gw/xSIM-0001/telemetry', 'a PUBLISH to the topic'],
    ['too many slashes', 'gw/SIM-0001/1/2/3/4/5/6/7', 'a PUBLISH to a topic with more than 7 slashes'],
    ['a long topic', `gw/SIM-0001/${'x'.repeat(250)}`, 'a PUBLISH to a topic of more than 256 bytes'],
  ])('closes a connection for %s', async (_title, name, reason) => {
    await using world = await startCloudSim();
    expect(await closingReason(world, ({ client }) => client.publish(name, 'x', { qos: 1 }))).toContain(reason);
    expect(world.cloud.received()).toEqual([]);
  });

  it.each(['#', 'gw/+/stop', 'gw/SN0007/#'])('closes a connection that subscribes to %s', async (filter) => {
    await using world = await startCloudSim();
    expect(await closingReason(world, ({ client }) => client.subscribe(filter))).toContain('without its serial number');
  });

  it('closes a connection for a retained PUBLISH, and refuses such a last will or one of another device', async () => {
    await using world = await startCloudSim();
    const publish = ({ client }: Device) => client.publish(topic('presence'), 'x', { retain: true, qos: 1 });
    expect(await closingReason(world, publish)).toBe('a retained PUBLISH');
    const payload = Buffer.from('x');
    const retained = { topic: topic('presence'), payload, qos: 1, retain: true } as const;
    await expect(world.connect({ will: retained })).rejects.toThrow('closed before CONNACK');
    const foreign = { ...retained, topic: 'gw/SN0007/presence', retain: false };
    await expect(world.connect({ will: foreign })).rejects.toThrow('closed before CONNACK');
    expect(world.cloud.broker.closed().map(({ reason }) => reason)).toEqual([
      'a retained PUBLISH',
      'a last will that is retained',
      "a last will to the topic 'gw/SN0007/presence' without its serial number",
    ]);
  });

  it('does not answer QoS 2', async () => {
    await using world = await startCloudSim();
    await using device = await world.connect();
    let isAnswered = false;
    device.client.publish(topic('telemetry'), 'two', { qos: 2 }, () => {
      isAnswered = true;
    });
    await device.client.publishAsync(topic('telemetry'), 'one', { qos: 1 });
    expect([isAnswered, texts(world, 'telemetry')]).toEqual([false, ['one']]);
    expect(world.cloud.broker.discarded()).toMatchObject({ 'qos-2': 1 });
  });

  it('discards what exceeds the rate without PUBACK, and keeps the connection', async () => {
    await using world = await startCloudSim({ cloud: { limits: { maxPublishesPerSecond: 20 } } });
    await using device = await world.connect();
    let acknowledged = 0;
    for (let i = 0; i < 50; i += 1) {
      device.client.publish(topic('telemetry'), String(i), { qos: 1 }, (error) => {
        acknowledged += error ? 0 : 1;
      });
    }
    await until(() => world.cloud.broker.discarded().rate === 30);
    await until(() => acknowledged === 20);
    expect(texts(world, 'telemetry')).toEqual(Array.from({ length: 20 }, (_, i) => String(i)));
    expect(device.client.connected).toBe(true);
  });

  it('discards what exceeds the unacknowledged publishes', async () => {
    await using world = await startCloudSim({ cloud: { limits: { maxInFlight: 3 } } });
    await using device = await world.connect();
    world.sim.setFault('cloud-puback-lost', true);
    for (let i = 0; i < 5; i += 1) device.client.publish(topic('telemetry'), String(i), { qos: 1 });
    await until(() => world.cloud.broker.discarded()['in-flight'] === 2);
    expect(texts(world, 'telemetry')).toEqual(['0', '1', '2']);
  });
});
