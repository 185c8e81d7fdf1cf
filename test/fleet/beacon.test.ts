import { createSocket, type Socket } from 'node:dgram';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type BeaconOptions, startBeacon } from '../../src/lib/fleet/beacon.ts';
import { sendDatagram } from '../../src/lib/fleet/socket.ts';
import type { Clock } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { createListLog } from './heartbeats.ts';

const PERIOD_MS = 2000;
const HERE = '127.0.0.1';

const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) await new Promise<void>((resolve) => socket.close(() => resolve()));
});

async function bound(port = 0): Promise<Socket> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: HERE, port, exclusive: true }, resolve);
  });
  sockets.push(socket);
  return socket;
}

/** Received numbers, each with its source port. */
async function receiver() {
  const socket = await bound();
  const numbers: number[] = [];
  const from = new Set<number>();
  socket.on('message', (bytes, { port }) => {
    numbers.push(bytes.readUInt32BE(0));
    from.add(port);
  });
  return { port: socket.address().port, numbers, from };
}

const numbered = (sequence: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(sequence);
  return bytes;
};

/** No datagram leaves this machine: no broadcast, and only loopback addresses. */
function start(options: Partial<Omit<BeaconOptions, 'broadcast'>> & { readonly clock: Clock }) {
  const log = createListLog();
  const unicastBy = createSocket('udp4');
  unicastBy.bind({ address: '0.0.0.0', port: 0, exclusive: true });
  sockets.push(unicastBy);
  const defaults = { broadcast: false, unicast: [], lastSequence: 2 ** 32 - 1, onUsedUp: () => {} };
  const beacon = startBeacon({ ...defaults, unicastBy, datagram: numbered, log, ...options });
  return { beacon, log };
}

/** Not 0, so that a sum cannot pass for a difference. */
const START_MS = 86_400_000;

/** A beacon that sends to a receiver, the first time at once. */
async function sending(options: Partial<Omit<BeaconOptions, 'broadcast'>> = {}) {
  const clock = createFakeClock({ random: 0 });
  const received = await receiver();
  const { beacon, log } = start({ clock, port: received.port, unicast: [HERE], ...options });
  return { ...received, clock, beacon, log, [Symbol.asyncDispose]: () => beacon[Symbol.asyncDispose]() };
}

/** Due time of each heartbeat since the start, and its sequence. */
function schedule(clock: Clock) {
  const heartbeats: { readonly atMs: number; readonly sequence: number }[] = [];
  const datagram = (sequence: number) => {
    heartbeats.push({ atMs: clock.monotonicMs() - START_MS, sequence });
    return numbered(sequence);
  };
  return { heartbeats, datagram };
}

describe('the beacon', () => {
  it.each([0, 0.25, 0.999])('sends its first heartbeat after a random part of a period (%d)', async (random) => {
    const clock = createFakeClock({ startMs: START_MS, random });
    const { heartbeats, datagram } = schedule(clock);
    const { beacon } = start({ clock, datagram });
    await using _ = beacon;
    if (random > 0) {
      await clock.advance(random * PERIOD_MS - 1);
      expect(heartbeats).toEqual([]);
      await clock.advance(1);
    } else await clock.advance(0);
    expect(heartbeats).toEqual([{ atMs: random * PERIOD_MS, sequence: 0 }]);
  });

  it('sends every 2 s from then on with increasing sequence, without drift over 1,000 heartbeats', async () => {
    const clock = createFakeClock({ startMs: START_MS, random: 0.3 });
    const { heartbeats, datagram } = schedule(clock);
    const { beacon } = start({ clock, datagram });
    await using _ = beacon;
    await clock.advance(1000 * PERIOD_MS);
    expect(heartbeats).toEqual(Array.from({ length: 1000 }, (_, n) => ({ atMs: 600 + n * PERIOD_MS, sequence: n })));
  });

  it('keeps its schedule with late and early timers', async () => {
    const clock = createFakeClock({ startMs: START_MS, random: 0.5 });
    const errors = [3, 0, 900, 1999, -1, 17, -0.4];
    let timers = 0;
    const errorOf = (n: number) => errors[n % errors.length] ?? 0;
    const loose: Clock = { ...clock, after: (ms, fn) => clock.after(ms + errorOf(timers++), fn) };
    const { heartbeats, datagram } = schedule(clock);
    const { beacon } = start({ clock: loose, datagram });
    await using _ = beacon;
    await clock.advance(1000 * PERIOD_MS + 999);
    expect(heartbeats.length).toBe(1000);
    for (const [n, { atMs, sequence }] of heartbeats.entries()) {
      expect(sequence).toBe(n);
      expect(atMs).toBeCloseTo(1000 + n * PERIOD_MS + errorOf(n), 6);
    }
  });

  it('skips periods missed during sleep, and never sends two heartbeats at once', async () => {
    const clock = createFakeClock({ startMs: START_MS, random: 0.5 });
    const sleeps = [0, 60_500, 0, 4_000, 0, 2_000, 0];
    const sleepy: Clock = { ...clock, after: (ms, fn) => clock.after(ms + (sleeps.shift() ?? 0), fn) };
    const { heartbeats, datagram } = schedule(clock);
    const { beacon } = start({ clock: sleepy, datagram });
    await using _ = beacon;
    await clock.advance(85_000);
    const atMs = [1_000, 63_500, 65_000, 71_000, 73_000, 77_000, 79_000, 81_000];
    expect(heartbeats.slice(0, 8)).toEqual(atMs.map((each, sequence) => ({ atMs: each, sequence })));
  });

  it('sends each heartbeat to each of its addresses', async () => {
    await using world = await sending({ unicast: [HERE, '127.0.0.1'] });
    const { beacon, clock, numbers, from, log } = world;
    for (let heartbeat = 0; heartbeat < 6; heartbeat += 1) {
      await clock.advance(heartbeat === 0 ? 0 : PERIOD_MS);
      await expect.poll(() => numbers.length).toBe(2 * heartbeat + 2);
    }
    expect(numbers).toEqual(Array.from({ length: 12 }, (_, index) => Math.floor(index / 2)));
    expect(from.size).toBe(1);
    expect(beacon.failures()).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it('sends from a given socket, and leaves that one open', async () => {
    const clock = createFakeClock({ random: 0 });
    const { port, numbers, from } = await receiver();
    const given = await bound();
    const { beacon } = start({ clock, port, unicast: [HERE], unicastBy: given });
    await clock.advance(0);
    await expect.poll(() => numbers).toEqual([0]);
    expect([...from]).toEqual([given.address().port]);
    await beacon[Symbol.asyncDispose]();
    expect(given.address().address).toBe(HERE);
  });

  it('reports a failing destination once, continues, and reports when it works again', async () => {
    // Longer than any datagram may be, so that the operating system refuses it.
    const datagram = (sequence: number) => (sequence < 4 ? Buffer.alloc(70_000) : numbered(sequence));
    await using world = await sending({ datagram });
    const { beacon, clock, numbers, log } = world;
    for (let heartbeat = 0; heartbeat < 4; heartbeat += 1) {
      await clock.advance(heartbeat === 0 ? 0 : PERIOD_MS);
      await expect.poll(() => beacon.failures()).toEqual([`${HERE}: EMSGSIZE`]);
    }
    expect(log.lines).toEqual(['warn heartbeat not sent']);
    await clock.advance(PERIOD_MS);
    await expect.poll(() => numbers).toEqual([4]);
    await expect.poll(() => beacon.failures()).toEqual([]);
    expect(log.lines).toEqual(['warn heartbeat not sent', 'info heartbeat sent again']);
  });

  it('sends to one destination though another one fails', async () => {
    // A sender without SO_BROADCAST cannot send to a broadcast address, here that of the loopback network.
    await using world = await sending({ unicast: ['127.255.255.255', HERE] });
    const { beacon, clock, numbers } = world;
    await clock.advance(PERIOD_MS);
    await expect.poll(() => numbers).toEqual([0, 1]);
    await expect.poll(() => beacon.failures()).toEqual(['127.255.255.255: EACCES']);
  });

  it('continues after a heartbeat that cannot be encoded', async () => {
    const datagram = (sequence: number) => {
      if (sequence === 1 || sequence === 2) throw new Error('no state');
      return numbered(sequence);
    };
    await using world = await sending({ datagram });
    const { beacon, clock, numbers, log } = world;
    await clock.advance(PERIOD_MS);
    expect(beacon.failures()).toEqual(['any way: Error: no state']);
    await clock.advance(PERIOD_MS);
    expect(log.lines).toEqual(['warn heartbeat not sent']);
    await clock.advance(PERIOD_MS);
    expect(beacon.failures()).toEqual([]);
    await expect.poll(() => numbers).toEqual([0, 3]);
    expect(log.lines).toEqual(['warn heartbeat not sent', 'info heartbeat sent again']);
  });

  it('continues after an address and a datagram that make the send call itself throw', async () => {
    const clock = createFakeClock({ random: 0 });
    const { beacon } = start({ clock, port: 65_536, unicast: [HERE] });
    await using _ = beacon;
    await clock.advance(3 * PERIOD_MS);
    expect(beacon.failures()).toEqual([`${HERE}: ERR_SOCKET_BAD_PORT`]);
    expect(clock.pending).toBe(1);
  });

  it('ends with the last sequence, reports it once, and sends nothing after', async () => {
    const onUsedUp = vi.fn();
    await using world = await sending({ lastSequence: 2, onUsedUp });
    const { clock, numbers } = world;
    await clock.advance(PERIOD_MS);
    expect(onUsedUp).not.toHaveBeenCalled();
    await clock.advance(PERIOD_MS);
    expect(onUsedUp).toHaveBeenCalledTimes(1);
    expect(clock.pending).toBe(0);
    await clock.advance(100 * PERIOD_MS);
    await expect.poll(() => numbers).toEqual([0, 1, 2]);
    expect(onUsedUp).toHaveBeenCalledTimes(1);
  });

  it('leaves no timer when it is disposed of', async () => {
    const clock = createFakeClock({ random: 0 });
    const { port, numbers } = await receiver();
    const { beacon, log } = start({ clock, port, unicast: [HERE] });
    await clock.advance(0);
    await expect.poll(() => numbers).toEqual([0]);
    await beacon[Symbol.asyncDispose]();
    expect(clock.pending).toBe(0);
    await clock.advance(100 * PERIOD_MS);
    expect(numbers).toEqual([0]);
    await beacon[Symbol.asyncDispose]();
    expect(log.lines).toEqual([]);
  });

  it('sends a datagram from a socket of its own, and leaves none open', async () => {
    const { port, numbers, from } = await receiver();
    await sendDatagram(numbered(7), { to: HERE, from: HERE }, port);
    await expect.poll(() => numbers).toEqual([7]);
    const [used = 0] = from;
    await bound(used);
    const elsewhere = sendDatagram(numbered(8), { to: HERE, from: '192.0.2.1' }, port);
    await expect(elsewhere).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
    expect(numbers).toEqual([7]);
  });

  it('can be disposed of before its first heartbeat, and during a send', async () => {
    const clock = createFakeClock({ random: 0.5 });
    const before = start({ clock });
    await before.beacon[Symbol.asyncDispose]();
    expect(clock.pending).toBe(0);
    let disposed: Promise<void> = Promise.resolve();
    const { port } = await receiver();
    const { beacon, log } = start({ clock, port, unicast: [HERE] });
    // In the same event loop turn as the heartbeat, whose socket is not bound yet.
    clock.after(1000, () => {
      disposed = Promise.resolve(beacon[Symbol.asyncDispose]());
    });
    await clock.advance(1000);
    await disposed;
    expect(clock.pending).toBe(0);
    expect(log.lines).toEqual([]);
  });

  it('counts datagrams accepted by the operating system by destination, and refused ones by reason', async () => {
    const clock = createFakeClock({ startMs: START_MS, random: 0 });
    const { port, numbers } = await receiver();
    let length = 4;
    const datagram = (sequence: number) => Buffer.concat([numbered(sequence), Buffer.alloc(length - 4)]);
    const { beacon } = start({ clock, port, unicast: [HERE], datagram });
    await using _ = beacon;
    expect(beacon.view()).toEqual({ heartbeats: 0, lastAgeMs: null, ways: [] });
    await clock.advance(0);
    await expect.poll(() => numbers).toEqual([0]);
    await clock.advance(700);
    const accepted = { to: HERE, from: null, accepted: 1, failure: null };
    expect(beacon.view()).toEqual({ heartbeats: 1, lastAgeMs: 700, ways: [accepted] });
    length = 70_000;
    await clock.advance(1_300);
    const refused = { to: HERE, from: null, accepted: 1, failure: 'EMSGSIZE' };
    await expect.poll(() => beacon.view().ways).toEqual([refused]);
    expect(beacon.view().heartbeats).toBe(2);
  });
});
