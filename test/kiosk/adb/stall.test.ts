import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { transferSnapshots } from '../../../src/lib/kiosk/adb/stall.ts';
import { openBridge, type TabletTransport } from '../../../src/lib/kiosk/index.ts';
import type { ConnectionQueues } from '../../../src/lib/net/probe/index.ts';
import { createFakeClock, passTime } from '../../lifecycle/fake-clock.ts';
import { folderOfFile } from '../../lifecycle/folder.ts';
import { diskSettled } from '../../lifecycle/paced-clock.ts';
import { listening } from '../../listening.ts';

const file = join(folderOfFile(), 'package.apk');
const FILE_BYTES = 12_000;
const READ_BYTES = 3_000;
writeFileSync(file, Buffer.alloc(FILE_BYTES, 7));

/**
 * An adb server that buffers a whole package at once, as adb buffers parts of it, and forwards it to a tablet that reads
 * a part when the test says so. It answers when the tablet has read everything.
 */
async function slowTablet(onBytes: (bytes: number) => void = () => {}) {
  // Each snapshot reads the tables of the kernel.
  const clock = createFakeClock({ settled: diskSettled });
  const relayServer = createServer();
  const relay = await listening(relayServer);
  let received = 0;
  let onComplete = () => {};
  // The tablet is the connecting side, because only there node reads with a buffer of a given size.
  const tablet: Socket = connect({
    host: '127.0.0.1',
    port: relay.port,
    onread: {
      buffer: Buffer.alloc(READ_BYTES),
      callback(bytes) {
        received += bytes;
        if (received >= FILE_BYTES) onComplete();
        return false;
      },
    },
  });
  tablet.on('error', () => {}).pause();
  const [[far]] = (await Promise.all([once(relayServer, 'connection'), once(tablet, 'connect')])) as [
    [Socket],
    unknown,
  ];
  const adbServer = createServer((near) => {
    near.write('OKAYOKAY');
    near.pipe(far, { end: false });
    onComplete = () => near.write('OKAY\0\0\0\0');
  });
  const adb = await listening(adbServer);
  const endpoint = { host: '127.0.0.1', port: tablet.localPort ?? 0 };
  const bridge = await openBridge(adb.port, clock);
  let isOver = false;
  return {
    clock,
    isOver: () => isOver,
    received: () => received,
    /** Begins the transfer, and waits until adb has all of it: from then on only the queue to the tablet shows progress. */
    async push(stallMs: number, endpointSeen = endpoint) {
      const transport: TabletTransport = { kind: 'tcp', endpoint: endpointSeen, dialled: endpoint };
      const signal = new AbortController().signal;
      let sent = 0;
      const count = (bytes: number) => {
        sent = bytes;
        onBytes(bytes);
      };
      const pushed = bridge.push('x', file, '/data/x', { signal, transport, stallMs, onBytes: count });
      const over = () => {
        isOver = true;
      };
      pushed.then(over, over);
      await expect.poll(() => sent).toBe(FILE_BYTES);
      return { pushed };
    },
    async read() {
      const before = received;
      tablet.resume();
      await expect.poll(() => received).toBeGreaterThan(before);
    },
    disconnect: () => [relay, adb].map((server) => server.cut()),
    async [Symbol.asyncDispose]() {
      tablet.destroy();
      await Promise.all([relay, adb].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

describe.runIf(process.platform === 'linux')('a transfer', () => {
  it('far slower than the stall limit is not a stall', { tags: 'large' }, async () => {
    const reported: number[] = [];
    await using tablet = await slowTablet((bytes) => reported.push(bytes));
    const { pushed } = await tablet.push(1_000);
    while (tablet.received() < FILE_BYTES) {
      await tablet.clock.advance(900);
      await tablet.read();
    }
    await passTime(tablet.clock, 30, pushed);
    expect(reported.at(-1)).toBe(FILE_BYTES);
  });

  it('ends when the tablet reads nothing', async () => {
    await using tablet = await slowTablet();
    const { pushed } = await tablet.push(300);
    const message = expect.stringContaining('Transfer of the package stalled');
    await expect(passTime(tablet.clock, 30, pushed)).rejects.toMatchObject({ code: 'TABLET_LOST', message });
  });

  it('whose last connection belongs to a remote host is not judged, and ends with its connection', async () => {
    await using tablet = await slowTablet();
    const { pushed } = await tablet.push(1_000, { host: '127.0.0.1', port: 1 });
    await tablet.clock.advance(3_000);
    expect(tablet.isOver()).toBe(false);
    tablet.disconnect();
    const lost = { code: 'TABLET_LOST', message: expect.stringContaining('lost') };
    await expect(passTime(tablet.clock, 30, pushed)).rejects.toMatchObject(lost);
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
