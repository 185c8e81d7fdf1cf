import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { renderSimEvent, renderSimFault } from '../../../src/cli/render/sim.ts';
import { decodeHeartbeat } from '../../../src/lib/fleet/datagram.ts';
import { createKey, createKeyRing, readKeyRing } from '../../../src/lib/fleet/keys.ts';
import { createNeighbours } from '../../../src/lib/fleet/neighbours.ts';
import { createReplayGuard } from '../../../src/lib/fleet/replay-guard.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { switchFault } from '../../../src/lib/sim/control/switch-fault.ts';
import { createFaults } from '../../../src/lib/sim/faults.ts';
import { startNeighbours } from '../../../src/lib/sim/fleet/neighbours.ts';
import { type FaultName, faultNames, faultTable, startSim } from '../../../src/lib/sim/index.ts';
import { type SimEvent, simEventSchema, simFaultSchema } from '../../../src/lib/sim/sim.result.ts';
import { loadSite, mapMark } from '../../../src/lib/site/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { isFull } from '../../properties.ts';

// Received datagrams are decoded by the gateway, which shares no code with the simulator.

const PERIOD_MS = 2000;
const SOFTWARE = '2.12.3-sim';
const seen = new Set<FaultName>();

type Ring = ReturnType<typeof createKeyRing>;

function decode(bytes: Uint8Array, ring: Ring) {
  const opened = decodeHeartbeat(Buffer.from(bytes), ring);
  if (opened.kind !== 'heartbeat') throw new Error(opened.kind);
  const { state, ...rest } = opened.heartbeat;
  const { xM = 0, yM = 0, yawDeg = 0 } = state.pose ?? {};
  return { ...rest, ...state, xM, yM, yawDeg: Number(yawDeg) };
}

/** A socket of 127.0.0.1 that keeps its received datagrams. */
async function openReceiver() {
  const socket = createSocket('udp4');
  const got: { readonly bytes: Buffer; readonly address: string }[] = [];
  let wake = () => {};
  socket.on('message', (bytes, { address }) => {
    got.push({ bytes, address });
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address: '127.0.0.1', port: 0, exclusive: true }, resolve);
  });
  return {
    port: socket.address().port,
    got,
    /** Takes the received datagrams once there are so many. */
    async take(count: number) {
      while (got.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return got.splice(0);
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

/** Neighbours on a test clock, and the receiver of a gateway. */
async function world(robots: number) {
  await using undo = new AsyncDisposableStack();
  const clock = createFakeClock();
  const firstMs: number[] = [];
  let calls = 0;
  const ownClock = {
    ...clock,
    // Without repetition.
    random: () => (++calls * 0.618_033_988_75) % 1,
    after(ms: number, fn: () => void) {
      firstMs.push(ms);
      return clock.after(ms, fn);
    },
  };
  const receiver = undo.use(await openReceiver());
  const secret = randomBytes(32);
  const faults = createFaults((name, on) => neighbours.applyFault(name, on));
  const unsent: string[] = [];
  let map: { uid: string; mapVersion: number } | undefined = { uid: 'hall', mapVersion: 3 };
  const about = {
    robots,
    secret,
    firstBoot: 1,
    software: SOFTWARE,
    faults,
    clock: ownClock,
    port: receiver.port,
    map: () => map,
  };
  const neighbours = undo.use(await startNeighbours({ ...about, onUnsent: (reason) => unsent.push(reason) }));
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
    firstMs,
    receiver,
    neighbours,
    unsent,
    counts,
    gateway,
    open: (bytes: Buffer) => decode(bytes, ring),
    last: () => gateway.list().find(({ serial }) => serial === neighbours.lastSerial),
    useMap(next: typeof map) {
      map = next;
    },
    setFault(name: FaultName, on: boolean) {
      seen.add(name);
      faults.set(name, on);
    },
    /** Advances by `periods`, each with `each` datagrams; returns all of them, judged. */
    async receive(periods: number, each: number) {
      const all: Awaited<ReturnType<typeof receiver.take>> = [];
      for (let period = 0; period < periods; period += 1) {
        await clock.advance(PERIOD_MS);
        const got = await receiver.take(each);
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
  it('are in sequence, of one boot and instance each, from their own addresses', async () => {
    await using w = await world(3);
    const heartbeats = (await w.receive(5, 3)).map(({ bytes, address }) => ({ address, ...w.open(bytes) }));
    for (const [index, serial] of ['SIM-N001', 'SIM-N002', 'SIM-N003'].entries()) {
      const own = heartbeats.filter((heartbeat) => heartbeat.serial === serial);
      const [{ instance = '', uptimeS = 0 } = {}] = own;
      expect(own).toMatchObject(
        [0, 1, 2, 3, 4].map((sequence) => ({
          ...{ address: `127.0.0.${index + 2}`, bootCounter: 1, software: SOFTWARE },
          ...{ instance, sequence, uptimeS: uptimeS + 2 * sequence },
        })),
      );
    }
    expect(new Set(heartbeats.map(({ instance }) => instance)).size).toBe(3);
  });

  it('name the map in which their poses count', async () => {
    await using w = await world(1);
    const marks = async () => (await w.receive(1, 1)).map(({ bytes }) => w.open(bytes).map);
    expect(await marks()).toEqual([mapMark({ uid: 'hall', version: 3 })]);
    w.useMap({ uid: 'attic', mapVersion: 1 });
    expect(await marks()).toEqual([mapMark({ uid: 'attic', version: 1 })]);
    w.useMap(undefined);
    expect(await marks()).toEqual([null]);
  });

  it('are sent every 2 s, each neighbour with its own offset', async () => {
    await using w = await world(4);
    await w.receive(100, 4);
    expect(w.gateway.list().map(({ heartbeat }) => heartbeat.sequence)).toEqual([99, 99, 99, 99]);
    // Five offsets: the second device of the serial conflict has one too.
    expect(new Set(w.firstMs.slice(0, 5)).size).toBe(5);
    expect(Math.min(...w.firstMs)).toBeLessThan(PERIOD_MS / 2);
    expect(Math.max(...w.firstMs)).toBeGreaterThan(PERIOD_MS / 2);
  });

  it('come from up to 1000 robots at 200 addresses', { tags: 'property' }, async () => {
    const robots = isFull ? 1000 : 400;
    await using w = await world(robots);
    const got = await w.receive(3, robots);
    expect(w.counts).toEqual({ received: 3 * robots });
    expect([w.gateway.list().length, w.neighbours.lastSerial]).toEqual([robots, `SIM-N${robots}`]);
    const addresses = Map.groupBy(got, ({ address }) => address);
    expect(addresses.size).toBe(200);
    expect(new Set([...addresses.values()].map(({ length }) => length))).toEqual(new Set([(3 * robots) / 200]));
  });

  it('end with the simulator, without a further timer or datagram', async () => {
    await using w = await world(2);
    await w.receive(1, 2);
    await w.neighbours[Symbol.asyncDispose]();
    expect(w.clock.pending).toBe(0);
    await w.clock.advance(10 * PERIOD_MS);
    expect([w.receiver.got, w.unsent]).toEqual([[], []]);
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
    const alive = { presence: 'alive', conflictWith: null };
    expect(w.last()).toMatchObject({ ...alive, heartbeats: 13, lost: 0, heartbeat: { sequence: 12 } });
    // After a restart it is a replay of an earlier boot, not a conflict.
    for (const on of [true, false]) w.setFault('fleet-silent', on);
    await w.receive(10, 3);
    expect(w.counts).toEqual({ received: 46, replayed: 20 });
    expect(w.last()).toMatchObject({ ...alive, heartbeat: { bootCounter: 2 } });
    w.setFault('fleet-replaying', false);
    await w.receive(1, 2);
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
    const all = (await w.receive(40, 2)).map(({ bytes }) => w.open(bytes));
    const uptimes = all.filter(({ serial }) => serial === w.neighbours.lastSerial).map(({ uptimeS }) => uptimeS);
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
    const ofOther = (got: Awaited<ReturnType<typeof w.receive>>) =>
      got.filter(({ address }) => address === '127.0.0.202').map(({ bytes }) => w.open(bytes));
    const others = ofOther(await w.receive(5, 3));
    const { instance } = others[0] ?? {};
    const serial = 'SIM-N002';
    expect(others).toMatchObject([0, 1, 2, 3, 4].map((sequence) => ({ serial, bootCounter: 1, sequence, instance })));
    expect(instance).not.toBe(own);
    expect(w.counts).toEqual({ received: 30, replayed: 5 });
    const conflict = {
      address: '127.0.0.3',
      conflictWith: '127.0.0.202',
      heartbeats: 15,
      heartbeat: { instance: own },
    };
    expect(w.last()).toMatchObject(conflict);
    w.setFault('fleet-serial-conflict', false);
    await w.receive(16, 2);
    expect(w.last()).toMatchObject({ conflictWith: null, presence: 'alive', heartbeats: 31, lost: 0 });
    // Switched on again, the device has a new boot.
    w.setFault('fleet-serial-conflict', true);
    expect(ofOther(await w.receive(1, 3))[0]?.instance).not.toBe(instance);
  });

  it('affect only the last, all together and in any order; each has a test here', async () => {
    await using w = await world(3);
    const names = faultNames.filter((name) => faultTable[name].kind === 'fleet');
    expect([...seen].toSorted()).toEqual(names.toSorted());
    await w.receive(1, 3);
    for (const name of names) w.setFault(name, true);
    // Two, and the second device; the last is silent.
    await w.receive(3, 3);
    for (const name of names) w.setFault(name, false);
    await w.receive(3, 3);
    const alive = { presence: 'alive', lost: 0 };
    expect(w.gateway.list()).toMatchObject(
      ['SIM-N001', 'SIM-N002', 'SIM-N003'].map((serial) => ({ serial, ...alive })),
    );
    expect(w.last()).toMatchObject({ address: '127.0.0.4', heartbeat: { bootCounter: 2 } });
  });
});

describe('gw sim with neighbours', () => {
  const folder = folderOfEach();
  let dir: string;
  beforeEach(() => {
    dir = folder.path;
  });
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

  /** A simulator on a clock of its own; each call of `heartbeats` returns those of the next period. */
  async function started(robots: number, onEvent: (event: SimEvent) => void = () => {}) {
    await using undo = new AsyncDisposableStack();
    const receiver = undo.use(await openReceiver());
    const clock = createFakeClock();
    const sim = undo.use(await startSim({ dir, robots, heartbeatPort: receiver.port, clock, onEvent }));
    const keyFile = join(dir, 'secrets', 'heartbeat');
    const ring = await readKeyRing({ keyFile, acceptedKeyFiles: [] });
    const running = undo.move();
    return {
      ...{ sim, clock, receiver, keyFile, key: await readFile(keyFile, 'utf8') },
      async heartbeats(count = robots) {
        await clock.advance(PERIOD_MS);
        return (await receiver.take(count)).map(({ bytes }) => decode(bytes, ring));
      },
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }

  it('writes a site file with an owner-only key, and signs heartbeats with it', async () => {
    const events: SimEvent[] = [];
    await using run = await started(5, (event) => events.push(event));
    const { fleet, chassis } = await loadSite(run.sim.sitePath ?? '');
    expect(fleet).toMatchObject({ keyFile: run.keyFile, acceptedKeyFiles: [], broadcast: false });
    expect(fleet?.robots).toEqual([chassis.serial, ...[1, 2, 3, 4, 5].map((robot) => `SIM-N00${robot}`)]);
    // A gateway with this file sends to this machine only.
    expect(fleet?.unicast).toEqual([2, 3, 4, 5, 6].map((host) => `127.0.0.${host}`));
    expect(run.key).toMatch(/^[0-9a-f]{64}\n$/);
    expect([await modeOf(run.keyFile), await modeOf(join(dir, 'secrets'))]).toEqual([0o600, 0o700]);
    expect(new Set((await run.heartbeats()).map(({ serial }) => serial)).size).toBe(5);
    for (const event of events) expect(simEventSchema.parse(event)).toEqual(event);
    expect(events.map(({ event }) => event)).toEqual(['listening', 'fleet', 'listening', 'ready']);
    expect(renderSimEvent(events[1] as SimEvent)).toBe(
      `fleet     5 neighbours (SIM-N001 to SIM-N005), UDP to 127.0.0.1:${run.receiver.port}`,
    );
  });

  it('keeps its key for the next run, and begins that one with higher boot counters', async () => {
    const runs: [string, number][] = [];
    for (let count = 0; count < 2; count += 1) {
      await using run = await started(2);
      for (const { bootCounter } of await run.heartbeats()) runs.push([run.key, bootCounter]);
    }
    const key = runs[0]?.[0];
    expect(runs).toEqual([1, 1, 65_537, 65_537].map((boot) => [key, boot]));
    expect((await readdir(dir)).toSorted()).toEqual(['evidence.jsonl', 'neighbours.json', 'secrets', 'site.yaml']);
    for (const text of ['', 'null', '{"format":"gw/sim-neighbours/1","runs":-1}', '{"runs":3}']) {
      await writeFile(join(dir, 'neighbours.json'), text);
      await expect(startSim({ dir, robots: 1 })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    }
  });

  it('switches their faults from outside', async () => {
    await using run = await started(2);
    await run.heartbeats();
    expect((await switchFault({ name: 'fleet-silent', state: 'on', dir })).note).toBeUndefined();
    expect((await run.heartbeats(1)).map(({ serial }) => serial)).toEqual(['SIM-N001']);
    await switchFault({ name: 'fleet-silent', state: 'off', dir });
    const again = (await run.heartbeats()).map(({ serial, bootCounter }) => `${serial} ${bootCounter}`);
    expect(again.toSorted()).toEqual(['SIM-N001 1', 'SIM-N002 2']);
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
