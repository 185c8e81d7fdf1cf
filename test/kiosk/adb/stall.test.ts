import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { transferSnapshots } from '../../../src/lib/kiosk/adb/stall.ts';
import { openBridge, type TabletTransport } from '../../../src/lib/kiosk/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { ConnectionQueues } from '../../../src/lib/net/probe/index.ts';

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

/** Read rate of a tablet: bytes per read and the interval; null: reads nothing. */
type ReadRate = { readonly bytes: number; readonly intervalMs: number } | null;

/**
 * An adb server that buffers a whole package at once, as adb buffers parts of it, and forwards it to a tablet that reads
 * at its own rate. It answers when the tablet has read everything.
 */
async function slowTablet(rate: ReadRate) {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  const relay = createServer((socket) => void keep(socket));
  const relayPort = await listening(relay);
  let received = 0;
  let onComplete = () => {};
  // The tablet is the connecting side, because only there node reads with a buffer of a given size.
  const tablet: Socket = connect({
    host: '127.0.0.1',
    port: relayPort,
    onread: {
      buffer: Buffer.alloc(rate?.bytes ?? 1),
      callback(bytes) {
        received += bytes;
        if (received >= FILE_BYTES) onComplete();
        if (rate !== null) setTimeout(() => tablet.resume(), rate.intervalMs);
        return false;
      },
    },
  });
  keep(tablet);
  const [[far]] = (await Promise.all([once(relay, 'connection'), once(tablet, 'connect')])) as [[Socket], unknown];
  const adb = createServer((near) => {
    keep(near).write('OKAYOKAY');
    near.pipe(far, { end: false });
    onComplete = () => near.write('OKAY\0\0\0\0');
  });
  const port = await listening(adb);
  const endpoint = { host: '127.0.0.1', port: tablet.localPort ?? 0 };
  return {
    bridge: await openBridge(port, systemClock),
    transport: { kind: 'tcp', endpoint, dialled: endpoint } satisfies TabletTransport,
    received: () => received,
    disconnect: () => [...sockets].map((socket) => socket.destroy()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([relay, adb].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

describe.runIf(process.platform === 'linux')('a transfer', () => {
  it('far slower than the stall limit is not a stall', { timeout: 30_000 }, async () => {
    // Takes 4 s. adb has all of it at once, so only the queue to the tablet shows progress.
    await using tablet = await slowTablet({ bytes: 1_500, intervalMs: 40 });
    const reported: number[] = [];
    await tablet.bridge.push('x', file, '/data/x', {
      signal: new AbortController().signal,
      transport: tablet.transport,
      stallMs: 1_000,
      onBytes: (bytes) => reported.push(bytes),
    });
    expect(tablet.received()).toBeGreaterThanOrEqual(FILE_BYTES);
    expect(reported.at(-1)).toBe(FILE_BYTES);
  });

  it('ends when the tablet reads nothing', async () => {
    await using tablet = await slowTablet(null);
    const options = {
      signal: new AbortController().signal,
      transport: tablet.transport,
      stallMs: 300,
      onBytes: () => {},
    };
    await expect(tablet.bridge.push('x', file, '/data/x', options)).rejects.toMatchObject({
      code: 'TABLET_LOST',
      message: expect.stringContaining('Transfer of the package stalled'),
    });
  });

  it('whose last connection belongs to a remote host is not judged, and ends with its connection', async () => {
    await using tablet = await slowTablet(null);
    const elsewhere = { ...tablet.transport, endpoint: { host: '127.0.0.1', port: 1 } };
    const options = { signal: new AbortController().signal, transport: elsewhere, stallMs: 100, onBytes: () => {} };
    const pushed = tablet.bridge.push('x', file, '/data/x', options).catch((error: unknown) => error);
    expect(await Promise.race([pushed, sleep(1_000, 'still going')])).toBe('still going');
    tablet.disconnect();
    expect(await pushed).toMatchObject({ code: 'TABLET_LOST', message: expect.stringContaining('lost') });
  });
});

describe('a snapshot of a transfer', () => {
  const row = (localPort: number, remotePort: number, sendQueueBytes = 0): ConnectionQueues => ({
    local: { address: '192.0.2.2', port: localPort },
    remote: { address: '192.0.2.5', port: remotePort },
    sendQueueBytes,
    receiveQueueBytes: 0,
  });
  const endpointAt = (port: number) => ({ host: '192.0.2.5', port });
  const direct: TabletTransport = { kind: 'tcp', endpoint: endpointAt(5555), dialled: endpointAt(5555) };

  it('changes with a queue of the transfer, and not with another queue', async () => {
    let rows = [row(40_000, 5555, 9_000), row(40_001, 443, 5)];
    const snapshot = transferSnapshots(direct, 5037, async () => rows);
    const before = await snapshot();
    expect(before.isComplete).toBe(true);
    rows = [row(40_001, 443, 6), row(40_000, 5555, 9_000)];
    expect(await snapshot()).toEqual(before);
    rows = [row(40_000, 5555, 8_999)];
    expect((await snapshot()).state).not.toBe(before.state);
  });

  it('is complete only with the connection to the tablet itself, or over USB', async () => {
    const relayed: TabletTransport = {
      kind: 'tcp',
      endpoint: endpointAt(5555),
      dialled: { host: '127.0.0.1', port: 40_100 },
    };
    const rows = async () => [row(40_000, 5037), row(40_001, 40_100)];
    expect(await transferSnapshots(relayed, 5037, rows)()).toMatchObject({ isComplete: false });
    expect(await transferSnapshots(direct, 5037, async () => [])()).toEqual({ state: '', isComplete: false });
    expect(await transferSnapshots({ kind: 'usb' }, 5037, rows)()).toMatchObject({ isComplete: true });
  });
});
