import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { openBridge, type TabletWay } from '../../src/lib/kiosk/index.ts';
import { movementTo } from '../../src/lib/kiosk/movement.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { ConnectionQueues } from '../../src/lib/net/probe/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-movement-'));
const file = join(dir, 'package.apk');
const FILE_BYTES = 150_000;
writeFileSync(file, Buffer.alloc(FILE_BYTES, 7));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** How a tablet takes what comes: so many bytes at a time, and so long between; null: nothing at all. */
type Taking = { readonly bytes: number; readonly everyMs: number } | null;

/**
 * An adb server that takes a whole package at once, as adb takes parts of it, and hands it to a tablet that takes it in
 * its own time. When the tablet has everything, it answers.
 */
async function slowTablet(taking: Taking) {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  const between = createServer((socket) => void keep(socket));
  const betweenPort = await listening(between);
  let taken = 0;
  let onAll = () => {};
  // The tablet is the one that connects: only so does node read in such small parts, and nothing before its time.
  const tablet: Socket = connect({
    host: '127.0.0.1',
    port: betweenPort,
    onread: {
      buffer: Buffer.alloc(taking?.bytes ?? 1),
      callback(bytes) {
        taken += bytes;
        if (taken >= FILE_BYTES) onAll();
        if (taking !== null) setTimeout(() => tablet.resume(), taking.everyMs);
        return false;
      },
    },
  });
  keep(tablet);
  const [[far]] = (await Promise.all([once(between, 'connection'), once(tablet, 'connect')])) as [[Socket], unknown];
  const adb = createServer((near) => {
    keep(near).write('OKAYOKAY');
    near.pipe(far, { end: false });
    onAll = () => near.write('OKAY\0\0\0\0');
  });
  const port = await listening(adb);
  const place = { host: '127.0.0.1', port: tablet.localPort ?? 0 };
  return {
    bridge: await openBridge(port, systemClock),
    way: { kind: 'tcp', endpoint: place, dialled: place } satisfies TabletWay,
    taken: () => taken,
    cut: () => [...sockets].map((socket) => socket.destroy()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([between, adb].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

describe.runIf(process.platform === 'linux')('a transfer', () => {
  it('that is far slower than the limit for a standstill is never called one', { timeout: 30_000 }, async () => {
    // Takes four seconds. adb has all of it at once: nothing but the queue towards the tablet tells that it goes on.
    await using tablet = await slowTablet({ bytes: 1_500, everyMs: 40 });
    const told: number[] = [];
    await tablet.bridge.push('x', file, '/data/x', {
      signal: new AbortController().signal,
      way: tablet.way,
      stallMs: 1_000,
      onBytes: (bytes) => told.push(bytes),
    });
    expect(tablet.taken()).toBeGreaterThanOrEqual(FILE_BYTES);
    expect(told.at(-1)).toBe(FILE_BYTES);
  });

  it('of which the tablet takes nothing any more ends', async () => {
    await using tablet = await slowTablet(null);
    const options = { signal: new AbortController().signal, way: tablet.way, stallMs: 300, onBytes: () => {} };
    await expect(tablet.bridge.push('x', file, '/data/x', options)).rejects.toMatchObject({
      code: 'TABLET_LOST',
      message: expect.stringContaining('Nothing of the package moved'),
    });
  });

  it('whose last stretch is a connection of another machine is not judged, and ends when the line does', async () => {
    await using tablet = await slowTablet(null);
    const elsewhere = { ...tablet.way, endpoint: { host: '127.0.0.1', port: 1 } };
    const options = { signal: new AbortController().signal, way: elsewhere, stallMs: 100, onBytes: () => {} };
    const pushed = tablet.bridge.push('x', file, '/data/x', options).catch((error: unknown) => error);
    expect(await Promise.race([pushed, sleep(1_000, 'still going')])).toBe('still going');
    tablet.cut();
    expect(await pushed).toMatchObject({ code: 'TABLET_LOST', message: expect.stringContaining('cut') });
  });
});

describe('what is seen of a transfer', () => {
  const row = (localPort: number, remotePort: number, sendQueueBytes = 0): ConnectionQueues => ({
    local: { address: '192.0.2.2', port: localPort },
    remote: { address: '192.0.2.5', port: remotePort },
    sendQueueBytes,
    receiveQueueBytes: 0,
  });
  const place = (port: number) => ({ host: '192.0.2.5', port });
  const direct: TabletWay = { kind: 'tcp', endpoint: place(5555), dialled: place(5555) };

  it('is another state when a queue on the way changes, and the same when one beside it does', async () => {
    let rows = [row(40_000, 5555, 9_000), row(40_001, 443, 5)];
    const look = movementTo(direct, 5037, async () => rows);
    const before = await look();
    expect(before.isWhole).toBe(true);
    rows = [row(40_001, 443, 6), row(40_000, 5555, 9_000)];
    expect(await look()).toEqual(before);
    rows = [row(40_000, 5555, 8_999)];
    expect((await look()).state).not.toBe(before.state);
  });

  it('is whole only with the connection to the tablet itself, or at a cable', async () => {
    const relayed: TabletWay = { kind: 'tcp', endpoint: place(5555), dialled: { host: '127.0.0.1', port: 40_100 } };
    const rows = async () => [row(40_000, 5037), row(40_001, 40_100)];
    expect(await movementTo(relayed, 5037, rows)()).toMatchObject({ isWhole: false });
    expect(await movementTo(direct, 5037, async () => [])()).toEqual({ state: '', isWhole: false });
    expect(await movementTo({ kind: 'usb' }, 5037, rows)()).toMatchObject({ isWhole: true });
  });
});
