import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/lib/lifecycle/index.ts';
import type { Endpoint } from '../../../src/lib/net/index.ts';
import { compareMac, findChassis } from '../../../src/lib/toolkit/chassis/address.ts';
import { chassisAddressSchema } from '../../../src/lib/toolkit/chassis/chassis.result.ts';
import { answeringPeer, closedPort, deviceInfo, fakeChassis, httpAnswer, rawPeer } from '../../chassis/peers.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { slowDialer, slowLink } from '../../net/slow-dialer.ts';
import { context, has, toolkitOf } from '../kit.ts';

async function find(endpoint: Endpoint, mac = false, more = '', clock: Clock = createFakeClock()) {
  const result = await findChassis(toolkitOf(endpoint, { more, clock }), { mac }, context());
  expect(result).toEqual(chassisAddressSchema.parse(result));
  return result;
}

describe('the address check of the chassis', () => {
  it('reports connected, with name, port, serial number and software', async () => {
    await using chassis = await fakeChassis();
    expect(await find(chassis.endpoint)).toMatchObject({
      state: 'connected',
      failure: null,
      tried: { address: '127.0.0.1', port: chassis.endpoint.port, action: 'GET /device/info' },
      name: { kind: 'address', addresses: ['127.0.0.1'] },
      tcp: { verdict: 'ok' },
      serial: { verdict: 'ok', expected: 'SN-1', found: 'SN-1' },
      software: '2.12.3',
      mac: { verdict: 'not-applicable', detail: 'not requested (--check-mac)' },
      remedy: null,
    });
  });

  it('works for localhost too, which needs no DNS', async () => {
    await using chassis = await fakeChassis();
    const result = await find({ host: 'localhost', port: chassis.endpoint.port });
    expect(result.state).toBe('connected');
    expect(result.name.kind).toBe('resolved');
    expect(result.name.addresses).toContain('127.0.0.1');
  });

  it('distinguishes each kind of failure, within two seconds', async () => {
    expect(await find(await closedPort())).toMatchObject({
      state: 'not-connected',
      failure: 'refused',
      tcp: { verdict: 'wrong' },
      serial: { verdict: 'not-checked', found: null },
      remedy: has('refuses the port'),
    });
    await using silent = await rawPeer(() => {});
    const late = await find(silent.endpoint, false, '', createPacedClock());
    expect(late.tookMs).toBeLessThan(2_000);
    expect(late).toMatchObject({
      state: 'not-connected',
      failure: 'no-answer',
      tcp: { verdict: 'ok' },
      remedy: has('The port is open'),
    });
    await using page = await answeringPeer(httpAnswer('<html>'));
    expect(await find(page.endpoint)).toMatchObject({
      failure: 'bad-answer',
      detail: 'answered with HTML instead of JSON',
      remedy: expect.not.stringContaining('gw chassis address'),
    });
    const clock = createPacedClock();
    await using dripping = await rawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = clock.every(50, () => socket.write(' '));
      socket.on('close', () => timer[Symbol.dispose]());
    });
    const cut = await find(dripping.endpoint, false, '', clock);
    expect(cut.state).toBe('not-connected');
    expect(cut.tookMs).toBeLessThan(2_000);
  });

  it('names another chassis, and one that is starting', async () => {
    await using chassis = await fakeChassis();
    chassis.serial = 'SN-2';
    expect(await find(chassis.endpoint)).toMatchObject({
      state: 'wrong-device',
      failure: 'wrong-device',
      serial: { verdict: 'wrong', found: 'SN-2' },
    });
    chassis.booting = 0.5;
    expect(await find(chassis.endpoint)).toMatchObject({
      state: 'starting',
      failure: null,
      detail: 'The chassis is starting, 50 % done.',
      serial: { verdict: 'not-checked' },
    });
  });

  it('does not compare hardware addresses inside this machine', async () => {
    await using chassis = await fakeChassis();
    const { mac } = await find(chassis.endpoint, true, '  mac: "02:00:00:00:00:01"\n');
    expect(mac).toMatchObject({ verdict: 'not-checked', expected: '02:00:00:00:00:01' });
    expect(mac.detail).toContain('a loopback address has no hardware address');
  });

  it('ends when the caller interrupts it', async () => {
    const ending = new AbortController();
    await using silent = await rawPeer((socket) => socket.once('data', () => ending.abort()));
    const interrupted = { ...context(), signal: ending.signal };
    await expect(findChassis(toolkitOf(silent.endpoint), {}, interrupted)).rejects.toThrow();
  });
});

describe('the hardware address', () => {
  const table = [
    { address: '192.0.2.7', mac: '02:00:00:00:00:01', device: 'eth0' },
    { address: '192.0.2.8', mac: null, device: 'eth0' },
  ];
  it.each([
    ['is that of the reservation', '02:00:00:00:00:01', ['192.0.2.7'], 'ok', '02:00:00:00:00:01'],
    ['is another one', '02:00:00:00:00:99', ['192.0.2.7'], 'wrong', '02:00:00:00:00:01'],
    ['is not compared without one in the site file', null, ['192.0.2.7'], 'not-checked', '02:00:00:00:00:01'],
    ['is unknown without an answer', '02:00:00:00:00:01', ['192.0.2.8'], 'not-checked', null],
    ['is unknown behind a router', '02:00:00:00:00:01', ['192.0.2.99'], 'not-checked', null],
    ['is unknown without an address', '02:00:00:00:00:01', [], 'not-checked', null],
  ] as const)('%s', (_, expected, addresses, verdict, found) => {
    expect(compareMac(expected, addresses, table)).toMatchObject({ verdict, found, expected });
  });
});

describe('over a slow SSH link', () => {
  const clock = createPacedClock();
  const findOver = (endpoint: Endpoint) =>
    findChassis({ ...toolkitOf(endpoint, { clock }), dialer: slowDialer() }, {}, context());

  it('an answer that is late by the link alone is an answer, and the link is named', async () => {
    await using late = await rawPeer((socket) => {
      socket.once('data', () => clock.after(2_300, () => socket.write(httpAnswer(JSON.stringify(deviceInfo())))));
    });
    expect(await findOver(late.endpoint)).toMatchObject({ state: 'connected', link: slowLink, remedy: null });
  });

  it('no answer is not blamed on the chassis, and no one is sent to its power switch', async () => {
    await using silent = await rawPeer(() => {});
    const result = await findOver(silent.endpoint);
    expect(result).toMatchObject({
      state: 'not-connected',
      failure: 'no-answer',
      tried: { slowLink: { medianMs: 300, longestMs: 400 } },
      remedy: has(/slow SSH link .* on the gateway itself/),
    });
    expect(result.remedy).not.toMatch(/power|switch/i);
    expect(result).toEqual(chassisAddressSchema.parse(result));
    expect(await findOver(await closedPort())).toMatchObject({ failure: 'refused', remedy: has('refuses the port') });
  });
});
