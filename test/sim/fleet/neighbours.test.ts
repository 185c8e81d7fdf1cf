import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderSimEvent, renderSimFault } from '../../../src/cli/render/sim.ts';
import { type DecodedDatagram, decodeHeartbeat } from '../../../src/lib/fleet/datagram.ts';
import { createKey, createKeyRing, readKeyRing } from '../../../src/lib/fleet/keys.ts';
import { createNeighbours } from '../../../src/lib/fleet/neighbours.ts';
import { createReplayGuard } from '../../../src/lib/fleet/replay-guard.ts';
import { type Clock, silentLog } from '../../../src/lib/lifecycle/index.ts';
import { switchFault } from '../../../src/lib/sim/control/switch-fault.ts';
import { createFaults } from '../../../src/lib/sim/faults.ts';
import { startNeighbours } from '../../../src/lib/sim/fleet/neighbours.ts';
import { type FaultName, faultNames, faultTable, startSim } from '../../../src/lib/sim/index.ts';
import { type SimEvent, simEventSchema, simFaultSchema } from '../../../src/lib/sim/sim.result.ts';
import { loadSite } from '../../../src/lib/site/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { fastClock, until } from '../raw-client.ts';

// What reaches a socket is read twice: by hand from the table in docs/heartbeat.md, and by the reader of the gateway,
// which shares no line with the simulator.

const PERIOD_MS = 2000;
const SOFTWARE = '2.12.3-sim';
const seen = new Set<FaultName>();

interface Got {
  readonly bytes: Buffer;
  readonly address: string;
}

/** A socket of 127.0.0.1 that keeps what comes. */
async function openReceiver() {
  const socket = createSocket('udp4');
  const got: Got[] = [];
  socket.on('message', (bytes, { address }) => got.push({ bytes, address }));
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: '127.0.0.1', port: 0, exclusive: true }, resolve);
  });
  return {
    port: socket.address().port,
    got,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

/** Version 1, from the table. Throws where a byte is not as it says. */
function readByHand(bytes: Buffer, secret: Uint8Array) {
  const signedBytes = bytes.readUInt16BE(6);
  const serialBytes = bytes[48] ?? 0;
  const softwareBytes = bytes[49 + serialBytes] ?? 0;
  expect(bytes.subarray(0, 6).toString('hex')).toBe('475748420100');
  expect(signedBytes).toBe(50 + serialBytes + softwareBytes);
  expect(bytes.length).toBe(signedBytes + 32);
  expect(bytes[35]).toBe(0);
  const id = createHash('sha256')
    .update(Buffer.concat([Buffer.from('gw heartbeat key id\0'), secret]))
    .digest();
  expect(bytes.subarray(8, 12)).toEqual(id.subarray(0, 4));
  const signature = createHmac('sha256', secret).update(bytes.subarray(0, signedBytes)).digest();
  expect(bytes.subarray(signedBytes)).toEqual(signature);
  return {
    bootCounter: bytes.readUInt32BE(12),
    sequence: bytes.readUInt32BE(16),
    instance: bytes.toString('hex', 20, 28),
    uptimeS: bytes.readUInt32BE(28),
    moving: bytes[32],
    stopped: bytes[33],
    battery: bytes[34] ?? 255,
    xMm: bytes.readInt32BE(36),
    yMm: bytes.readInt32BE(40),
    yawMilliDeg: bytes.readInt32BE(44),
    serial: bytes.toString('latin1', 49, 49 + serialBytes),
    software: bytes.toString('utf8', 50 + serialBytes, signedBytes),
  };
}

/** Chance that never gives one number twice. */
function spread(): () => number {
  let calls = 0;
  return () => {
    calls += 1;
    return (calls * 0.618_033_988_75) % 1;
  };
}

/** Neighbours on a clock of the test, and a gateway's ears for them. */
async function world(robots: number, { lateMs = () => 0 }: { readonly lateMs?: () => number } = {}) {
  await using undo = new AsyncDisposableStack();
  const clock = createFakeClock();
  let sleptMs = 0;
  const firedMs: number[] = [];
  const ownClock: Clock = {
    ...clock,
    monotonicMs: () => clock.monotonicMs() + sleptMs,
    random: spread(),
    after: (ms, fn) =>
      clock.after(ms + lateMs(), () => {
        firedMs.push(clock.monotonicMs());
        fn();
      }),
  };
  const beganMs = clock.monotonicMs();
  const receiver = undo.use(await openReceiver());
  const secret = randomBytes(32);
  const faults = createFaults((name, on) => neighbours.applyFault(name, on));
  const unsent: string[] = [];
  const neighbours = undo.use(
    await startNeighbours({
      robots,
      secret,
      firstBoot: 1,
      software: SOFTWARE,
      faults,
      clock: ownClock,
      port: receiver.port,
      onUnsent: (reason) => unsent.push(reason),
    }),
  );
  const ring = createKeyRing([createKey(secret)]);
  const ears = createNeighbours({
    self: { serial: 'SIM-0001', instance: '0'.repeat(16) },
    // Never loaded, so that it writes nothing.
    guard: createReplayGuard({ stateDir: '/proc/none', clock, log: silentLog }),
    clock,
  });
  const counts: Record<string, number> = {};
  const running = undo.move();
  return {
    clock,
    /** When the neighbours were about to heartbeat, since they began. */
    firedMs: () => firedMs.map((atMs) => atMs - beganMs),
    sleep(ms: number) {
      sleptMs += ms;
    },
    secret,
    neighbours,
    unsent,
    /** How many datagrams came that no call of `hear` has given yet. */
    waiting: () => receiver.got.length,
    counts,
    ears,
    last: () => ears.list().find(({ serial }) => serial === neighbours.lastSerial),
    open: (bytes: Buffer): DecodedDatagram => decodeHeartbeat(bytes, ring),
    setFault(name: FaultName, on: boolean) {
      seen.add(name);
      faults.set(name, on);
    },
    /** Lets so many periods pass, in each of which so many datagrams come; gives them all, judged. */
    async hear(periods: number, each: number): Promise<Got[]> {
      const all: Got[] = [];
      for (let period = 0; period < periods; period += 1) {
        await clock.advance(PERIOD_MS);
        await until(() => receiver.got.length >= each);
        const got = receiver.got.splice(0);
        expect(got.length).toBe(each);
        for (const { bytes, address } of got) {
          const opened = decodeHeartbeat(bytes, ring);
          const verdict = opened.kind === 'heartbeat' ? ears.receive(opened.heartbeat, address) : opened.kind;
          counts[verdict] = (counts[verdict] ?? 0) + 1;
        }
        all.push(...got);
      }
      return all;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describe('the beats of the neighbours', () => {
  it('are as the table has them, byte by byte, each from an address of its own', async () => {
    await using w = await world(3);
    const got = await w.hear(5, 3);
    const beats = got.map(({ bytes, address }) => ({ address, ...readByHand(bytes, w.secret) }));
    for (const [index, serial] of ['SIM-N001', 'SIM-N002', 'SIM-N003'].entries()) {
      const own = beats.filter((heartbeat) => heartbeat.serial === serial);
      expect(own.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4]);
      expect(new Set(own.map(({ address }) => address))).toEqual(new Set([`127.0.0.${index + 2}`]));
      expect(new Set(own.map(({ bootCounter, software }) => `${bootCounter} ${software}`))).toEqual(
        new Set([`1 ${SOFTWARE}`]),
      );
      expect(new Set(own.map(({ instance }) => instance)).size).toBe(1);
      expect(own.map(({ uptimeS }) => uptimeS - (own[0]?.uptimeS ?? 0))).toEqual([0, 2, 4, 6, 8]);
    }
    expect(new Set(beats.map(({ instance }) => instance)).size).toBe(3);
  });

  it('tell a robot that goes round and stands, is stopped at times, and whose battery goes down', async () => {
    await using w = await world(1);
    const beats = (await w.hear(600, 1)).map(({ bytes }) => readByHand(bytes, w.secret));
    const [first] = beats;
    const radius = Math.hypot(first?.xMm ?? 0, first?.yMm ?? 0);
    for (const [index, heartbeat] of beats.entries()) {
      expect(Math.hypot(heartbeat.xMm, heartbeat.yMm)).toBeCloseTo(radius, -1);
      expect(Math.abs(heartbeat.yawMilliDeg)).toBeLessThanOrEqual(180_000);
      // It looks along its way: at a right angle to the line from the middle.
      const yaw = (heartbeat.yawMilliDeg / 180_000) * Math.PI;
      expect(Math.abs(heartbeat.xMm * Math.cos(yaw) + heartbeat.yMm * Math.sin(yaw)) / radius).toBeLessThan(0.01);
      const before = beats[index - 1];
      if (before === undefined) continue;
      const wayMm = Math.hypot(heartbeat.xMm - before.xMm, heartbeat.yMm - before.yMm);
      expect(wayMm).toBeLessThan(1010);
      if (before.moving === 1) expect(heartbeat.moving === 2 || wayMm === 0).toBe(true);
      if (before.moving === 2 && heartbeat.moving === 2) expect(wayMm).toBeGreaterThan(800);
      expect(heartbeat.battery).toBeLessThanOrEqual(before.battery);
    }
    expect((first?.battery ?? 0) - (beats.at(-1)?.battery ?? 0)).toBe(19);
    expect(new Set(beats.map(({ moving, stopped }) => `${moving} ${stopped}`))).toEqual(new Set(['2 1', '1 1', '1 2']));
  });

  it('are all accepted by the reader of the gateway, which shows every robot as told', async () => {
    await using w = await world(20);
    const got = await w.hear(4, 20);
    expect(w.counts).toEqual({ received: 80 });
    const shown = w.ears.list();
    expect(shown.map(({ serial, presence, heartbeats, lost }) => [serial, presence, heartbeats, lost])).toEqual(
      Array.from({ length: 20 }, (_, index) => [`SIM-N${String(index + 1).padStart(3, '0')}`, 'alive', 4, 0]),
    );
    for (const { serial, heartbeat } of shown) {
      const told = got.map(({ bytes }) => readByHand(bytes, w.secret)).findLast((hand) => hand.serial === serial);
      expect(heartbeat).toMatchObject({ bootCounter: told?.bootCounter, sequence: 3, instance: told?.instance });
      expect(heartbeat.uptimeS).toBe(told?.uptimeS);
      expect(heartbeat.state).toEqual({
        moving: told?.moving === 2,
        stopped: told?.stopped === 2,
        batteryPercent: told?.battery,
        pose: {
          xM: (told?.xMm ?? 0) / 1000,
          yM: (told?.yMm ?? 0) / 1000,
          yawDeg: (told?.yawMilliDeg ?? 0) / 1000,
        },
        software: SOFTWARE,
      });
    }
  });

  it('come every 2 s for an hour, each neighbour at a moment of its own, and all still the same', async () => {
    await using w = await world(4);
    await w.hear(1800, 4);
    expect(w.ears.list().map(({ heartbeat }) => heartbeat.sequence)).toEqual([1799, 1799, 1799, 1799]);
    // Five moments: the second device of the serial conflict has one too.
    const moments = Map.groupBy(w.firedMs(), (atMs) => Math.round(atMs % PERIOD_MS));
    expect([...moments.values()].map((fired) => fired.length)).toEqual([1800, 1800, 1800, 1800, 1800]);
    expect(Math.min(...moments.keys())).toBeLessThan(PERIOD_MS / 2);
    expect(Math.max(...moments.keys())).toBeGreaterThan(PERIOD_MS / 2);
  });

  it('do not drift when timers are late, and leave out what a sleeping machine missed', async () => {
    const random = spread();
    await using w = await world(2, { lateMs: () => 50 * random() });
    await w.hear(500, 2);
    expect(w.ears.list().map(({ heartbeat }) => heartbeat.sequence)).toEqual([499, 499]);
    w.sleep(3_600_000);
    await w.hear(1, 2);
    expect(w.ears.list().map(({ heartbeat }) => heartbeat.sequence)).toEqual([500, 500]);
  });

  it('are those of 1000 robots from 200 addresses', async () => {
    await using w = await world(1000);
    const got = await w.hear(3, 1000);
    expect(w.counts).toEqual({ received: 3000 });
    expect(w.ears.list().length).toBe(1000);
    expect(w.neighbours.lastSerial).toBe('SIM-N1000');
    const addresses = Map.groupBy(got, ({ address }) => address);
    expect(addresses.size).toBe(200);
    expect(new Set([...addresses.values()].map((beats) => beats.length))).toEqual(new Set([15]));
    // One timer goes round them all.
    expect(w.clock.pending).toBe(1);
  });

  it('end with the simulator: no timer and no datagram is left', async () => {
    await using w = await world(2);
    await w.hear(1, 2);
    await w.neighbours[Symbol.asyncDispose]();
    expect(w.clock.pending).toBe(0);
    await w.clock.advance(10 * PERIOD_MS);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([w.waiting(), w.unsent]).toEqual([0, []]);
  });
});

describe('the faults of the fleet', () => {
  it('fleet-silent: the last falls silent, and comes back with a higher boot counter', async () => {
    await using w = await world(2);
    await w.hear(2, 2);
    const before = w.last()?.heartbeat;
    w.setFault('fleet-silent', true);
    await w.hear(4, 1);
    expect(w.last()).toMatchObject({ presence: 'late', heartbeats: 2 });
    await w.hear(12, 1);
    expect(w.last()).toMatchObject({ presence: 'gone', heartbeats: 2 });
    w.setFault('fleet-silent', false);
    await w.hear(3, 2);
    const after = w.last();
    expect(after).toMatchObject({ presence: 'alive', heartbeats: 5, conflictWith: null });
    expect(after?.heartbeat).toMatchObject({ bootCounter: 2, sequence: 2 });
    expect(after?.heartbeat.uptimeS).toBeLessThan(3 * 2 + 1);
    expect(after?.heartbeat.instance).not.toBe(before?.instance);
    expect(w.ears.list()[0]).toMatchObject({ presence: 'alive', heartbeats: 21, lost: 0 });
    expect(w.counts).toEqual({ received: 26 });
  });

  it('fleet-replaying: each recording is refused, and the robot stays alive as it is', async () => {
    await using w = await world(2);
    const [own] = (await w.hear(3, 2)).filter(({ address }) => address === '127.0.0.3');
    w.setFault('fleet-replaying', true);
    const got = await w.hear(10, 3);
    const replayed = got.filter(({ bytes }) => own !== undefined && bytes.equals(own.bytes));
    expect(replayed.map(({ address }) => address)).toEqual(Array(10).fill('127.0.0.3'));
    expect(w.counts).toEqual({ received: 26, replayed: 10 });
    expect(w.last()).toMatchObject({ presence: 'alive', heartbeats: 13, lost: 0, conflictWith: null });
    expect(w.last()?.heartbeat.sequence).toBe(12);
    w.setFault('fleet-replaying', false);
    await w.hear(1, 2);
  });

  it('fleet-replaying: after a new start it is a recording of an earlier life, and no conflict', async () => {
    await using w = await world(1);
    await w.hear(2, 1);
    w.setFault('fleet-silent', true);
    w.setFault('fleet-silent', false);
    w.setFault('fleet-replaying', true);
    await w.hear(10, 2);
    expect(w.counts).toEqual({ received: 12, replayed: 10 });
    expect(w.last()).toMatchObject({ presence: 'alive', conflictWith: null, heartbeat: { bootCounter: 2 } });
  });

  it('fleet-wrong-key: its beats name another key and are signed with it', async () => {
    await using w = await world(2);
    await w.hear(1, 2);
    w.setFault('fleet-wrong-key', true);
    await w.hear(4, 2);
    expect(w.counts).toEqual({ received: 6, 'other-key': 4 });
    expect(w.last()).toMatchObject({ presence: 'late', heartbeats: 1 });
    w.setFault('fleet-wrong-key', false);
    await w.hear(1, 2);
    expect(w.last()).toMatchObject({ presence: 'alive', heartbeats: 2, lost: 4 });
  });

  it('fleet-clock-jumps: the uptime jumps by years to and fro, and nothing happens to the robot', async () => {
    await using w = await world(2);
    await w.hear(1, 2);
    w.setFault('fleet-clock-jumps', true);
    const got = await w.hear(40, 2);
    const uptimes = got
      .map(({ bytes }) => readByHand(bytes, w.secret))
      .filter(({ serial }) => serial === w.neighbours.lastSerial)
      .map(({ uptimeS }) => uptimeS);
    const steps = uptimes.map((uptimeS, index) => uptimeS - (uptimes[index - 1] ?? uptimeS));
    const yearS = 365 * 24 * 3600;
    expect(steps.filter((stepS) => stepS > 5 * yearS).length).toBeGreaterThan(15);
    expect(steps.filter((stepS) => stepS < -5 * yearS).length).toBeGreaterThan(15);
    expect(w.counts).toEqual({ received: 82 });
    expect(w.last()).toMatchObject({ presence: 'alive', heartbeats: 41, lost: 0, conflictWith: null });
    w.setFault('fleet-clock-jumps', false);
    await w.hear(1, 2);
    expect(w.last()?.heartbeat.uptimeS).toBeLessThan(42 * 2 + 1);
  });

  it('fleet-serial-conflict: a second device is named with its address, and the robot stays itself', async () => {
    await using w = await world(2);
    await w.hear(10, 2);
    const own = w.last()?.heartbeat.instance;
    w.setFault('fleet-serial-conflict', true);
    const got = await w.hear(5, 3);
    const others = got
      .filter(({ address }) => address === '127.0.0.202')
      .map(({ bytes }) => readByHand(bytes, w.secret));
    expect(others.map(({ serial, bootCounter, sequence }) => [serial, bootCounter, sequence])).toEqual(
      [0, 1, 2, 3, 4].map((sequence) => ['SIM-N002', 1, sequence]),
    );
    expect(new Set(others.map(({ instance }) => instance)).size).toBe(1);
    expect(others[0]?.instance).not.toBe(own);
    expect(w.counts).toEqual({ received: 30, replayed: 5 });
    expect(w.last()).toMatchObject({ address: '127.0.0.3', conflictWith: '127.0.0.202', heartbeats: 15 });
    expect(w.last()?.heartbeat.instance).toBe(own);
    w.setFault('fleet-serial-conflict', false);
    await w.hear(16, 2);
    expect(w.last()).toMatchObject({ conflictWith: null, presence: 'alive', heartbeats: 31, lost: 0 });
    // Switched on again it is another start of the device.
    w.setFault('fleet-serial-conflict', true);
    const [again] = (await w.hear(1, 3)).filter(({ address }) => address === '127.0.0.202');
    expect(again && readByHand(again.bytes, w.secret).instance).not.toBe(others[0]?.instance);
  });

  it('fleet-serial-conflict: is proved as well when both begin at once, and over when the device is gone', async () => {
    await using w = await world(1);
    w.setFault('fleet-serial-conflict', true);
    await w.hear(6, 2);
    expect(w.last()?.conflictWith).toMatch(/^127\.0\.0\.(2|202)$/);
    w.setFault('fleet-serial-conflict', false);
    await w.hear(17, 1);
    expect(w.last()).toMatchObject({ address: '127.0.0.2', presence: 'alive', conflictWith: null });
  });

  it('touch nobody but the last, all at once and in any order', async () => {
    await using w = await world(3);
    const names = faultNames.filter((name) => faultTable[name].kind === 'fleet');
    await w.hear(1, 3);
    for (const name of names) w.setFault(name, true);
    // Two, and the second device; the last is silent.
    await w.hear(3, 3);
    for (const name of names) w.setFault(name, false);
    await w.hear(3, 3);
    expect(w.ears.list().map(({ serial, presence, lost }) => [serial, presence, lost])).toEqual([
      ['SIM-N001', 'alive', 0],
      ['SIM-N002', 'alive', 0],
      ['SIM-N003', 'alive', 0],
    ]);
    expect(w.last()).toMatchObject({ address: '127.0.0.4', heartbeat: { bootCounter: 2 } });
  });

  it('have a test above, each of them', () => {
    const ofFleet = faultNames.filter((name) => faultTable[name].kind === 'fleet');
    expect([...seen].toSorted()).toEqual(ofFleet.toSorted());
    expect(ofFleet.length).toBe(5);
  });
});

describe('gw sim with neighbours', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-sim-test-'));
  });
  afterEach(async () => {
    await rm(dir, { recursive: true, force: true });
  });
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  it('writes a site file with a key of its own that nobody else can read, and beats with it', async () => {
    await using receiver = await openReceiver();
    const events: SimEvent[] = [];
    await using sim = await startSim({
      dir,
      robots: 5,
      heartbeatPort: receiver.port,
      clock: fastClock(40),
      onEvent: (event) => events.push(event),
    });
    const site = await loadSite(sim.sitePath ?? '');
    const keyFile = join(dir, 'secrets', 'heartbeat');
    expect(site.fleet).toMatchObject({ keyFile, acceptedKeyFiles: [], broadcast: false });
    expect(site.fleet?.robots).toEqual([site.chassis.serial, ...[1, 2, 3, 4, 5].map((robot) => `SIM-N00${robot}`)]);
    // Whatever a gateway with this file sends stays on this machine.
    expect(site.fleet?.unicast).toEqual([2, 3, 4, 5, 6].map((host) => `127.0.0.${host}`));
    expect(await readFile(keyFile, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
    expect([await modeOf(keyFile), await modeOf(join(dir, 'secrets'))]).toEqual([0o600, 0o700]);
    const ring = await readKeyRing({ keyFile, acceptedKeyFiles: [] });
    await until(() => receiver.got.length >= 15);
    const opened = receiver.got.map(({ bytes }) => decodeHeartbeat(bytes, ring));
    expect(new Set(opened.map(({ kind }) => kind))).toEqual(new Set(['heartbeat']));
    expect(new Set(opened.map((one) => one.kind === 'heartbeat' && one.heartbeat.serial)).size).toBe(5);
    for (const event of events) expect(simEventSchema.parse(event)).toEqual(event);
    const fleet = events.find(({ event }) => event === 'fleet');
    expect(fleet && renderSimEvent(fleet)).toBe(
      `fleet     5 neighbours (SIM-N001 to SIM-N005), UDP to 127.0.0.1:${receiver.port}`,
    );
    expect(events.map(({ event }) => event)).toEqual(['listening', 'fleet', 'listening', 'ready']);
  });

  it('keeps its key for the next run, and begins that one with higher boot counters', async () => {
    const runs: { readonly key: string; readonly boots: ReadonlySet<number> }[] = [];
    for (let run = 0; run < 2; run += 1) {
      await using receiver = await openReceiver();
      await using _sim = await startSim({ dir, robots: 2, heartbeatPort: receiver.port, clock: fastClock(40) });
      const key = await readFile(join(dir, 'secrets', 'heartbeat'), 'utf8');
      await until(() => receiver.got.length >= 4);
      const beats = receiver.got.map(({ bytes }) => readByHand(bytes, Buffer.from(key.trim(), 'hex')));
      runs.push({ key, boots: new Set(beats.map(({ bootCounter }) => bootCounter)) });
    }
    expect(runs.map(({ boots }) => [...boots])).toEqual([[1], [65_537]]);
    expect(runs[0]?.key).toBe(runs[1]?.key);
    expect((await readdir(dir)).toSorted()).toEqual(['evidence.jsonl', 'neighbours.json', 'secrets', 'site.yaml']);
    for (const text of ['', 'null', '{"format":"gw/sim-neighbours/1","runs":-1}', '{"runs":3}']) {
      await writeFile(join(dir, 'neighbours.json'), text);
      await expect(startSim({ dir, robots: 1 })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    }
  });

  it('switches their faults from outside', async () => {
    await using receiver = await openReceiver();
    await using _sim = await startSim({ dir, robots: 1, heartbeatPort: receiver.port, clock: fastClock(40) });
    await until(() => receiver.got.length >= 2);
    const result = await switchFault({ name: 'fleet-silent', state: 'on', dir });
    expect(result.note).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 50));
    receiver.got.length = 0;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(receiver.got).toEqual([]);
    await switchFault({ name: 'fleet-silent', state: 'off', dir });
    await until(() => receiver.got.length >= 1);
    expect(receiver.got[0]?.bytes.readUInt32BE(12)).toBe(2);
  });

  it('has none unless asked: no key, no heartbeat in the site file, and a fault of the fleet says so', async () => {
    const events: SimEvent[] = [];
    await using sim = await startSim({ dir, onEvent: (event) => events.push(event) });
    expect((await loadSite(sim.sitePath ?? '')).fleet).toBeUndefined();
    expect((await readdir(dir)).toSorted()).toEqual(['evidence.jsonl', 'sim.json', 'site.yaml']);
    expect(events.map(({ event }) => event)).not.toContain('fleet');
    const on = await switchFault({ name: 'fleet-silent', state: 'on', dir });
    expect(simFaultSchema.parse(on)).toEqual(on);
    expect(on.note).toContain('no neighbours');
    expect(renderSimFault(on)).toContain('No effect: this simulator has no neighbours');
    expect((await switchFault({ name: 'fleet-silent', state: 'off', dir })).note).toBeUndefined();
    expect((await switchFault({ name: 'slow', state: 'on', dir })).note).toBeUndefined();
  });

  it('takes 0 to 1000 of them, and a folder for their key', async () => {
    for (const robots of [-1, 1.5, 1001, Number.NaN])
      await expect(startSim({ dir, robots })).rejects.toThrow(RangeError);
    await expect(startSim({ robots: 1 })).rejects.toThrow(RangeError);
    expect(await readdir(dir)).toEqual([]);
  });
});
