import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startTablet } from '../../../src/lib/sim/index.ts';
import { runs } from '../../properties.ts';
import { dial, frame, goOnline, packet, raw, request, run, startOnline } from './host.ts';

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const word = fc.nat({ max: 0xffffffff });
const commands = fc.constantFrom('CNXN', 'AUTH', 'OPEN', 'OKAY', 'WRTE', 'CLSE', 'SYNC', 'STLS', 'ABCD');
const services = fc.oneof(
  fc.constantFrom('shell:', 'shell,v2:', 'shell,v2,pty:', 'sync:', 'exec:cat', 'shell:cat', 'exec:pm install -S 99'),
  fc.string({ maxLength: 60 }).map((text) => `shell:${text}`),
  fc.string({ maxLength: 20 }),
);
const syncIds = fc.constantFrom('SEND', 'RECV', 'LIST', 'STAT', 'LIS2', 'STA2', 'DATA', 'DONE', 'QUIT');
const id = fc.integer({ min: 0, max: 8 });
const remote = fc.integer({ min: 0, max: 12 });
const written = fc.oneof(
  bytes(300),
  fc
    .tuple(syncIds, fc.oneof(fc.integer({ min: 0, max: 40 }), word), bytes(40))
    .map(([name, number, body]) => request(name, number, body)),
  fc.tuple(fc.nat({ max: 6 }), fc.string()).map(([kind, text]) => packet(kind, `${text}\n`)),
);
/** Frames of a host, in any order and with any numbers. */
const foreignFrame = fc.oneof(
  fc.tuple(commands, word, word, bytes(300)).map((parts) => frame(...parts)),
  fc.tuple(id, services).map(([one, name]) => frame('OPEN', one, 0, `${name}\0`)),
  fc.tuple(id, remote, written).map(([one, two, body]) => frame('WRTE', one, two, body)),
  fc.tuple(fc.constantFrom('OKAY', 'CLSE'), id, remote).map((parts) => frame(...parts)),
  bytes(100),
);
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

describe('a simulated tablet with any input', () => {
  it('still serves others, whatever a host sends before it is allowed', { tags: 'property' }, async () => {
    await using tablet = await startTablet({ prompt: 'never' });
    await fc.assert(
      fc.asyncProperty(fc.array(foreignFrame, { maxLength: 20 }), async (frames) => {
        using line = await dial(tablet.port);
        line.socket.end(Buffer.concat(frames));
        // Reads until the tablet ends; no host is online without a signature.
        for (let got = await line.next(); got !== undefined; got = await line.next()) {
          expect(got.command).toBe('AUTH');
        }
      }),
      { numRuns: runs(150) },
    );
    expect(tablet.state().connections).toBeLessThanOrEqual(1);
  });

  it('still serves others, whatever an allowed host sends', { tags: 'property' }, async () => {
    await using tablet = await startTablet();
    using good = await goOnline(tablet.port);
    await fc.assert(
      fc.asyncProperty(fc.array(foreignFrame, { minLength: 1, maxLength: 30 }), async (frames) => {
        using line = await goOnline(tablet.port);
        for (const one of frames) line.socket.write(one);
        // Answered after all of them, unless one has ended the connection or begun another handshake.
        line.send('OPEN', 999, 0, 'shell:pwd\0');
        for (let got = await line.next(); got !== undefined; got = await line.next()) {
          if (got.command === 'WRTE') line.send('OKAY', got.arg1, got.arg0);
          if (got.arg1 === 999 || got.command === 'AUTH') line.socket.end();
        }
        expect(await raw(good, 'echo still here')).toBe('still here\n');
      }),
      { numRuns: runs(150) },
    );
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
  });

  it('buffers little of an announced payload that is not sent', async () => {
    await using tablet = await startTablet();
    const before = process.memoryUsage();
    await using lines = new AsyncDisposableStack();
    for (let count = 0; count < 30; count += 1) {
      const head = frame('OPEN', 1, 0, '');
      head.writeUInt32LE(1024 * 1024, 12);
      lines.use(await goOnline(tablet.port)).socket.write(head);
      const more = await dial(tablet.port).catch(() => undefined);
      more?.socket.destroy();
    }
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(16 * 1024 * 1024);
    using refused = await dial(tablet.port);
    const huge = frame('CNXN', 0x01000001, 4096, '');
    huge.writeUInt32LE(0xffffffff, 12);
    refused.socket.write(huge);
    expect(await refused.next()).toBeUndefined();
  });

  it('bounds the memory that a script can use', async () => {
    await using t = await startOnline();
    expect(await raw(t.line, `echo ${'x'.repeat(130 * 1024)}`)).toBe('echo: Argument list too long\n');
    expect(await raw(t.line, 'a '.repeat(20_000))).toContain('syntax error: too long');
  });

  it('returns an exit code for any arguments, and reads any value in single quotes literally', {
    tags: 'property',
  }, async () => {
    await using tablet = await startTablet();
    const names = `cat rm mkdir sha256sum ls df echo cd pwd getprop setprop settings svc wm media ip cmd pm am dpm
      dumpsys`.split(/\s+/);
    const text = fc.string({ maxLength: 80 }).filter((any) => !any.includes('\0'));
    const known = `- -- -n -c --user 0 -1 +2 f . .. / /sdcard volume put list packages global install start status
      package`.split(/\s+/);
    const words = fc.array(fc.oneof(fc.constantFrom(...known), text), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), words, text, async (name, all, literal) => {
        // A program may end before its input; late input belongs to no other run.
        using line = await goOnline(tablet.port);
        const { code } = await run(line, `cd /sdcard; ${name} ${all.map(quoted).join(' ')}`, 'b 2\na 1\n');
        expect(code).toBeTypeOf('number');
        using other = await goOnline(tablet.port);
        expect(await raw(other, `echo ${quoted(literal)}`)).toBe(`${Buffer.from(literal)}\n`);
      }),
      { numRuns: runs(400) },
    );
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
  });
});
