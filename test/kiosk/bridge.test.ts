import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { tabletCommand } from '../../src/lib/kiosk/command.ts';
import { type Bridge, openBridge } from '../../src/lib/kiosk/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-bridge-'));
const file = join(dir, 'file');
beforeAll(() => writeFile(file, Buffer.alloc(300_000, 7)));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Something on the port of an adb server that says these bytes, whatever it is asked, and ends or stays. */
async function babbler(bytes: Uint8Array, ends: boolean): Promise<{ port: number } & AsyncDisposable> {
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

const asks: readonly [string, (bridge: Bridge, timeoutMs: number) => Promise<unknown>][] = [
  ['devices', (bridge, ms) => bridge.devices(call(ms))],
  ['connect', (bridge, ms) => bridge.connect({ host: '127.0.0.1', port: 1 }, call(ms))],
  ['features', (bridge, ms) => bridge.features('x', call(ms))],
  ['shell', (bridge, ms) => bridge.shell('x', tabletCommand`getprop`, call(ms))],
  ['service', (bridge, ms) => bridge.service('x', 'usb:', call(ms))],
  [
    'push',
    (bridge) =>
      bridge.push('x', file, '/data/x', { ...call(0), way: { kind: 'usb' }, stallMs: 100, onBytes: () => {} }),
  ],
];

/** Bytes that look like answers of an adb server, and such that do not. */
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

describe.concurrent('whatever stands at the port of the adb server', () => {
  it.each(asks)('%s ends with a result or an error of ours, and never hangs', async (_name, ask) => {
    await fc.assert(
      fc.asyncProperty(bytes, async (said) => {
        await using server = await babbler(said, true);
        const bridge = await openBridge(server.port, systemClock);
        await ask(bridge, 2_000).catch((error: unknown) => {
          expect(error).toBeInstanceOf(GwError);
          expect((error as GwError).code).toMatch(/^TABLET_(LOST|BAD_ANSWER|UNAUTHORIZED|REFUSED|NO_SPACE)$/);
        });
      }),
      { numRuns: 25 },
    );
  });

  it('one that never answers ends with the limit, and with the signal', async () => {
    await using server = await babbler(Buffer.alloc(0), false);
    const bridge = await openBridge(server.port, systemClock);
    await expect(bridge.devices(call(100))).rejects.toMatchObject({ code: 'TABLET_LOST' });
    const ending = new AbortController();
    const asked = bridge.shell('x', tabletCommand`getprop`, { signal: ending.signal, timeoutMs: 60_000 });
    ending.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(asked).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('a transfer in which nothing moves ends, too', async () => {
    await using server = await babbler(Buffer.from('OKAYOKAY'), false);
    const bridge = await openBridge(server.port, systemClock);
    const signal = new AbortController().signal;
    const options = { signal, way: { kind: 'usb' }, stallMs: 200, onBytes: () => {} } as const;
    await expect(bridge.push('x', file, '/data/x', options)).rejects.toMatchObject({
      code: 'TABLET_LOST',
      message: expect.stringContaining('Nothing of the package moved'),
    });
  });

  it('nothing there is told, and no program is started for it', async () => {
    const server = await babbler(Buffer.alloc(0), true);
    await server[Symbol.asyncDispose]();
    const bridge = await openBridge(server.port, systemClock);
    await expect(bridge.devices(call(2_000))).rejects.toMatchObject({ code: 'PART_ENDED' });
  });

  it.each([
    ['FAIL0013device unauthorized.', 'TABLET_UNAUTHORIZED'],
    ["FAIL0015device 'x' not found...", 'TABLET_LOST'],
    ['FAIL000edevice offline', 'TABLET_LOST'],
  ])('%j is sorted as %s', async (said, code) => {
    await using server = await babbler(Buffer.from(said), true);
    const bridge = await openBridge(server.port, systemClock);
    await expect(bridge.shell('x', tabletCommand`getprop`, call(2_000))).rejects.toMatchObject({ code });
  });
});
