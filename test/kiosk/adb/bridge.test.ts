import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { tabletCommand } from '../../../src/lib/kiosk/adb/command.ts';
import { type Bridge, openBridge } from '../../../src/lib/kiosk/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock, passTime } from '../../lifecycle/fake-clock.ts';
import { folderOfFile } from '../../lifecycle/folder.ts';
import { diskSettled } from '../../lifecycle/paced-clock.ts';
import { listening } from '../../listening.ts';
import { runs } from '../../properties.ts';

const file = join(folderOfFile(), 'file');
await writeFile(file, Buffer.alloc(300_000, 7));

/** A server that sends these bytes to any request, then closes the connection or leaves it open. */
async function rawServer(bytes: Uint8Array | string, ends: boolean) {
  const received = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('data', () => received.resolve());
    socket.write(bytes);
    if (ends) socket.end();
  });
  return { ...(await listening(server)), received: received.promise };
}

const call = { signal: new AbortController().signal, timeoutMs: 60_000 };
const usb = { ...call, transport: { kind: 'usb' }, stallMs: 60_000, onBytes: () => {} } as const;
/** Waits between attempts are over at once. */
const hurried = { ...systemClock, sleep: async () => {} };

const requests: readonly [string, (bridge: Bridge) => Promise<unknown>][] = [
  ['devices', (bridge) => bridge.devices(call)],
  ['connect', (bridge) => bridge.connect({ host: '127.0.0.1', port: 1 }, call)],
  ['features', (bridge) => bridge.features('x', call)],
  ['shell', (bridge) => bridge.shell('x', tabletCommand`getprop`, call)],
  ['service', (bridge) => bridge.service('x', 'usb:', call)],
  ['push', (bridge) => bridge.push('x', file, '/data/x', usb)],
];

const answers = 'OKAY|FAIL|0004|ffff|0000|x\tdevice\n|\u0001\u0002\0\0\0hi|\u0003\u0001\0\0\0\0'.split('|');
/** Bytes that resemble answers of an adb server, and arbitrary ones. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .array(fc.oneof(fc.constantFrom(...answers), fc.string({ maxLength: 6 })), { maxLength: 8 })
    .map((parts) => Buffer.from(parts.join(''), 'latin1')),
);

describe.concurrent('an unexpected peer at the port of the adb server', () => {
  it.each(requests)(
    '%s ends with a result or a GwError, and never hangs',
    { tags: 'property' },
    async (_name, request) => {
      await fc.assert(
        fc.asyncProperty(bytes, async (sent) => {
          await using server = await rawServer(sent, true);
          await request(await openBridge(server.port, hurried)).catch((error: unknown) => {
            expect(error).toBeInstanceOf(GwError);
            expect((error as GwError).code).toMatch(/^TABLET_(LOST|BAD_ANSWER|UNAUTHORIZED|REFUSED|NO_SPACE)$/);
          });
        }),
        { numRuns: runs(25) },
      );
    },
  );

  it('that never answers ends with the timeout, and with the signal', async () => {
    await using server = await rawServer('', false);
    const clock = createFakeClock();
    const bridge = await openBridge(server.port, clock);
    const devices = bridge.devices(call);
    await server.received;
    await expect(passTime(clock, 60_000, devices)).rejects.toMatchObject({ code: 'TABLET_LOST' });
    const ending = new AbortController();
    const pending = bridge.shell('x', tabletCommand`getprop`, { ...call, signal: ending.signal });
    ending.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(pending).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });

  it('that does not read ends a transfer', { tags: 'large' }, async () => {
    await using server = await rawServer('OKAYOKAY', false);
    const clock = createFakeClock({ settled: diskSettled });
    const pushing = (await openBridge(server.port, clock)).push('x', file, '/data/x', { ...usb, stallMs: 2_000 });
    await server.received;
    const refusal = { code: 'TABLET_LOST', message: expect.stringContaining('Transfer of the package stalled') };
    await expect(passTime(clock, 200, pushing)).rejects.toMatchObject(refusal);
  });

  it('a closed port is PART_ENDED, and no program is started', async () => {
    const server = await rawServer('', true);
    await server[Symbol.asyncDispose]();
    const bridge = await openBridge(server.port, hurried);
    await expect(bridge.devices(call)).rejects.toMatchObject({ code: 'PART_ENDED' });
  });

  it.each([
    ['FAIL0013device unauthorized.', 'TABLET_UNAUTHORIZED'],
    ["FAIL0015device 'x' not found...", 'TABLET_LOST'],
    ['FAIL000edevice offline', 'TABLET_LOST'],
  ])('%j is %s', async (sent, code) => {
    await using server = await rawServer(sent, true);
    const bridge = await openBridge(server.port, hurried);
    await expect(bridge.shell('x', tabletCommand`getprop`, call)).rejects.toMatchObject({ code });
  });
});
