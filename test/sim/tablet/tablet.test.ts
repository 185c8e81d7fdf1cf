import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makePackageFile } from '../../../src/lib/sim/index.ts';
import {
  BANNER,
  frame,
  hostKey,
  makeHostKey,
  pathRequest,
  raw,
  request,
  startOnline,
  startTabletWorld,
} from './host.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('the handshake of the simulated tablet', () => {
  it('requests a signature, prompts the person for an unknown key, and then sends its banner', async () => {
    await using t = await startTabletWorld();
    const line = await t.dial();
    line.send('CNXN', 0x01000001, 1024 * 1024, BANNER);
    const first = await line.next();
    expect(first).toMatchObject({ command: 'AUTH', arg0: 1, payload: { length: 20 } });
    line.send('AUTH', 2, 0, hostKey().sign(first?.payload ?? Buffer.alloc(0)));
    const second = await line.next();
    expect(second).toMatchObject({ command: 'AUTH', arg0: 1 });
    expect(second?.payload.equals(first?.payload ?? Buffer.alloc(0))).toBe(false);
    line.send('AUTH', 3, 0, hostKey().offer);
    const online = await line.next();
    expect(online).toMatchObject({ command: 'CNXN', arg0: 0x01000001, arg1: 1024 * 1024 });
    expect(online?.payload.toString()).toBe(
      'device::ro.product.name=gwtab;ro.product.model=GW-TAB-10;ro.product.device=gwtab;features=shell_v2,cmd,fixed_push_mkdir',
    );
    // The fingerprint that Android shows: MD5 of the decoded key.
    const digest = createHash('md5').update(hostKey().raw).digest('hex').toUpperCase().match(/../g)?.join(':');
    expect(t.state()).toMatchObject({ prompts: 1, connections: 1, allowedKeys: [digest] });
  });

  it('does not prompt again for an allowed key, and refuses the signature of another', async () => {
    await using t = await startOnline();
    const [known, token] = await t.greet();
    known.send('AUTH', 2, 0, hostKey().sign(token));
    expect(await known.next()).toMatchObject({ command: 'CNXN' });
    const [strange, other] = await t.greet();
    // Another key, then the allowed one over a token that is spent.
    for (const key of [makeHostKey('other@bench'), hostKey()]) {
      strange.send('AUTH', 2, 0, key.sign(other));
      expect(await strange.next()).toMatchObject({ command: 'AUTH', arg0: 1 });
    }
    expect(t.state().prompts).toBe(1);
  });

  it.each([[{ afterMs: 300 }], ['never']] as const)('waits for the person: %j', async (prompt) => {
    await using t = await startTabletWorld({ prompt });
    const [line] = await t.greet();
    line.send('AUTH', 3, 0, hostKey().offer);
    await t.clock.until(() => t.state().prompts === 1);
    await t.clock.advance(200);
    line.send('OPEN', 1, 0, 'shell:pwd\0');
    expect([line.isQuiet(), t.state().allowedKeys]).toEqual([true, []]);
    await t.clock.advance(prompt === 'never' ? 100_000 : 100);
    if (prompt === 'never') expect(line.isQuiet()).toBe(true);
    else expect(await line.next()).toMatchObject({ command: 'CNXN' });
  });

  it.each<[string, () => string | Buffer]>([
    ['no key at all', () => 'no key at all'],
    ['nothing', () => Buffer.alloc(0)],
    ['an exponent of 1', () => weakKey((bytes) => bytes.writeUInt32LE(1, 520))],
    ['a modulus of 0', () => weakKey((bytes) => bytes.fill(0, 8, 264))],
    ['an even modulus', () => weakKey((bytes) => bytes.writeUInt8(2, 8))],
  ])('accepts no key that would match any signature, and no malformed one: %s', async (_, offer) => {
    await using t = await startTabletWorld();
    const [line] = await t.greet();
    line.send('AUTH', 3, 0, offer());
    await t.clock.seconds(1);
    expect([line.isQuiet(), t.state().prompts]).toEqual([true, 0]);
  });

  function weakKey(weaken: (bytes: Buffer) => void): string {
    const bytes = Buffer.from(hostKey().raw);
    weaken(bytes);
    return `${bytes.toString('base64')} x@y\0`;
  }
});

describe('streams of the simulated tablet', () => {
  it('run a command without packets combined, with packets its output, errors, exit code and input', async () => {
    await using t = await startOnline();
    const stderr = '/system/bin/sh: nosuch: inaccessible or not found\n';
    expect(await raw(t.line, 'echo one; nosuch')).toBe(`one\n${stderr}`);
    expect(await t.run('echo one; nosuch; exit 7')).toEqual({ stdout: 'one\n', stderr, code: 7 });
    expect(await t.run('cat', 'x'.repeat(5000))).toMatchObject({ stdout: 'x'.repeat(5000), code: 0 });
    // A script from the input, line by line.
    expect(await t.run('', 'cd /sdcard\npwd\nnosuch\n')).toEqual({ stdout: '/sdcard\n', stderr, code: 127 });
  });

  it('run concurrently, and wait for a host that does not acknowledge', async () => {
    await using t = await startOnline();
    expect(await t.push('/data/local/tmp/long', randomBytes(2_000_000))).toBe('OKAY');
    // Without an acknowledgement only one payload is sent.
    t.line.send('OPEN', 9, 0, 'shell:cat /data/local/tmp/long\0');
    expect(await t.line.next()).toMatchObject({ command: 'OKAY', arg1: 9 });
    const held = await t.line.next();
    expect(held).toMatchObject({ command: 'WRTE', arg1: 9 });
    expect(held?.payload.length).toBeLessThan(2_000_000);
    expect(await raw(t.line, 'echo beside')).toBe('beside\n');
    await t.clock.seconds(10);
    expect(t.line.isQuiet()).toBe(true);
  });

  it.each(['jdwp:1', 'abb_exec:package', 'tcp:22', 'framebuffer:', 'dev:/dev/null', 'reboot:bootloader', ''])(
    'without a service are closed at once: %s',
    async (name) => {
      await using t = await startOnline();
      t.line.send('OPEN', 5, 0, `${name}\0`);
      expect(await t.line.next()).toMatchObject({ command: 'CLSE', arg0: 0, arg1: 5 });
    },
  );

  it('are at most 64 in one connection', async () => {
    await using t = await startOnline();
    for (let id = 1; id <= 65; id += 1) t.line.send('OPEN', id, 0, 'shell:cat\0');
    const answers = [];
    for (let id = 1; id <= 65; id += 1) answers.push((await t.line.next())?.command);
    expect(answers).toEqual([...Array(64).fill('OKAY'), 'CLSE']);
  });

  it('have checksums in the older protocol, which refuses a wrong one, and none in the newer', async () => {
    await using t = await startTabletWorld();
    for (const [version, sum] of [
      [0x01000000, 97 + 98 + 99 + 10],
      [0x01000001, 0],
    ] as const) {
      const line = await t.online(version);
      line.send('OPEN', 5, 0, 'shell:echo abc\0');
      await line.next();
      expect(await line.next()).toMatchObject({ command: 'WRTE', sum });
      if (sum === 0) continue;
      const wrong = frame('OPEN', 6, 0, 'shell:pwd\0');
      wrong.writeUInt32LE(1, 16);
      line.socket.write(wrong);
      for (let got = await line.next(); got !== undefined; ) got = await line.next();
      expect(t.state().connections).toBe(0);
    }
  });
});

describe('files of the simulated tablet', () => {
  it('are pushed and pulled in pieces, with mode and time', async () => {
    await using t = await startOnline();
    const [path, bytes] = ['/data/local/tmp/new/file.bin', randomBytes(300_000)];
    expect(await t.push(path, bytes)).toBe('OKAY');
    const stream = await t.open('sync:');
    await stream?.write(pathRequest('STAT', path));
    const stat = await stream?.exactly(16);
    const numbers = [4, 8, 12].map((at) => stat?.readUInt32LE(at));
    expect([stat?.toString('latin1', 0, 4), ...numbers]).toEqual(['STAT', 0o100644, 300_000, 1_700_000_000]);
    await stream?.write(pathRequest('RECV', path));
    const pieces: Buffer[] = [];
    for (let head = await stream?.exactly(8); head?.toString('latin1', 0, 4) === 'DATA'; ) {
      const length = head.readUInt32LE(4);
      expect(length).toBeLessThanOrEqual(65536);
      pieces.push(Buffer.from((await stream?.exactly(length)) ?? ''));
      head = await stream?.exactly(8);
    }
    expect(sha256(Buffer.concat(pieces))).toBe(sha256(bytes));
    expect(await t.output(`sha256sum ${path}`)).toBe(`${sha256(bytes)}  ${path}\n`);
  });

  it.each([
    ['/system/x', 10, "couldn't create file: Read-only file system"],
    ['/data/x', 10, "couldn't create file: Permission denied"],
    ['/data/local/tmp/../../x', 10, "couldn't create file: Permission denied"],
    ['/sdcard/Download', 10, "couldn't create file: Is a directory"],
    ['/data/local/tmp/big', 200_000, 'write failed: No space left on device'],
  ])('are refused without write permission or free space: %s', async (path, length, reason) => {
    await using t = await startOnline({ freeBytes: 100_000 });
    expect(await t.push(path, Buffer.alloc(length))).toBe(reason);
    expect(await t.push('/data/local/tmp/big', Buffer.alloc(90_000))).toBe('OKAY');
    expect(await t.output('df -k /data')).toMatch(/ 9 +100% \/data$/m);
    expect(await t.output('rm -f /data/local/tmp/big; df -k /data')).toMatch(/ 97 +100% \/data$/m);
  });

  it.each([
    ['unknown command', request('NONE', 0)],
    ['path too long', request('STAT', 5000)],
    ['invalid data message', Buffer.concat([pathRequest('SEND', '/sdcard/x,420'), request('DATA', 70_000)])],
    ['invalid data message', Buffer.concat([pathRequest('SEND', '/sdcard/x,420'), request('STAT', 1)])],
    ['missing mode', pathRequest('SEND', '/sdcard/x')],
  ])('end the service on an invalid request: %s', async (reason, bytes) => {
    await using t = await startOnline();
    const stream = await t.open('sync:');
    await stream?.write(bytes);
    const head = await stream?.exactly(8);
    expect(head?.toString('latin1', 0, 4)).toBe('FAIL');
    expect((await stream?.exactly(head?.readUInt32LE(4) ?? 0))?.toString()).toBe(reason);
  });
});

describe('packages of the simulated tablet', () => {
  const file = makePackageFile({ name: 'org.example.kiosk', versionCode: 12, bytes: 100_000 });

  it('are installed from a pushed file or a stream, and are found with their hash', async () => {
    await using t = await startOnline();
    await t.push('/data/local/tmp/k.apk', file);
    const installed = { stdout: 'Success\n', stderr: '', code: 0 };
    expect(await t.run("pm install -r --user '0' '/data/local/tmp/k.apk'")).toEqual(installed);
    const listed = 'package:org.example.kiosk versionCode:12\n';
    expect(await t.output('pm list packages -3 --show-versioncode')).toBe(listed);
    const path = (await t.output('pm path org.example.kiosk')).trim().slice('package:'.length);
    expect(await t.output(`sha256sum ${path}`)).toBe(`${sha256(file)}  ${path}\n`);
    expect(t.state().packages).toContainEqual(
      expect.objectContaining({ name: 'org.example.kiosk', versionCode: 12, sha256: sha256(file) }),
    );
    expect(await t.output('pm uninstall org.example.kiosk; pm path org.example.kiosk')).toBe('Success\n');
    const stream = await t.open(`exec:cmd package 'install' -S ${file.length}`);
    await stream?.write(file);
    expect((await stream?.all())?.toString()).toBe('Success\n');
  });

  it.each([
    ['PARSE_FAILED_NOT_APK', Buffer.from('this is no package')],
    ['FAILED_VERSION_DOWNGRADE', makePackageFile({ name: 'org.example.kiosk', versionCode: 3 })],
    ['FAILED_UPDATE_INCOMPATIBLE', makePackageFile({ name: 'com.android.email' })],
  ])('are refused with a reason: %s', async (reason, bytes) => {
    await using t = await startOnline();
    await t.push('/sdcard/k.apk', file);
    await t.run('pm install /sdcard/k.apk');
    await t.push('/sdcard/other.apk', bytes);
    const { stdout, code } = await t.run('pm install /sdcard/other.apk');
    expect([stdout.startsWith(`Failure [INSTALL_${reason}`), code]).toEqual([true, 1]);
  });
});
