import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePackageFile, startTablet } from '../../../src/lib/sim/index.ts';
import { readHostKey } from '../../../src/lib/sim/tablet/adb/keyring.ts';
import { createFrameReader, type Frame, packHeader } from '../../../src/lib/sim/tablet/adb/wire.ts';
import { readPackageFile } from '../../../src/lib/sim/tablet/packages.ts';
import { parseScript } from '../../../src/lib/sim/tablet/shell/syntax.ts';
import { contentOf } from '../../../src/lib/sim/tablet/storage.ts';
import { runs } from '../../properties.ts';
import { dial, frame, goOnline, type HostKey, makeHostKey, packet, raw, request, run } from './host.ts';

let key: HostKey;
beforeAll(() => {
  key = makeHostKey();
});

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
const word = fc.nat({ max: 0xffffffff });
const commands = fc.constantFrom('CNXN', 'AUTH', 'OPEN', 'OKAY', 'WRTE', 'CLSE', 'SYNC', 'STLS', 'ABCD');
const services = fc.oneof(
  fc.constantFrom('shell:', 'shell,v2:', 'shell,v2,pty:', 'sync:', 'exec:cat', 'shell:cat', 'exec:pm install -S 99'),
  fc.string({ maxLength: 60 }).map((text) => `shell:${text}`),
  fc.string({ maxLength: 20 }),
);

/** Frames of a host, in any order and with any numbers. */
const foreignFrame = fc.oneof(
  fc.tuple(commands, word, word, bytes(300)).map(([command, one, two, body]) => frame(command, one, two, body)),
  fc.tuple(fc.integer({ min: 1, max: 8 }), services).map(([id, name]) => frame('OPEN', id, 0, `${name}\0`)),
  fc
    .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 12 }), bytes(300))
    .map(([id, remote, body]) => frame('WRTE', id, remote, body)),
  fc
    .tuple(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('SEND', 'RECV', 'LIST', 'STAT', 'LIS2', 'STA2', 'DATA', 'DONE', 'QUIT'),
      fc.oneof(fc.integer({ min: 0, max: 40 }), word),
      bytes(40),
    )
    .map(([id, remote, name, number, body]) => frame('WRTE', id, remote, request(name, number, body))),
  fc
    .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 12 }), fc.nat({ max: 6 }), fc.string())
    .map(([id, remote, kind, text]) => frame('WRTE', id, remote, packet(kind, `${text}\n`))),
  fc
    .tuple(fc.constantFrom('OKAY', 'CLSE'), fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 12 }))
    .map(([command, id, remote]) => frame(command, id, remote)),
  bytes(100),
);

describe('a simulated tablet with any input', () => {
  it('still serves others, whatever a host sends before it is allowed', { timeout: 120_000 }, async () => {
    await using tablet = await startTablet({ prompt: 'never' });
    await fc.assert(
      fc.asyncProperty(fc.array(foreignFrame, { maxLength: 20 }), async (frames) => {
        using line = await dial(tablet.port);
        line.socket.write(Buffer.concat(frames));
        line.socket.end();
        // Reads until the tablet ends; no host is online without a signature.
        for (let got = await line.next(); got !== undefined; got = await line.next()) {
          expect(got.command).toBe('AUTH');
        }
      }),
      { numRuns: runs(150) },
    );
    expect(tablet.state().connections).toBeLessThanOrEqual(1);
  });

  it('still serves others, whatever an allowed host sends', { timeout: 120_000 }, async () => {
    await using tablet = await startTablet();
    using good = await goOnline(tablet.port, key);
    await fc.assert(
      fc.asyncProperty(fc.array(foreignFrame, { minLength: 1, maxLength: 30 }), async (frames) => {
        using line = await goOnline(tablet.port, key);
        for (const one of frames) line.socket.write(one);
        // Some frames are acknowledged, so that its services continue for a while.
        const end = setTimeout(() => line.socket.end(), 15);
        for (let got = await line.next(); got !== undefined; got = await line.next()) {
          if (got.command === 'WRTE') line.send('OKAY', got.arg1, got.arg0);
        }
        clearTimeout(end);
        expect(await raw(good, 'echo still here')).toBe('still here\n');
      }),
      { numRuns: runs(150) },
    );
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
  });

  it('buffers little of an announced payload that is not sent', { timeout: 120_000 }, async () => {
    await using tablet = await startTablet();
    const before = process.memoryUsage();
    await using lines = new AsyncDisposableStack();
    for (let count = 0; count < 30; count += 1) {
      const line = lines.use(await goOnline(tablet.port, key));
      const head = frame('OPEN', 1, 0, '');
      head.writeUInt32LE(1024 * 1024, 12);
      line.socket.write(head);
      const more = await dial(tablet.port).catch(() => undefined);
      more?.socket.destroy();
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * 1024 * 1024);
    using refused = await dial(tablet.port);
    const huge = frame('CNXN', 0x01000001, 4096, '');
    huge.writeUInt32LE(0xffffffff, 12);
    refused.socket.write(huge);
    expect(await refused.next()).toBeUndefined();
  });
});

describe('the frame reader', () => {
  const fine = fc.array(fc.record({ command: word, arg0: word, arg1: word, payload: bytes(500) }), { maxLength: 10 });

  it('returns the sent frames, however they are split', () => {
    fc.assert(
      fc.property(
        fine,
        fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 50 }),
        fc.boolean(),
        (sent, cuts, summed) => {
          const stream = Buffer.concat(sent.flatMap((one) => [packHeader(one, summed), one.payload]));
          const reader = createFrameReader({ maxPayload: () => 500, summed: () => summed });
          const got: Frame[] = [];
          let at = 0;
          for (const cut of [...cuts, stream.length]) {
            expect(reader.feed(stream.subarray(at, at + cut), (one) => got.push(one) > 0)).toBe(true);
            at += cut;
          }
          expect(got.map((one) => ({ ...one, payload: one.payload.toString('hex') }))).toEqual(
            sent.map((one) => ({ ...one, payload: one.payload.toString('hex') })),
          );
        },
      ),
    );
  });

  it('refuses a frame that is too long or invalid, and returns nothing of it', () => {
    fc.assert(
      fc.property(bytes(400), (stream) => {
        const reader = createFrameReader({ maxPayload: () => 100, summed: () => true });
        const got: Frame[] = [];
        const isFine = reader.feed(stream, (one) => got.push(one) > 0);
        for (const one of got) expect(one.payload.length).toBeLessThanOrEqual(100);
        if (got.length === 0 && stream.length >= 24) expect(isFine).toBe(false);
      }),
    );
    const tooLong = frame('WRTE', 1, 1, Buffer.alloc(101));
    const reader = createFrameReader({ maxPayload: () => 100, summed: () => false });
    expect(reader.feed(tooLong, () => true)).toBe(false);
  });
});

describe('readers of foreign bytes in the simulated tablet', () => {
  it('never throw on keys', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          bytes(3000),
          bytes(524).map((raw) => Buffer.from(`${raw.toString('base64')} a@b\0`)),
        ),
        (offer) => {
          const found = readHostKey(offer);
          expect(found === undefined || found.fingerprint.length === 47).toBe(true);
        },
      ),
    );
    expect(readHostKey(key.offer)?.fingerprint).toHaveLength(47);
  });

  it('never throw on packages, and parse or reject a package with one changed byte', () => {
    const whole = makePackageFile({ name: 'org.example.kiosk', versionCode: 12, bytes: 5000 });
    expect(readPackageFile(contentOf(whole))).toEqual({
      bytes: 5000,
      name: 'org.example.kiosk',
      versionCode: 12,
    });
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const other = Buffer.from(whole);
        other.writeUInt8((other.readUInt8(at) + change) & 255, at);
        const found = readPackageFile(contentOf(other));
        expect(found === undefined || typeof found.name === 'string').toBe(true);
      }),
      { numRuns: runs(2000) },
    );
    fc.assert(
      fc.property(bytes(600), (any) => {
        expect(readPackageFile(contentOf(any))).toBeUndefined();
      }),
    );
    expect(readPackageFile(contentOf(whole.subarray(0, whole.length - 30)))).toBeUndefined();
  });

  it('never throw on scripts', () => {
    const sharp = fc.array(
      fc.constantFrom(
        'a',
        '$',
        '(',
        ')',
        '`',
        "'",
        '"',
        '\\',
        ';',
        '&',
        '|',
        '>',
        '<',
        '2>',
        '&1',
        '{',
        '}',
        ' ',
        '\n',
        '#',
        '!',
        'if',
        '=',
        '?',
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 200 }),
          sharp.map((parts) => parts.join('')),
        ),
        (script) => {
          const parsed = parseScript(script);
          expect('steps' in parsed || /^(syntax error|not simulated): /.test(parsed.problem)).toBe(true);
        },
      ),
      { numRuns: runs(3000) },
    );
    expect(parseScript('a '.repeat(20_000))).toHaveProperty('problem');
  });

  it('read any value in single quotes literally', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    await fc.assert(
      fc.asyncProperty(
        fc.string({ maxLength: 80 }).filter((text) => !/[\0]/.test(text)),
        async (text) => {
          const quoted = `'${text.replaceAll("'", "'\\''")}'`;
          expect(await raw(line, `echo ${quoted}`)).toBe(`${Buffer.from(text)}\n`);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('return an exit code for any arguments', { timeout: 60_000 }, async () => {
    await using tablet = await startTablet();
    const names =
      'cat rm mkdir sha256sum ls df echo cd pwd getprop setprop settings svc wm media ip cmd pm am dpm dumpsys';
    const quoted = fc
      .oneof(
        fc.constantFrom('-', '--', '-n', '-c', '--user', '0', '-1', '+2', 'f', '.', '..', '/', '/sdcard'),
        fc.constantFrom('volume', 'put', 'list', 'packages', 'global', 'install', 'start', 'status', 'package'),
        fc.string({ maxLength: 8 }).filter((text) => !text.includes('\0')),
      )
      .map((text) => `'${text.replaceAll("'", "'\\''")}'`);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names.split(' ')),
        fc.array(quoted, { maxLength: 5 }),
        async (name, words) => {
          // A program may end before its input; late input belongs to no other run.
          using line = await goOnline(tablet.port, key);
          const { code } = await run(line, `cd /sdcard; ${name} ${words.join(' ')}`, 'b 2\na 1\n');
          expect(code).toBeTypeOf('number');
        },
      ),
      { numRuns: runs(600) },
    );
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
  });

  it('of random streams in an allowed connection leave the tablet unchanged', async () => {
    await using tablet = await startTablet();
    for (const service of ['sync:', 'shell,v2:', 'shell,v2,pty:', 'exec:cmd package install -S 1000']) {
      using line = await goOnline(tablet.port, key);
      line.send('OPEN', 1, 0, `${service}\0`);
      const remote = (await line.next())?.arg0 ?? 0;
      line.send('WRTE', 1, remote, randomBytes(50_000));
      line.socket.end();
      for (let got = await line.next(); got !== undefined; got = await line.next());
    }
    using line = await goOnline(tablet.port, key);
    expect(await raw(line, 'pm list packages -3; ls /sdcard')).toBe('Download\n');
  });

  it('bound the memory that a script can use', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    expect(await raw(line, `echo ${'x'.repeat(130 * 1024)}`)).toBe('echo: Argument list too long\n');
    expect(await raw(line, 'a '.repeat(20_000))).toContain('syntax error: too long');
  });
});
