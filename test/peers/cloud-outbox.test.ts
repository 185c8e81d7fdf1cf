import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../bench/figures.ts';
import { threadModules } from '../../scripts/thread-modules.ts';
import { openOutbox } from '../../src/lib/cloud/outbox/outbox.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { freePort } from '../free-port.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { startProcess } from '../process.ts';
import { HANG_MS } from '../waiting.ts';
import { type Arrival, createBroker, startReceiver } from './cloud-outbox-broker.ts';
import { connectTo } from './cloud-outbox-link.ts';
import { hasProgram } from './peer.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const source = fileURLToPath(new URL('./cloud-outbox-child.ts', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-outbox-peer-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const KILLS = 50;
/** Robots that are killed side by side, each with an outbox of its own. */
const ROBOTS = 2;
/** A child lives at most so long after its first accepted message; a quarter is killed at any time from its start. */
const MAX_LIFE_MS = 250;
const EARLY_SHARE = 0.25;

interface Accepted {
  readonly messageClass: string;
  readonly seq: number;
  readonly id: string;
}

/** Lines that were printed in full. */
function acceptedIn(stdout: string): Accepted[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [, messageClass = '', seq = '', id = ''] = /^accepted (\w+) (\d+) ([0-9a-f-]{36})$/.exec(line) ?? [];
      if (id === '') throw new Error(`not a line of an accepted message: ${line}`);
      return { messageClass, seq: Number(seq), id };
    });
}

/** The messages of one robot: the first copy of each per class, and the payload of each id. Fails when copies differ. */
function firstArrivals(arrivals: readonly Arrival[], serial: string) {
  const payloads = new Map<string, string>();
  const classes = new Map<string, { seq: number; id: string }[]>();
  let duplicates = 0;
  for (const { topic, text } of arrivals) {
    const [, of, messageClass = ''] = topic.split('/');
    if (of !== serial) continue;
    const { id, seq, serial: sender } = JSON.parse(text) as { id: string; seq: number; serial: string };
    expect(sender).toBe(serial);
    const before = payloads.get(id);
    if (before !== undefined) {
      duplicates += 1;
      expect(text).toBe(before);
      continue;
    }
    payloads.set(id, text);
    classes.set(messageClass, [...(classes.get(messageClass) ?? []), { seq, id }]);
  }
  return { payloads, classes, duplicates };
}

/** The child without its sources: it starts in a third of the time. */
async function builtChild(): Promise<string> {
  await build({
    configFile: false,
    root,
    logLevel: 'silent',
    plugins: [threadModules()],
    ssr: { external: ['mqtt'] },
    build: {
      ssr: true,
      outDir: join(root, 'node_modules', '.cache', `outbox-child-${process.pid}`),
      emptyOutDir: true,
      target: 'node22',
      minify: false,
      rolldownOptions: {
        input: { child: source },
        output: { entryFileNames: '[name].js' },
      },
    },
  });
  return join(root, 'node_modules', '.cache', `outbox-child-${process.pid}`, 'child.js');
}

describe.skipIf(!hasProgram('mosquitto'))('the outbox against mosquitto', () => {
  let child = '';
  beforeAll(async () => {
    child = await builtChild();
  });
  afterAll(() => rmSync(join(child, '..'), { recursive: true, force: true }));

  it(`loses nothing in ${KILLS} kills while the broker comes and goes`, async () => {
    const seed = Number(process.env.GW_OUTBOX_SEED ?? Math.floor(Math.random() * 2 ** 31));
    console.info(`seed of the kills: ${seed}; repeat with GW_OUTBOX_SEED=${seed}`);
    const random = seededRandom(seed);
    await using broker = createBroker(join(scratch, 'broker'), await freePort());
    await broker.start();
    await using receiver = await startReceiver(broker.port);
    const serials = Array.from({ length: ROBOTS }, (_, index) => `SN${index + 1}`);
    const accepted = new Map<string, Accepted[]>(serials.map((serial) => [serial, []]));
    let isOver = false;
    let restarts = 0;

    const run = (serial: string, mode: string) => {
      const path = join(scratch, serial, 'outbox.db');
      const args = [child, path, serial, String(broker.port), String(Math.floor(random() * 2 ** 31)), mode];
      return startProcess(process.execPath, args);
    };
    const killing = serials.map(async (serial) => {
      for (let kill = 0; kill < KILLS / ROBOTS; kill += 1) {
        const [lifeMs, isEarly] = [random() * MAX_LIFE_MS, random() < EARLY_SHARE];
        const started = run(serial, 'append');
        if (!isEarly) await started.untilOutput('accepted');
        await Promise.race([sleep(lifeMs), started.closed]);
        expect(started.hasEnded(), started.stderr()).toBe(false);
        started.child.kill('SIGKILL');
        const { stdout, stderr } = await started.closed;
        expect(stderr).toBe('');
        accepted.get(serial)?.push(...acceptedIn(stdout));
      }
    });
    const restarting = (async () => {
      while (!isOver) {
        await sleep(300 + random() * 1_500);
        await broker.stop();
        await sleep(random() * 800);
        await broker.start();
        restarts += 1;
      }
    })();
    await Promise.all(killing);
    isOver = true;
    await restarting;
    for (const serial of serials) {
      await using finishing = run(serial, 'finish');
      const { code, stderr } = await Promise.race([
        finishing.closed,
        sleep(HANG_MS, { code: 'timed out', stderr: '' }),
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }

    for (const serial of serials) {
      const acceptedByCaller = accepted.get(serial) ?? [];
      await expect
        .poll(() => {
          const { payloads } = firstArrivals(receiver.arrivals, serial);
          return acceptedByCaller.filter(({ id }) => !payloads.has(id));
        })
        .toEqual([]);
      const { classes, duplicates } = firstArrivals(receiver.arrivals, serial);
      for (const arrived of classes.values()) {
        // Without a gap: also a message whose acceptance was no longer printed has arrived in its place.
        expect(arrived.map(({ seq }) => seq)).toEqual(arrived.map((_, index) => index + 1));
      }
      for (const { messageClass, seq, id } of acceptedByCaller)
        expect(classes.get(messageClass)?.[seq - 1]?.id).toBe(id);
      console.info(
        `${serial}: ${acceptedByCaller.length} accepted, ${duplicates} duplicates, ${restarts} restarts of the broker`,
      );
      // Otherwise the kills came too early or too late to mean anything.
      expect(acceptedByCaller.length).toBeGreaterThan(KILLS);
      expect(classes.size).toBe(4);
    }
    expect(restarts).toBeGreaterThan(2);
  });

  it('sends again what was not acknowledged, through a proxy that drops PUBACK packets', async () => {
    await using broker = createBroker(join(scratch, 'broker-puback'), await freePort());
    await broker.start();
    await using receiver = await startReceiver(broker.port);
    await using proxy = await startDroppingProxy(broker.port, 5);
    const clock = createFakeClock();
    await using outbox = await openOutbox({
      path: join(scratch, 'puback', 'outbox.db'),
      serial: 'SN9',
      recordTopic: 'gw/SN9/record',
      shadowTopic: 'gw/SN9/shadow',
      maxBytes: 10_000_000,
      maxPerSecond: 100_000,
      clock,
      log: silentLog,
    });
    const ids = await Promise.all(
      Array.from({ length: 120 }, (_, n) => outbox.append({ class: 'fault', topic: 'gw/SN9/fault', body: { n } })),
    );
    const failures: unknown[] = [];
    for (let attempt = 0; attempt < 30 && outbox.view().acknowledged < ids.length; attempt += 1) {
      const connection = await connectTo(proxy.port, 'SN9');
      const end = new AbortController();
      let isEnded = false;
      const ended = outbox
        .drain(connection, AbortSignal.any([connection.ended, end.signal]))
        .catch((error) => failures.push(error))
        .finally(() => {
          isEnded = true;
        });
      // Whatever is acknowledged at all is so by then; after that the outbox waits for what was dropped.
      for (let before = -1; before < outbox.view().acknowledged; await sleep(300)) before = outbox.view().acknowledged;
      if (outbox.view().acknowledged === ids.length) end.abort();
      for (let second = 0; second < 40 && !isEnded; second += 1) await clock.advance(1_000);
      await ended;
      connection.close();
    }
    expect(proxy.dropped()).toBeGreaterThan(10);
    expect(failures.length).toBeGreaterThan(0);
    expect(failures[0]).toMatchObject({ code: 'CLOUD_NO_ANSWER' });
    const { classes, duplicates } = firstArrivals(receiver.arrivals, 'SN9');
    expect(classes.get('fault')).toEqual(ids.map(({ id, seq }) => ({ id, seq })));
    // The broker had each of those whose PUBACK was dropped.
    expect(duplicates).toBeGreaterThanOrEqual(10);
    // Removals are made in groups, by the clock; the last acknowledgement may come at any time.
    const keptFaults = async () => {
      await clock.advance(1_000);
      return outbox.view().kept?.fault;
    };
    await expect.poll(keptFaults).toBe(0);
  });
});

const PUBACK = 4;

/** Passes everything on except every n-th PUBACK of the broker; the connection stays up. */
async function startDroppingProxy(brokerPort: number, every: number) {
  let [seen, dropped] = [0, 0];
  const sockets = new Set<Socket>();
  const server = createServer((device) => {
    const broker = createConnection(brokerPort, '127.0.0.1');
    for (const socket of [device, broker]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        device.destroy();
        broker.destroy();
      });
    }
    device.pipe(broker);
    let rest = Buffer.alloc(0);
    broker.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = packetEnd(rest); end !== null; end = packetEnd(rest)) {
        const packet = rest.subarray(0, end);
        rest = rest.subarray(end);
        const isPuback = (packet[0] ?? 0) >> 4 === PUBACK;
        if (isPuback) seen += 1;
        if (isPuback && seen % every === 0) dropped += 1;
        else device.write(packet);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    dropped: () => dropped,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Length of the first packet; null while it is not complete. */
function packetEnd(bytes: Buffer): number | null {
  let length = 0;
  for (let index = 1; index < Math.min(bytes.length, 5); index += 1) {
    const byte = bytes[index] ?? 0;
    length += (byte & 0x7f) * 128 ** (index - 1);
    if ((byte & 0x80) === 0) return bytes.length >= index + 1 + length ? index + 1 + length : null;
  }
  return null;
}
