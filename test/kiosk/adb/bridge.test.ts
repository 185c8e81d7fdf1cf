import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { tabletCommand } from '../../../src/lib/kiosk/adb/command.ts';
import { type Bridge, openBridge } from '../../../src/lib/kiosk/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { runs } from '../../properties.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-bridge-'));
const file = join(dir, 'file');
beforeAll(() => writeFile(file, Buffer.alloc(300_000, 7)));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A server that sends these bytes to any request, then closes the connection or leaves it open. */
async function rawServer(bytes: Uint8Array, ends: boolean): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.resume();
    socket.write(bytes);
    if (ends) socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<import('node:net').Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const call = (timeoutMs: number) => ({ signal: new AbortController().signal, timeoutMs });

const requests: readonly [string, (bridge: Bridge, timeoutMs: number) => Promise<unknown>][] = [
  ['devices', (bridge, ms) => bridge.devices(call(ms))],
  ['connect', (bridge, ms) => bridge.connect({ host: '127.0.0.1', port: 1 }, call(ms))],
  ['features', (bridge, ms) => bridge.features('x', call(ms))],
  ['shell', (bridge, ms) => bridge.shell('x', tabletCommand`getprop`, call(ms))],
  ['service', (bridge, ms) => bridge.service('x', 'usb:', call(ms))],
  [
    'push',
    (bridge) =>
      bridge.push('x', file, '/data/x', { ...call(0), transport: { kind: 'usb' }, stallMs: 100, onBytes: () => {} }),
  ],
];

/** Bytes that resemble answers of an adb server, and arbitrary ones. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'OKAY',
          'FAIL',
          '0004',
          'ffff',
          '0000',
          'x\tdevice\n',
          '\u0001\u0002\0\0\0hi',
          '\u0003\u0001\0\0\0\0',
        ),
        fc.string({ maxLength: 6 }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => Buffer.from(parts.join(''), 'latin1')),
);

describe.concurrent('an unexpected peer at the port of the adb server', () => {
  it.each(requests)('%s ends with a result or a GwError, and never hangs', async (_name, request) => {
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        await using server = await rawServer(sent, true);
        const bridge = await openBridge(server.port, systemClock);
        await request(bridge, 2_000).catch((error: unknown) => {
          expect(error).toBeInstanceOf(GwError);
          expect((error as GwError).code).toMatch(/^TABLET_(LOST|BAD_ANSWER|UNAUTHORIZED|REFUSED|NO_SPACE)$/);
        });
      }),
      { numRuns: runs(25) },
    );
  });

  it('that never answers ends with the timeout, and with the signal', async () => {
    await using server = await rawServer(Buffer.alloc(0), false);
    const bridge = await openBridge(server.port, systemClock);
    await expect(bridge.devices(call(100))).rejects.toMatchObject({ code: 'TABLET_LOST' });
    const ending = new AbortController();
    const pending = bridge.shell('x', tabletCommand`getprop`, { signal: ending.signal, timeoutMs: 60_000 });
    ending.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(pending).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('that does not read ends a transfer', async () => {
    await using server = await rawServer(Buffer.from('OKAYOKAY'), false);
    const bridge = await openBridge(server.port, systemClock);
    const signal = new AbortController().signal;
    const options = { signal, transport: { kind: 'usb' }, stallMs: 200, onBytes: () => {} } as const;
    await expect(bridge.push('x', file, '/data/x', options)).rejects.toMatchObject({
      code: 'TABLET_LOST',
      message: expect.stringContaining('Transfer of the package stalled'),
    });
  });

  it('a closed port is PART_ENDED, and no program is started', async () => {
    const server = await rawServer(Buffer.alloc(0), true);
    await server[Symbol.asyncDispose]();
    const bridge = await openBridge(server.port, systemClock);
    await expect(bridge.devices(call(2_000))).rejects.toMatchObject({ code: 'PART_ENDED' });
  });

  it.each([
    ['FAIL0013device unauthorized.', 'TABLET_UNAUTHORIZED'],
    ["FAIL0015device 'x' not found...", 'TABLET_LOST'],
    ['FAIL000edevice offline', 'TABLET_LOST'],
  ])('%j is %s', async (sent, code) => {
    await using server = await rawServer(Buffer.from(sent), true);
    const bridge = await openBridge(server.port, systemClock);
    await expect(bridge.shell('x', tabletCommand`getprop`, call(2_000))).rejects.toMatchObject({ code });
  });
});
