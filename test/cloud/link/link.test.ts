import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate, type Packet } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import type { LinkIdentity } from '../../../src/lib/cloud/link/model.ts';
import { fresh } from '../fresh.ts';
import { during } from '../stepped-clock.ts';
import { atLastSuback, FILTERS, fakeBroker, identity, linked, runLink, SERIAL } from './world.ts';

const subscriptions = (packets: readonly Packet[]) =>
  packets
    .filter((packet) => packet.cmd === 'subscribe')
    .map((packet) => packet.subscriptions.map(({ topic, qos }) => [topic, qos]));

const it = test.extend('running', fresh(linked));

describe('the cloud link connects', () => {
  it('with a kept session, its will, and the stop in the first of the SUBSCRIBE packets of at most eight filters', async ({
    running,
  }) => {
    expect(running.view()).toMatchObject({ status: 'not-checked', connection: null });
    const connection = await running.connected();
    expect(connection.path).toBe('direct');
    expect(running.broker.clients[0]?.connect).toMatchObject({
      ...{ clientId: SERIAL, clean: false, protocolVersion: 4, keepalive: 30 },
      will: { topic: `gw/${SERIAL}/presence`, qos: 1, retain: false },
    });
    expect(subscriptions(running.broker.packets())).toEqual([
      FILTERS.slice(0, 8).map((filter) => [filter, 1]),
      FILTERS.slice(8).map((filter) => [filter, 1]),
    ]);
    expect(FILTERS[0]).toContain('/stop');
    expect(running.view()).toMatchObject({
      status: 'connected',
      detail: `connected to 127.0.0.1:${running.broker.port}`,
      connection: {
        ...{ path: 'direct', alpn: null, tls: 'TLSv1.3', sessionPresent: false },
        certificate: { fingerprintSha256: identity.fingerprintSha256 },
      },
      ...{ identity: 'enrolled', connects: 1, losses: 0, retryInMs: null },
    });
    await running.stop();
    expect(running.broker.packets().at(-1)?.cmd).toBe('disconnect');
    expect(running.view()).toMatchObject({ connection: null });
    expect(running.view().status).not.toBe('connected');
    expect(running.changes).toEqual([connection, null]);
  });

  it('and counts as connected only when every SUBACK has arrived', async () => {
    let second: (() => void) | undefined;
    await using running = await linked(
      atLastSuback((client, suback) => {
        second = () => client.send(suback);
      }),
    );
    await running.clock.until('second SUBSCRIBE', () => second !== undefined);
    await running.clock.advance(500);
    expect(running.view().status).toBe('not-checked');
    expect(running.link.connection()).toBeNull();
    second?.();
    await running.connected();
  });

  it('and says so when the broker grants a subscription with QoS 0 only', async () => {
    await using running = await linked((packet, client) => {
      if (packet.cmd !== 'subscribe') return false;
      client.send({
        cmd: 'suback',
        messageId: packet.messageId ?? 0,
        granted: packet.subscriptions.map((_each, index) => (index === 0 ? 0 : 1)),
      });
      return true;
    });
    await running.connected();
    const { detail, remedy, connection, troubles } = running.view();
    expect(detail).toContain(`QoS 0 only for ${FILTERS[0]}, ${FILTERS[8]}, so messages`);
    expect(remedy).toContain('QoS 1');
    expect(connection?.withQos0).toEqual([FILTERS[0], FILTERS[8]]);
    expect(troubles).toMatchObject([{ kind: 'qos-0' }]);
  });

  it('and says that it is not enrolled, then connects without a restart', async () => {
    let installed: LinkIdentity | null = null;
    await using running = await linked(undefined, { readIdentity: async () => installed });
    const view = await running.until('not enrolled', ({ identity: kind }) => kind === 'none');
    expect(view).toMatchObject({
      status: 'not-checked',
      detail: 'not enrolled',
      remedy: 'Enrol this device: gw enrol',
    });
    installed = identity;
    await running.connected();
    // An identity that is gone ends the connection.
    installed = null;
    await running.until('ended', ({ connection }) => connection === null);
    expect(running.view()).toMatchObject({ identity: 'none', detail: 'not enrolled', losses: 0 });
    expect(running.broker.packets().at(-1)?.cmd).toBe('disconnect');
  });

  it('to the host of the enrolment when the site file names none, and shows a difference of host and region', async () => {
    const elsewhere = { ...identity, endpoint: 'broker.us-east-1.example.com' };
    await using running = await linked();
    await running.connected();
    expect(running.view()).toMatchObject({ hostDifference: null, regionDifference: null, troubles: [], remedy: null });
    await using other = runLink({
      readIdentity: async () => elsewhere,
      port: running.broker.port,
      mqtt: { host: '127.0.0.1' },
    });
    await other.connected();
    expect(other.view()).toMatchObject({
      hostDifference: { site: '127.0.0.1', enrolment: 'broker.us-east-1.example.com' },
      regionDifference: null,
      troubles: [{ kind: 'host-difference' }],
      detail: expect.stringMatching(/^connected to .*; the site file has the broker 127\.0\.0\.1/),
      remedy: expect.stringContaining('cloud.mqtt.host'),
    });
    await using named = runLink({
      readIdentity: async () => elsewhere,
      lookup: async () => {
        throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' });
      },
    });
    const view = await named.until('failed', ({ failures }) => failures.fallback !== null);
    expect(view).toMatchObject({
      status: 'connecting',
      regionDifference: { host: 'broker.us-east-1.example.com', region: 'us-east-1', expected: 'eu-central-1' },
      failures: { direct: { step: 'name' }, fallback: { step: 'name' } },
      troubles: [{ kind: 'region-difference' }],
      remedy: expect.stringContaining('cloud.region'),
    });
    expect(view.ask).toContain('resolve broker.us-east-1.example.com');
  });
});

describe('the kept session', () => {
  it('is subscribed again in full, and loses filters of an earlier site file', async () => {
    await using broker = await fakeBroker(undefined, { sessionPresent: true });
    const ports = { port: broker.port };
    await using first = runLink({ ...ports, filters: ['gw/old/stop', 'gw/x'] });
    await first.connected();
    await first.stop();
    await using second = runLink({ ...ports, filters: ['gw/new/stop', 'gw/x'], dir: first.dir });
    await second.connected();
    const packets = broker.clients[1]?.received ?? [];
    expect(subscriptions(packets)).toEqual([
      [
        ['gw/new/stop', 1],
        ['gw/x', 1],
      ],
    ]);
    expect(packets.find(({ cmd }) => cmd === 'unsubscribe')).toMatchObject({ unsubscriptions: ['gw/old/stop'] });
    await second.stop();
    const remembered = JSON.parse(readFileSync(join(first.dir, 'cloud-link.json'), 'utf8'));
    expect(remembered).toEqual({ format: 'gw/cloud-link/1', path: 'direct', filters: ['gw/new/stop', 'gw/x'] });
  });
});

describe('a session', () => {
  it.each([true, false])('that the broker had before is none that it makes anew: %s', async (sessionPresent) => {
    const events: string[] = [];
    const stop: Packet = { cmd: 'publish', topic: 'gw/x', payload: '', qos: 1, messageId: 1, dup: false, retain: true };
    // Sent with the first acknowledged subscription, as a broker does with what is retained.
    const hook = atLastSuback((client, suback) => {
      client.send(suback);
      client.send(stop);
    });
    const onMessage = () => void events.push('message');
    const onNewSession = () => void events.push('new session');
    await using running = await linked(hook, { onMessage, onNewSession }, { sessionPresent });
    await running.connected();
    await running.until('the message', () => events.includes('message'));
    expect(events).toEqual(sessionPresent ? ['message'] : ['new session', 'message']);
  });
});

describe('received messages', () => {
  it('are handed on also when what follows in the same segment ends the connection', async ({ running }) => {
    await running.connected();
    const stop: Packet = {
      ...{ cmd: 'publish', topic: `gw/${SERIAL}/stop`, payload: '{"id":"a"}', qos: 1, messageId: 1, dup: false },
      retain: false,
    };
    // DISCONNECT, which a broker with MQTT 5 sends.
    running.broker.clients[0]?.socket.write(Buffer.concat([generate(stop), Buffer.from([0xe0, 0])]));
    await running.until('lost', ({ losses }) => losses === 1);
    expect(running.messages.map(({ topic }) => topic)).toEqual([`gw/${SERIAL}/stop`]);
  });

  it('are handed on in order, each acknowledged after it, and an oversized one without its payload', async () => {
    const order: string[] = [];
    await using running = await linked(undefined, {
      onMessage({ topic, payload, retain, oversizedBytes }) {
        const acked = running.broker.packets().filter(({ cmd }) => cmd === 'puback').length;
        order.push(`${topic} ${payload.length} ${retain} ${oversizedBytes} after ${acked}`);
        if (topic === 'b') throw new Error('a defect of the receiver');
        return undefined;
      },
    });
    await running.connected();
    const [client] = running.broker.clients;
    const message = (messageId: number, topic: string, bytes: number, retain = false) =>
      client?.send({ cmd: 'publish', messageId, topic, payload: Buffer.alloc(bytes), qos: 1, retain, dup: false });
    message(1, 'a', 3, true);
    message(2, 'b', 3);
    message(3, 'big', 300_000);
    message(4, 'd', 128 * 1024);
    const acks = () =>
      running.broker.packets().flatMap((packet) => (packet.cmd === 'puback' ? [packet.messageId] : []));
    await running.clock.until('all acknowledged', () => acks().length === 4);
    expect(acks()).toEqual([1, 2, 3, 4]);
    expect(order.map((line) => line.replace(/ after \d/, ''))).toEqual([
      'a 3 true null',
      'b 3 false null',
      'big 0 false 300000',
      'd 131072 false null',
    ]);
    expect(order[0]).toContain('after 0');
    expect(running.view().status).toBe('connected');
    expect(running.warnings.map(({ message: text }) => text)).toContain(
      'a received cloud message could not be handled',
    );
  });
});

describe('a received message that cannot be saved', () => {
  it('holds up later ones for 3 s, is acknowledged once it is saved, and ends nothing', async () => {
    const disk = Promise.withResolvers<void>();
    const received: string[] = [];
    await using running = await linked(undefined, {
      onMessage({ topic }) {
        received.push(topic);
        return topic === 'stop' ? disk.promise : undefined;
      },
    });
    const connection = await running.connected();
    const [client] = running.broker.clients;
    const send = (messageId: number, topic: string) =>
      client?.send({ cmd: 'publish', messageId, topic, payload: 'x', qos: 1, retain: false, dup: false });
    const acks = () =>
      running.broker.packets().flatMap((packet) => (packet.cmd === 'puback' ? [packet.messageId] : []));
    send(1, 'a');
    send(258, 'stop');
    send(3, 'b');
    await running.clock.until('received', () => received.length === 3);
    await running.clock.advance(2_000);
    expect(acks()).toEqual([1]);
    await running.clock.until('the later one', () => acks().length === 2);
    expect(acks()).toEqual([1, 3]);
    // Messages, keep-alive and what is published go on.
    send(4, 'stop');
    send(5, 'c');
    await running.clock.advance(40_000);
    await connection.publish('t', Buffer.from('x'));
    expect([acks(), connection.ended.aborted]).toEqual([[1, 3, 5], false]);
    disk.resolve();
    await running.clock.until('saved', () => acks().length === 5);
    expect(acks()).toEqual([1, 3, 5, 258, 4]);
  });

  it('is not acknowledged on a connection that follows without being delivered again', async () => {
    const disk = Promise.withResolvers<void>();
    await using running = await linked(undefined, { onMessage: () => disk.promise });
    await running.connected();
    const [client] = running.broker.clients;
    client?.send({ cmd: 'publish', messageId: 7, topic: 'stop', payload: 'x', qos: 1, retain: false, dup: false });
    await running.clock.advance(500);
    client?.socket.destroy();
    await running.until('the next connection', ({ connects }) => connects === 2);
    disk.resolve();
    await running.clock.advance(500);
    expect(running.broker.packets().filter(({ cmd }) => cmd === 'puback')).toEqual([]);
  });
});

describe('a published message', () => {
  it('resolves on PUBACK, in the order of the calls', async ({ running }) => {
    const connection = await running.connected();
    await Promise.all(Array.from({ length: 50 }, (_, index) => connection.publish('t', Buffer.from(`${index}`))));
    const payloads = running.broker
      .packets()
      .flatMap((packet) => (packet.cmd === 'publish' ? [String(packet.payload)] : []));
    expect(payloads).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`));
  });

  it('without PUBACK ends the connection after 20 s, also when later ones are acknowledged, and rejects', async () => {
    let isLossy = true;
    await using running = await linked(
      (packet) => isLossy && packet.cmd === 'publish' && String(packet.payload) === 'lost',
    );
    const connection = await running.connected();
    const beganMs = running.clock.monotonicMs();
    const lost = connection.publish('t', Buffer.from('lost'));
    const rejected = expect(lost).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    const others = running.clock.every(1_000, () => void connection.publish('t', Buffer.from('later')).catch(() => {}));
    await running.clock.until('the end', () => connection.ended.aborted);
    others[Symbol.dispose]();
    await rejected;
    const tookMs = running.clock.monotonicMs() - beganMs;
    expect(tookMs).toBeGreaterThanOrEqual(20_000);
    expect(tookMs).toBeLessThan(25_000);
    expect(running.view()).toMatchObject({ losses: 1, connection: null });
    expect(running.view().detail).toContain('no PUBACK received for 20 s');
    await expect(connection.publish('t', Buffer.from('late'))).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    isLossy = false;
    const again = await running.connected();
    await again.publish('t', Buffer.from('lost'));
    expect(running.view().failures.direct).toBeNull();
  });

  it('may wait longer in a queue that makes progress', async () => {
    const waiting: (() => void)[] = [];
    await using running = await linked((packet, client) => {
      if (packet.cmd !== 'publish') return false;
      waiting.push(() => client.send({ cmd: 'puback', messageId: packet.messageId ?? 0 }));
      return true;
    });
    const connection = await running.connected();
    const sent = Array.from({ length: 6 }, (_, index) => connection.publish('t', Buffer.from(`${index}`)));
    // One PUBACK every 12 s: the last message waits for 72 s.
    const acking = running.clock.every(12_000, () => waiting.shift()?.());
    await during(running.clock, Promise.all(sent));
    acking[Symbol.dispose]();
    expect(running.view()).toMatchObject({ status: 'connected', losses: 0 });
  });
});

describe('a silent broker', () => {
  it('is detected by the keep-alive: the link is not connected any more and connects again', async () => {
    let isSilent = true;
    await using running = await linked((packet) => isSilent && packet.cmd === 'pingreq');
    const connection = await running.connected();
    await running.clock.until('the end', () => connection.ended.aborted);
    expect(running.view().detail).toMatch(/no answer to PINGREQ, nothing received for 45 s/);
    isSilent = false;
    await running.connected();
    expect(running.view()).toMatchObject({ connects: 2, losses: 1 });
    await running.clock.advance(35_000);
    expect(running.view()).toMatchObject({ status: 'connected', connects: 2 });
    expect(running.view().connection?.lastPacketAgoMs).toBeLessThan(45_000);
  });
});
