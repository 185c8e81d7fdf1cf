import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHeartbeat } from '../../src/lib/fleet/datagram.ts';
import { createKey, createKeyRing } from '../../src/lib/fleet/keys.ts';
import { createSniffer, type SniffView } from '../../src/lib/fleet/sniffer.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { runs } from '../properties.ts';
import { heartbeatOf } from './heartbeats.ts';

const secret = Buffer.alloc(32, 7);
const otherSecret = Buffer.alloc(32, 8);
const key = createKey(secret);
const ring = createKeyRing([key]);

type HeartbeatValues = Parameters<typeof heartbeatOf>[0];
const heartbeat = (values: HeartbeatValues = {}) => encodeHeartbeat(heartbeatOf(values), key);

/** Changes bytes before the signature and signs again, with node:crypto only. */
function changed(change: (bytes: Buffer) => void, by = secret): Buffer {
  const bytes = Buffer.from(heartbeat().subarray(0, -32));
  change(bytes);
  return Buffer.concat([bytes, createHmac('sha256', by).update(bytes).digest()]);
}

const otherKeyId = createHash('sha256').update('gw heartbeat key id\0').update(otherSecret).digest().subarray(0, 4);
const wrong = {
  malformed: Buffer.from('no heartbeat'),
  otherVersion: changed((bytes) => void bytes.writeUInt8(2, 4)),
  otherKey: changed((bytes) => void bytes.set(otherKeyId, 8), otherSecret),
  forged: changed(() => {}, otherSecret),
};

function listening(keys: typeof ring | null = ring) {
  const clock = createFakeClock();
  const sniffer = createSniffer({ keys, clock });
  return {
    clock,
    sniffer,
    receive: (values: HeartbeatValues, address = '192.0.2.1') => sniffer.receive(heartbeat(values), address),
    /** Heartbeats with the sequences from 0, each after the given milliseconds. */
    async receiveAfter(gapsMs: readonly number[]) {
      sniffer.receive(heartbeat({ sequence: 0 }), '192.0.2.1');
      for (const [index, gapMs] of gapsMs.entries()) {
        await clock.advance(gapMs);
        sniffer.receive(heartbeat({ sequence: index + 1 }), '192.0.2.1');
      }
    },
    sender(serial = 'R-1', address = '192.0.2.1') {
      const found = sniffer.view().senders.find((one) => one.serial === serial && one.address === address);
      return found ?? expect.fail(`no sender of serial ${serial} at ${address}`);
    },
  };
}

/** Every datagram is in exactly one of the counts. */
function counted({ senders, otherHeartbeats, noise }: SniffView): number {
  const ofNoise = ({ malformed, otherVersion, otherKey, forged }: SniffView['noise'][number]) =>
    malformed + otherVersion + otherKey + forged;
  const received = senders.map(({ heartbeats, copies, replayed }) => heartbeats + copies + replayed);
  return [...received, otherHeartbeats, ...noise.map(ofNoise)].reduce((sum, count) => sum + count, 0);
}

it('a sniffer that received nothing reports it', () => {
  expect(listening().sniffer.view()).toEqual({ datagrams: 0, senders: [], otherHeartbeats: 0, noise: [] });
});

describe('a sender', () => {
  it('is shown with its last heartbeat, its age and whether its signature was checked', async () => {
    const { clock, receive, sender, sniffer } = listening();
    receive({ sequence: 4, uptimeS: 8 });
    receive({ sequence: 5, uptimeS: 10 });
    await clock.advance(700);
    expect(sender()).toMatchObject({ verified: true, presence: 'alive', ageMs: 700 });
    expect(sender()).toMatchObject({ heartbeats: 2, lost: 0, replayed: 0 });
    const { serial, bootCounter, sequence, uptimeS, state } = heartbeatOf({ sequence: 5, uptimeS: 10 });
    expect(sender()).toMatchObject({ serial, bootCounter, sequence, uptimeS, ...state, software: null });
    expect(sniffer.view().datagrams).toBe(2);
  });

  it('counts gaps in its sequence as lost since it was first received, and none between boots', () => {
    const { receive, sender } = listening();
    for (const sequence of [100, 101, 104, 105, 107]) receive({ sequence });
    expect(sender()).toMatchObject({ heartbeats: 5, lost: 3 });
    receive({ bootCounter: 2, sequence: 40 });
    expect(sender()).toMatchObject({ heartbeats: 6, lost: 3 });
    receive({ bootCounter: 2, sequence: 42 });
    expect(sender()).toMatchObject({ heartbeats: 7, lost: 4 });
  });

  it('counts a heartbeat that is not newer than an earlier one as replayed, and nothing else changes', async () => {
    const { clock, receive, sender } = listening();
    receive({ bootCounter: 2, sequence: 9 });
    await clock.advance(1_000);
    receive({ bootCounter: 2, sequence: 8 });
    receive({ bootCounter: 1, sequence: 4_000_000_000 });
    receive({ bootCounter: 2, sequence: 9, instance: 'b'.repeat(16) });
    expect(sender()).toMatchObject({ heartbeats: 1, copies: 0, replayed: 3, lost: 0, ageMs: 1_000, sequence: 9 });
  });

  it('counts the same heartbeat as a copy within its period, and as replayed later', async () => {
    const { clock, receive, sender } = listening();
    receive({ sequence: 9 });
    receive({ sequence: 9 });
    await clock.advance(1_999);
    receive({ sequence: 9 });
    expect(sender()).toMatchObject({ heartbeats: 1, copies: 2, replayed: 0, ageMs: 1_999 });
    await clock.advance(1);
    receive({ sequence: 9 });
    expect(sender()).toMatchObject({ heartbeats: 1, copies: 2, replayed: 1, ageMs: 2_000 });
  });

  it('that sends test datagrams is marked so, and is separate from a robot of that serial', () => {
    const { sniffer, receive } = listening();
    receive({ sequence: 7 });
    sniffer.receive(encodeHeartbeat(heartbeatOf({ sequence: 3 }), key, 'test'), '192.0.2.1');
    sniffer.receive(encodeHeartbeat(heartbeatOf({ sequence: 4 }), key, 'test'), '192.0.2.2');
    expect(sniffer.view().senders).toMatchObject([
      { address: '192.0.2.1', test: false, heartbeats: 1, replayed: 0, alsoFrom: [], sequence: 7 },
      { address: '192.0.2.1', test: true, heartbeats: 1, alsoFrom: ['192.0.2.2'], sequence: 3 },
      { address: '192.0.2.2', test: true, heartbeats: 1, alsoFrom: ['192.0.2.1'], sequence: 4 },
    ]);
  });

  it('is sorted by serial and address, whatever the order of arrival', () => {
    const { receive, sniffer } = listening();
    receive({ serial: 'R-2' });
    receive({ serial: 'R-1' }, '192.0.2.9');
    receive({ serial: 'R-1' }, '192.0.2.3');
    const sorted = sniffer.view().senders.map(({ serial, address }) => `${serial} ${address}`);
    expect(sorted).toEqual(['R-1 192.0.2.3', 'R-1 192.0.2.9', 'R-2 192.0.2.1']);
  });
});

describe('period and jitter', () => {
  it('are unknown before the third heartbeat', async () => {
    const few = listening();
    await few.receiveAfter([2_000]);
    expect(few.sender()).toMatchObject({ heartbeats: 2, periodMs: null, jitterMs: null });
    await few.clock.advance(2_000);
    few.receive({ sequence: 2 });
    expect(few.sender()).toMatchObject({ periodMs: 2_000, jitterMs: 0 });
  });

  it('are mean and standard deviation of the intervals', async () => {
    const { receiveAfter, sender } = listening();
    await receiveAfter([1_900, 2_100, 1_900, 2_100, 2_000]);
    // Deviations of 100 in four of five: the root of 4 · 100² / 4.
    expect(sender().periodMs).toBeCloseTo(2_000, 6);
    expect(sender().jitterMs).toBeCloseTo(100, 6);
  });

  it('equal those computed over all intervals at once', { tags: 'property' }, async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 2, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(gaps, async (gapsMs) => {
        const { receiveAfter, sender } = listening();
        await receiveAfter(gapsMs);
        const mean = gapsMs.reduce((sum, gapMs) => sum + gapMs, 0) / gapsMs.length;
        const squares = gapsMs.reduce((sum, gapMs) => sum + (gapMs - mean) ** 2, 0);
        expect(sender().periodMs).toBeCloseTo(mean, 6);
        expect(sender().jitterMs).toBeCloseTo(Math.sqrt(squares / (gapsMs.length - 1)), 6);
      }),
      { numRuns: runs(50) },
    );
  });

  it('divide an interval by the heartbeats that were lost in it', async () => {
    const { clock, receive, sender } = listening();
    for (const [afterMs, sequence] of [
      [0, 0],
      [2_000, 1],
      [6_000, 4],
      [2_000, 5],
    ] as const) {
      await clock.advance(afterMs);
      receive({ sequence });
    }
    expect(sender()).toMatchObject({ lost: 2, periodMs: 2_000, jitterMs: 0 });
  });

  it('ignore the interval between two boots', async () => {
    const { clock, receive, sender } = listening();
    for (const [afterMs, bootCounter, sequence] of [
      [0, 1, 0],
      [2_000, 1, 1],
      [2_000, 1, 2],
      [9_000, 2, 0],
      [2_000, 2, 1],
    ] as const) {
      await clock.advance(afterMs);
      receive({ bootCounter, sequence });
    }
    expect(sender()).toMatchObject({ heartbeats: 5, periodMs: 2_000, jitterMs: 0 });
  });

  it('ignore more than a minute of silence, whether its heartbeats were lost or the sender slept', async () => {
    const silences = [
      [62_000, 31],
      [60_001, 1],
      [3_600_000, 1],
    ] as const;
    for (const [silentMs, steps] of silences) {
      const { clock, receiveAfter, receive, sender } = listening();
      await receiveAfter([2_000, 2_000]);
      await clock.advance(silentMs);
      receive({ sequence: 2 + steps });
      const expected = { heartbeats: 4, lost: steps - 1, periodMs: 2_000, jitterMs: 0 };
      expect(sender(), `${silentMs} ms`).toMatchObject(expected);
    }
    const { clock, receiveAfter, receive, sender } = listening();
    await receiveAfter([2_000, 2_000]);
    await clock.advance(60_000);
    receive({ sequence: 32 });
    expect(sender()).toMatchObject({ heartbeats: 4, lost: 29, periodMs: 2_000, jitterMs: 0 });
    await clock.advance(20_000);
    receive({ sequence: 33 });
    expect(sender().periodMs).toBe(6_500);
  });
});

describe('one serial from two addresses', () => {
  const [here, there, elsewhere] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const;
  const [one, other] = ['1'.repeat(16), '2'.repeat(16)];

  it('is two senders that refer to each other, each with its own counts', () => {
    const { receive, sender, sniffer } = listening();
    receive({ sequence: 7 }, here);
    receive({ sequence: 3 }, there);
    receive({ sequence: 5 }, there);
    receive({ serial: 'R-2' }, there);
    expect(sender('R-1', here)).toMatchObject({ heartbeats: 1, lost: 0, replayed: 0, alsoFrom: [there] });
    expect(sender('R-1', there)).toMatchObject({ heartbeats: 2, lost: 1, replayed: 0, alsoFrom: [here] });
    expect(sender('R-2', there)).toMatchObject({ heartbeats: 1, alsoFrom: [], conflictWith: [] });
    receive({}, elsewhere);
    expect(sender('R-1', here).alsoFrom).toEqual([there, elsewhere]);
    expect(counted(sniffer.view())).toBe(5);
  });

  it('is in conflict while two boots send concurrently, until one of them is gone', async () => {
    const { clock, receive, sender } = listening();
    receive({ instance: one }, here);
    receive({ instance: other }, there);
    await clock.advance(2_000);
    receive({ instance: one, sequence: 1 }, here);
    expect(sender('R-1', here).conflictWith).toEqual([there]);
    expect(sender('R-1', there).conflictWith).toEqual([here]);
    for (let sequence = 2; sequence < 16; sequence += 1) {
      await clock.advance(2_000);
      receive({ instance: one, sequence }, here);
    }
    expect(sender('R-1', there)).toMatchObject({ presence: 'gone', alsoFrom: [here], conflictWith: [] });
    expect(sender('R-1', here)).toMatchObject({ presence: 'alive', alsoFrom: [there], conflictWith: [] });
  });

  it('is not in conflict with itself: one device by two routes, or a restart at a new address', async () => {
    const { clock, receive, sender } = listening();
    for (const sequence of [0, 1, 2]) {
      for (const address of [here, there]) receive({ instance: one, sequence }, address);
      await clock.advance(2_000);
    }
    receive({ instance: other, bootCounter: 2 }, elsewhere);
    for (const address of [here, there, elsewhere]) {
      expect(sender('R-1', address).alsoFrom).toHaveLength(2);
      expect(sender('R-1', address).conflictWith).toEqual([]);
    }
    // A restart at the old address as well: the boot began there after the other one was last received.
    await clock.advance(2_000);
    receive({ instance: other, bootCounter: 2, sequence: 1 }, here);
    expect(sender('R-1', here).conflictWith).toEqual([]);
  });
});

it('noise is counted for each address separately, by reason', () => {
  const { sniffer, receive } = listening();
  receive({});
  for (const [address, kinds] of [
    ['192.0.2.5', ['malformed', 'forged', 'forged']],
    ['192.0.2.6', ['otherVersion', 'otherKey', 'otherKey', 'otherKey']],
  ] as const) {
    for (const kind of kinds) sniffer.receive(wrong[kind], address);
  }
  const view = sniffer.view();
  expect(view.noise).toEqual([
    { address: '192.0.2.5', malformed: 1, otherVersion: 0, otherKey: 0, forged: 2 },
    { address: '192.0.2.6', malformed: 0, otherVersion: 1, otherKey: 3, forged: 0 },
  ]);
  expect(view.senders).toHaveLength(1);
  expect(view.datagrams).toBe(8);
});

it('without keys every well-formed datagram is a heartbeat of its sender, and none is verified', () => {
  const { sniffer, sender } = listening(null);
  sniffer.receive(heartbeat(), '192.0.2.1');
  sniffer.receive(wrong.forged, '192.0.2.2');
  sniffer.receive(wrong.otherKey, '192.0.2.3');
  sniffer.receive(wrong.otherVersion, '192.0.2.4');
  sniffer.receive(wrong.malformed, '192.0.2.4');
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
    expect(sender('R-1', address)).toMatchObject({ verified: false, heartbeats: 1 });
  }
  const noise = { address: '192.0.2.4', malformed: 1, otherVersion: 1, otherKey: 0, forged: 0 };
  expect(sniffer.view().noise).toEqual([noise]);
});

describe('the bounds of the sniffer', () => {
  const addressOf = (index: number) => `198.51.${index >> 8}.${index & 255}`;

  it('are 500 senders, and one count of all other heartbeats', () => {
    const { sniffer, receive } = listening();
    for (let index = 0; index < 600; index += 1) receive({ serial: `R-${index}` });
    receive({ serial: 'R-0', sequence: 1 });
    const view = sniffer.view();
    expect(view.senders).toHaveLength(500);
    expect(view.otherHeartbeats).toBe(100);
    expect(view.senders.find(({ serial }) => serial === 'R-0')?.heartbeats).toBe(2);
    expect(counted(view)).toBe(view.datagrams);
  });

  it('are 256 addresses of noise, and one count of all others', () => {
    const { sniffer } = listening();
    for (let index = 0; index < 300; index += 1) sniffer.receive(wrong.forged, addressOf(index));
    sniffer.receive(wrong.malformed, addressOf(0));
    sniffer.receive(wrong.malformed, addressOf(299));
    const { noise, datagrams } = sniffer.view();
    expect(noise).toHaveLength(257);
    expect(noise[0]).toEqual({ address: addressOf(0), malformed: 1, otherVersion: 0, otherKey: 0, forged: 1 });
    expect(noise.at(-1)).toEqual({ address: null, malformed: 1, otherVersion: 0, otherKey: 0, forged: 44 });
    expect(datagrams).toBe(302);
  });

  it('are 16 other addresses of one serial, also when many replay one recording', () => {
    const { sniffer } = listening();
    const bytes = heartbeat();
    for (let index = 0; index < 500; index += 1) sniffer.receive(bytes, addressOf(index));
    const { senders } = sniffer.view();
    expect(senders).toHaveLength(500);
    for (const { address, alsoFrom } of senders) {
      expect(alsoFrom).toHaveLength(16);
      expect(alsoFrom).not.toContain(address);
    }
  });
});

describe('any bytes from any address', () => {
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 600, size: 'max' }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(fc.nat(0xffff), fc.uint8Array({ minLength: 1, maxLength: 64 }))
      .map(([length, pattern]) => Buffer.alloc(length, pattern)),
  );
  // After a valid header and length: without a key any of it may be a heartbeat.
  const framed = fc.uint8Array({ maxLength: 440, size: 'max' }).map((rest) => {
    const bytes = Buffer.concat([heartbeat().subarray(0, 12), Buffer.from(rest)]);
    if (bytes.length >= 32) bytes.writeUInt16BE(bytes.length - 32, 6);
    return bytes;
  });
  const signed = fc
    .record({
      serial: fc.constantFrom('R-1', 'R-2'),
      bootCounter: fc.constantFrom(1, 2, 0xffffffff),
      sequence: fc.constantFrom(0, 1, 5, 0xffffffff),
      instance: fc.constantFrom('0'.repeat(16), 'f'.repeat(16)),
    })
    .map((values) => encodeHeartbeat(heartbeatOf(values), key, values.sequence === 5 ? 'test' : 'robot'));
  const wrongly = fc.constantFrom(...Object.values(wrong));
  const received = fc.record({
    bytes: fc.oneof(anyBytes, framed, signed, wrongly),
    address: fc.oneof(fc.ipV4(), fc.constantFrom('192.0.2.1', '192.0.2.2')),
    afterMs: fc.constantFrom(0, 1, 2_000, 40_000),
  });

  it('never throw, each is counted once, and every number of the view is finite', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(received, { maxLength: 40 }), fc.boolean(), async (all, withKeys) => {
        const { clock, sniffer } = listening(withKeys ? ring : null);
        for (const { bytes, address, afterMs } of all) {
          if (afterMs > 0) await clock.advance(afterMs);
          sniffer.receive(bytes, address);
        }
        const view = sniffer.view();
        expect(view.datagrams).toBe(all.length);
        expect(counted(view)).toBe(all.length);
        for (const { heartbeats, lost, periodMs, jitterMs, verified, alsoFrom, conflictWith } of view.senders) {
          expect(heartbeats).toBeGreaterThan(0);
          expect(Number.isSafeInteger(lost) && lost >= 0).toBe(true);
          for (const number of [periodMs ?? 0, jitterMs ?? 0]) expect(number >= 0 && number < 60_001).toBe(true);
          expect(verified).toBe(withKeys);
          // Only the first 16 of both are listed.
          if (alsoFrom.length < 16) expect(alsoFrom).toEqual(expect.arrayContaining([...conflictWith]));
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
