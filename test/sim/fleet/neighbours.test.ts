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

// Received datagrams are decoded twice: by a decoder written here from the table in docs/heartbeat.md, and by that of the
// gateway, which shares no code with the simulator.

const PERIOD_MS = 2000;
const SOFTWARE = '2.12.3-sim';
const seen = new Set<FaultName>();

interface Got {
  readonly bytes: Buffer;
  readonly address: string;
}

/** A socket of 127.0.0.1 that keeps its received datagrams. */
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

/** Decodes version 1, from the table. Throws on any other byte. */
function decode(bytes: Buffer, secret: Uint8Array) {
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

/** Random numbers without repetition. */
function spread(): () => number {
  let calls = 0;
  return () => {
    calls += 1;
    return (calls * 0.618_033_988_75) % 1;
  };
}

/** Neighbours on a test clock, and the receiver of a gateway. */
async function world(robots: number) {
  await using undo = new AsyncDisposableStack();
  const clock = createFakeClock();
  const firstMs: number[] = [];
  const ownClock: Clock = {
    ...clock,
    random: spread(),
    after(ms, fn) {
      firstMs.push(ms);
      return clock.after(ms, fn);
    },
  };
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
  const gateway = createNeighbours({
    self: { serial: 'SIM-0001', instance: '0'.repeat(16) },
    // Not loaded, so that it writes no file.
    guard: createReplayGuard({ stateDir: '/proc/none', clock, log: silentLog }),
    clock,
  });
  const counts: Record<string, number> = {};
  const running = undo.move();
  return {
    clock,
    /** Times of the first heartbeats after the start. */
    firstMs: () => firstMs,
    secret,
    neighbours,
    unsent,
    /** Number of received datagrams that no call of `receive` has returned yet. */
    waiting: () => receiver.got.length,
    counts,
    gateway,
    last: () => gateway.list().find(({ serial }) => serial === neighbours.lastSerial),
    open: (bytes: Buffer): DecodedDatagram => decodeHeartbeat(bytes, ring),
    setFault(name: FaultName, on: boolean) {
      seen.add(name);
      faults.set(name, on);
    },
    /** Advances by `periods`, each with `each` datagrams; returns all of them, judged. */
    async receive(periods: number, each: number): Promise<Got[]> {
      const all: Got[] = [];
      for (let period = 0; period < periods; period += 1) {
        await clock.advance(PERIOD_MS);
        await until(() => receiver.got.length >= each);
        const got = receiver.got.splice(0);
        expect(got.length).toBe(each);
        for (const { bytes, address } of got) {
          const opened = decodeHeartbeat(bytes, ring);
          const verdict = opened.kind === 'heartbeat' ? gateway.receive(opened.heartbeat, address) : opened.kind;
          counts[verdict] = (counts[verdict] ?? 0) + 1;
        }
        all.push(...got);
      }
      return all;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describe('the heartbeats of the neighbours', () => {
  it('match the table byte by byte, each from its own address', async () => {
    await using w = await world(3);
    const got = await w.receive(5, 3);
    const heartbeats = got.map(({ bytes, address }) => ({ address, ...decode(bytes, w.secret) }));
    for (const [index, serial] of ['SIM-N001', 'SIM-N002', 'SIM-N003'].entries()) {
      const own = heartbeats.filter((heartbeat) => heartbeat.serial === serial);
      expect(own.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4]);
      expect(new Set(own.map(({ address }) => address))).toEqual(new Set([`127.0.0.${index + 2}`]));
      expect(new Set(own.map(({ bootCounter, software }) => `${bootCounter} ${software}`))).toEqual(
        new Set([`1 ${SOFTWARE}`]),
      );
      expect(new Set(own.map(({ instance }) => instance)).size).toBe(1);
      expect(own.map(({ uptimeS }) => uptimeS - (own[0]?.uptimeS ?? 0))).toEqual([0, 2, 4, 6, 8]);
    }
    expect(new Set(heartbeats.map(({ instance }) => instance)).size).toBe(3);
  });

  it('report a robot that drives in a circle, stands, is stopped at times, and discharges', async () => {
    await using w = await world(1);
    const heartbeats = (await w.receive(600, 1)).map(({ bytes }) => decode(bytes, w.secret));
    const [first] = heartbeats;
    const radius = Math.hypot(first?.xMm ?? 0, first?.yMm ?? 0);
    for (const [index, heartbeat] of heartbeats.entries()) {
      expect(Math.hypot(heartbeat.xMm, heartbeat.yMm)).toBeCloseTo(radius, -1);
      expect(Math.abs(heartbeat.yawMilliDeg)).toBeLessThanOrEqual(180_000);
      // The heading is tangential: at a right angle to the radius.
      const yaw = (heartbeat.yawMilliDeg / 180_000) * Math.PI;
      expect(Math.abs(heartbeat.xMm * Math.cos(yaw) + heartbeat.yMm * Math.sin(yaw)) / radius).toBeLessThan(0.01);
      const before = heartbeats[index - 1];
      if (before === undefined) continue;
      const wayMm = Math.hypot(heartbeat.xMm - before.xMm, heartbeat.yMm - before.yMm);
      expect(wayMm).toBeLessThan(1010);
      if (before.moving === 1) expect(heartbeat.moving === 2 || wayMm === 0).toBe(true);
      if (before.moving === 2 && heartbeat.moving === 2) expect(wayMm).toBeGreaterThan(800);
      expect(heartbeat.battery).toBeLessThanOrEqual(before.battery);
    }
    expect((first?.battery ?? 0) - (heartbeats.at(-1)?.battery ?? 0)).toBe(19);
    expect(new Set(heartbeats.map(({ moving, stopped }) => `${moving} ${stopped}`))).toEqual(
      new Set(['2 1', '1 1', '1 2']),
    );
  });

  it('are all accepted by the gateway, which shows every robot as sent', async () => {
    await using w = await world(20);
    const got = await w.receive(4, 20);
    expect(w.counts).toEqual({ received: 80 });
    const shown = w.gateway.list();
    expect(shown.map(({ serial, presence, heartbeats, lost }) => [serial, presence, heartbeats, lost])).toEqual(
      Array.from({ length: 20 }, (_, index) => [`SIM-N${String(index + 1).padStart(3, '0')}`, 'alive', 4, 0]),
    );
    for (const { serial, heartbeat } of shown) {
      const reported = got.map(({ bytes }) => decode(bytes, w.secret)).findLast((hand) => hand.serial === serial);
      expect(heartbeat).toMatchObject({
        bootCounter: reported?.bootCounter,
        sequence: 3,
        instance: reported?.instance,
      });
      expect(heartbeat.uptimeS).toBe(reported?.uptimeS);
      expect(heartbeat.state).toEqual({
        moving: reported?.moving === 2,
        stopped: reported?.stopped === 2,
        batteryPercent: reported?.battery,
        pose: {
          xM: (reported?.xMm ?? 0) / 1000,
          yM: (reported?.yMm ?? 0) / 1000,
          yawDeg: (reported?.yawMilliDeg ?? 0) / 1000,
        },
        software: SOFTWARE,
      });
    }
  });

  it('are sent every 2 s, each neighbour with its own offset', async () => {
    await using w = await world(4);
    await w.receive(300, 4);
    expect(w.gateway.list().map(({ heartbeat }) => heartbeat.sequence)).toEqual([299, 299, 299, 299]);
    // Five offsets: the second device of the serial conflict has one too.
    const offsets = w.firstMs();
    expect(new Set(offsets).size).toBe(5);
    expect(Math.min(...offsets)).toBeLessThan(PERIOD_MS / 2);
    expect(Math.max(...offsets)).toBeGreaterThan(PERIOD_MS / 2);
  });

  it('come from 1000 robots at 200 addresses', async () => {
    await using w = await world(1000);
    const got = await w.receive(3, 1000);
    expect(w.counts).toEqual({ received: 3000 });
    expect(w.gateway.list().length).toBe(1000);
    expect(w.neighbours.lastSerial).toBe('SIM-N1000');
    const addresses = Map.groupBy(got, ({ address }) => address);
    expect(addresses.size).toBe(200);
    expect(new Set([...addresses.values()].map((heartbeats) => heartbeats.length))).toEqual(new Set([15]));
  });

  it('end with the simulator, without a further timer or datagram', async () => {
    await using w = await world(2);
    await w.receive(1, 2);
    await w.neighbours[Symbol.asyncDispose]();
    expect(w.clock.pending).toBe(0);
    await w.clock.advance(10 * PERIOD_MS);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([w.waiting(), w.unsent]).toEqual([0, []]);
  });
});

describe('the faults of the fleet', () => {
  it('fleet-silent: the last stops sending, and returns with a higher boot counter', async () => {
    await using w = await world(2);
    await w.receive(2, 2);
    const before = w.last()?.heartbeat;
    w.setFault('fleet-silent', true);
    await w.receive(4, 1);
    expect(w.last()).toMatchObject({ presence: 'late', heartbeats: 2 });
    await w.receive(12, 1);
    expect(w.last()).toMatchObject({ presence: 'gone', heartbeats: 2 });
    w.setFault('fleet-silent', false);
    await w.receive(3, 2);
    const after = w.last();
    expect(after).toMatchObject({ presence: 'alive', heartbeats: 5, conflictWith: null });
    expect(after?.heartbeat).toMatchObject({ bootCounter: 2, sequence: 2 });
    expect(after?.heartbeat.uptimeS).toBeLessThan(3 * 2 + 1);
    expect(after?.heartbeat.instance).not.toBe(before?.instance);
    expect(w.gateway.list()[0]).toMatchObject({ presence: 'alive', heartbeats: 21, lost: 0 });
    expect(w.counts).toEqual({ received: 26 });
  });

  it('fleet-replaying: each replay is refused, and the robot stays alive', async () => {
    await using w = await world(2);
    const [own] = (await w.receive(3, 2)).filter(({ address }) => address === '127.0.0.3');
    w.setFault('fleet-replaying', true);
    const got = await w.receive(10, 3);
    const replayed = got.filter(({ bytes }) => own !== undefined && bytes.equals(own.bytes));
    expect(replayed.map(({ address }) => address)).toEqual(Array(10).fill('127.0.0.3'));
    expect(w.counts).toEqual({ received: 26, replayed: 10 });
    expect(w.last()).toMatchObject({ presence: 'alive', heartbeats: 13, lost: 0, conflictWith: null });
    expect(w.last()?.heartbeat.sequence).toBe(12);
    w.setFault('fleet-replaying', false);
    await w.receive(1, 2);
  });

  it('fleet-replaying: after a restart it is a replay of an earlier boot, not a conflict', async () => {
    await using w = await world(1);
    await w.receive(2, 1);
    w.setFault('fleet-silent', true);
    w.setFault('fleet-silent', false);
    w.setFault('fleet-replaying', true);
    await w.receive(10, 2);
    expect(w.counts).toEqual({ received: 12, replayed: 10 });
    expect(w.last()).toMatchObject({ presence: 'alive', conflictWith: null, heartbeat: { bootCounter: 2 } });
  });

  it('fleet-wrong-key: its heartbeats have another key id and signature', async () => {
    await using w = await world(2);
    await w.receive(1, 2);
    w.setFault('fleet-wrong-key', true);
    await w.receive(4, 2);
    expect(w.counts).toEqual({ received: 6, otherKey: 4 });
    expect(w.last()).toMatchObject({ presence: 'late', heartbeats: 1 });
    w.setFault('fleet-wrong-key', false);
    await w.receive(1, 2);
    expect(w.last()).toMatchObject({ presence: 'alive', heartbeats: 2, lost: 4 });
  });

  it('fleet-clock-jumps: the uptime jumps back and forth by years, and the robot stays alive', async () => {
    await using w = await world(2);
    await w.receive(1, 2);
    w.setFault('fleet-clock-jumps', true);
    const got = await w.receive(40, 2);
    const uptimes = got
      .map(({ bytes }) => decode(bytes, w.secret))
      .filter(({ serial }) => serial === w.neighbours.lastSerial)
      .map(({ uptimeS }) => uptimeS);
    const steps = uptimes.map((uptimeS, index) => uptimeS - (uptimes[index - 1] ?? uptimeS));
    const yearS = 365 * 24 * 3600;
    expect(steps.filter((stepS) => stepS > 5 * yearS).length).toBeGreaterThan(15);
    expect(steps.filter((stepS) => stepS < -5 * yearS).length).toBeGreaterThan(15);
    expect(w.counts).toEqual({ received: 82 });
    expect(w.last()).toMatchObject({ presence: 'alive', heartbeats: 41, lost: 0, conflictWith: null });
    w.setFault('fleet-clock-jumps', false);
    await w.receive(1, 2);
    expect(w.last()?.heartbeat.uptimeS).toBeLessThan(42 * 2 + 1);
  });

  it('fleet-serial-conflict: a second device is reported with its address, and the robot is unchanged', async () => {
    await using w = await world(2);
    await w.receive(10, 2);
    const own = w.last()?.heartbeat.instance;
    w.setFault('fleet-serial-conflict', true);
    const got = await w.receive(5, 3);
    const others = got.filter(({ address }) => address === '127.0.0.202').map(({ bytes }) => decode(bytes, w.secret));
    expect(others.map(({ serial, bootCounter, sequence }) => [serial, bootCounter, sequence])).toEqual(
      [0, 1, 2, 3, 4].map((sequence) => ['SIM-N002', 1, sequence]),
    );
    expect(new Set(others.map(({ instance }) => instance)).size).toBe(1);
    expect(others[0]?.instance).not.toBe(own);
    expect(w.counts).toEqual({ received: 30, replayed: 5 });
    expect(w.last()).toMatchObject({ address: '127.0.0.3', conflictWith: '127.0.0.202', heartbeats: 15 });
    expect(w.last()?.heartbeat.instance).toBe(own);
    w.setFault('fleet-serial-conflict', false);
    await w.receive(16, 2);
    expect(w.last()).toMatchObject({ conflictWith: null, presence: 'alive', heartbeats: 31, lost: 0 });
    // Switched on again, the device has a new boot.
    w.setFault('fleet-serial-conflict', true);
    const [again] = (await w.receive(1, 3)).filter(({ address }) => address === '127.0.0.202');
    expect(again && decode(again.bytes, w.secret).instance).not.toBe(others[0]?.instance);
  });

  it('fleet-serial-conflict: is detected also when both start together, and ends with the device', async () => {
    await using w = await world(1);
    w.setFault('fleet-serial-conflict', true);
    await w.receive(6, 2);
    expect(w.last()?.conflictWith).toMatch(/^127\.0\.0\.(2|202)$/);
    w.setFault('fleet-serial-conflict', false);
    await w.receive(17, 1);
    expect(w.last()).toMatchObject({ address: '127.0.0.2', presence: 'alive', conflictWith: null });
  });

  it('affect only the last, all together and in any order', async () => {
    await using w = await world(3);
    const names = faultNames.filter((name) => faultTable[name].kind === 'fleet');
    await w.receive(1, 3);
    for (const name of names) w.setFault(name, true);
    // Two, and the second device; the last is silent.
    await w.receive(3, 3);
    for (const name of names) w.setFault(name, false);
    await w.receive(3, 3);
    expect(w.gateway.list().map(({ serial, presence, lost }) => [serial, presence, lost])).toEqual([
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

  it('writes a site file with an owner-only key, and signs heartbeats with it', async () => {
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
    // A gateway with this file sends to this machine only.
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
      const heartbeats = receiver.got.map(({ bytes }) => decode(bytes, Buffer.from(key.trim(), 'hex')));
      runs.push({ key, boots: new Set(heartbeats.map(({ bootCounter }) => bootCounter)) });
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

  it('has none by default: no key, no heartbeat in the site file, and a fault of the fleet has no effect', async () => {
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

  it('accepts 0 to 1000 of them, and needs a folder for their key', async () => {
    for (const robots of [-1, 1.5, 1001, Number.NaN])
      await expect(startSim({ dir, robots })).rejects.toThrow(RangeError);
    await expect(startSim({ robots: 1 })).rejects.toThrow(RangeError);
    expect(await readdir(dir)).toEqual([]);
  });
});
