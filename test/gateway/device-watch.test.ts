import { createServer } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { type DeviceWatch, watchDevices } from '../../src/lib/gateway/device-watch.ts';
import { DialError, type Dialer, directDialer } from '../../src/lib/net/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { freePort } from '../free-port.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { listening } from '../listening.ts';
import { until } from '../waiting.ts';

const MINUTE_MS = 60_000;
const siteWith = (network: string, operator = '') =>
  parseSite(`name: T\nchassis: { host: 127.0.0.1, serial: S }\n${network}\n${operator}\n`, 'site.yaml');
const lift = siteWith('network: { devices: [{ name: Lift A, kind: lift, host: 127.0.0.9, port: 3100 }] }');

let open: DeviceWatch[] = [];
afterEach(() => {
  for (const one of open) one[Symbol.dispose]();
  open = [];
});

/** A gateway with one network, whose dials succeed or fail as the test says. */
function setUp(site = lift) {
  const clock = createFakeClock();
  const dials: string[] = [];
  const state: { fails: boolean; cidr: string; pending: number } = { fails: false, cidr: '192.0.2.2/28', pending: 0 };
  const dialer = {
    ...directDialer,
    async dial({ host, port }: { host: string; port: number }) {
      dials.push(`${host}:${port}`);
      state.pending += 1;
      await clock.sleep(10);
      state.pending -= 1;
      if (state.fails) throw new DialError('refused', { address: host, port }, new Error('refused'));
      return { on() {}, destroy() {} };
    },
  } as unknown as Dialer;
  const info = (cidr: string, internal: boolean) => ({ cidr, internal }) as NetworkInterfaceInfo;
  const interfaces = () => ({ lo: [info('127.0.0.1/8', true)], eth0: [info(state.cidr, false)] });
  const watch = watchDevices({ site, dialer, clock, interfaces });
  open.push(watch);
  return { clock, watch, dials, state };
}

describe('the last look at the devices of the house', () => {
  it('is a TCP connection at the start and every 15 minutes, with its age, and no more', async () => {
    const { clock, watch, dials } = setUp();
    expect(watch.view()).toMatchObject([{ name: 'Lift A', status: 'not-checked', ageMs: null }]);
    await clock.advance(1_000);
    expect(watch.view()).toMatchObject([
      {
        kind: 'lift',
        isHere: true,
        status: 'accepts',
        ageMs: 990,
        detail: 'accepted a TCP connection; nothing was sent',
      },
    ]);
    await clock.advance(14 * MINUTE_MS);
    expect(dials).toHaveLength(1);
    await clock.advance(2 * MINUTE_MS);
    expect(dials).toHaveLength(2);
  });

  it('says that none was accepted, and why', async () => {
    const { clock, watch, state } = setUp();
    state.fails = true;
    await clock.advance(1_000);
    expect(watch.view()).toMatchObject([
      { status: 'not-reached', detail: expect.stringMatching(/^no TCP connection: /) },
    ]);
  });

  it('does not count once it is old: the gateway stood still, or its looks hang', async () => {
    const { clock, watch } = setUp();
    await clock.advance(1_000);
    const stuck = watch.view()[0]?.ageMs ?? 0;
    expect(stuck).toBeGreaterThan(0);
    // No timer fires while the process is stopped: only the age shows it.
    const later = clock.monotonicMs() + 41 * MINUTE_MS;
    const monotonicMs = clock.monotonicMs;
    clock.monotonicMs = () => later;
    expect(watch.view()).toMatchObject([{ status: 'not-checked', detail: 'the last look is too old' }]);
    clock.monotonicMs = monotonicMs;
  });

  it('does not count in another network, and is made anew there', async () => {
    const { clock, watch, state, dials } = setUp();
    await clock.advance(1_000);
    state.cidr = '198.51.100.2/24';
    await clock.advance(1_000);
    expect(watch.view()).toMatchObject([{ status: 'not-checked', detail: expect.stringContaining('network') }]);
    await clock.advance(31_000);
    expect(dials).toHaveLength(2);
    expect(watch.view()).toMatchObject([{ status: 'accepts' }]);
  });

  it('opens no more than four connections at once, and none without devices', async () => {
    const devices = Array.from(
      { length: 30 },
      (_, n) => `{ name: D${n}, kind: door, host: 127.0.0.9, port: ${4_000 + n} }`,
    );
    const { clock, watch, state } = setUp(siteWith(`network: { devices: [${devices.join(', ')}] }`));
    let most = 0;
    for (let step = 0; step < 200; step += 1) {
      await clock.step(5);
      most = Math.max(most, state.pending);
    }
    expect(most).toBe(4);
    expect(watch.view().every(({ status }) => status === 'accepts')).toBe(true);
    const none = setUp(siteWith(''));
    await none.clock.advance(MINUTE_MS);
    expect([none.dials, none.watch.view(), none.clock.pending]).toEqual([[], [], 0]);
  });

  it('sends nothing over a real socket, looks at services on this gateway too, and ends with it', async () => {
    let received = 0;
    let ended = 0;
    await using server = await listening(
      createServer((socket) => {
        socket.on('data', (bytes) => {
          received += bytes.length;
        });
        socket.on('close', () => {
          ended += 1;
        });
      }),
    );
    const closed = await freePort();
    const clock = createFakeClock();
    const site = siteWith(
      `network: { devices: [{ name: Door, kind: door, host: 127.0.0.1, port: ${server.port} }] }`,
      `operator: { voice: { url: "http://127.0.0.1:${closed}" } }`,
    );
    const watch = watchDevices({ site, dialer: directDialer, clock });
    open.push(watch);
    const seen = await until(
      () => watch.view(),
      (all) => all.every(({ status }) => status !== 'not-checked'),
    );
    expect(seen).toMatchObject([
      { name: 'Door', isHere: true, status: 'accepts' },
      { kind: 'voice', isHere: true, status: 'not-reached' },
    ]);
    await until(
      () => ended,
      (count) => count === 1,
    );
    expect(received).toBe(0);
    watch[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });
});
