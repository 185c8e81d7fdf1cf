import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePackageFile, startTablet } from '../../../src/lib/sim/index.ts';
import {
  BANNER,
  dial,
  frame,
  goOnline,
  type HostKey,
  makeHostKey,
  openStream,
  packet,
  pathRequest,
  push,
  raw,
  request,
  run,
} from './host.ts';

let key: HostKey;
let otherKey: HostKey;
beforeAll(() => {
  key = makeHostKey();
  otherKey = makeHostKey('other@bench');
});

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('the handshake of the simulated tablet', () => {
  it('requests a signature, prompts the person for an unknown key, and then sends its banner', async () => {
    await using tablet = await startTablet();
    using line = await dial(tablet.port);
    line.send('CNXN', 0x01000001, 1024 * 1024, BANNER);
    const first = await line.next();
    expect(first).toMatchObject({ command: 'AUTH', arg0: 1 });
    expect(first?.payload).toHaveLength(20);
    line.send('AUTH', 2, 0, key.sign(first?.payload ?? Buffer.alloc(0)));
    const second = await line.next();
    expect(second).toMatchObject({ command: 'AUTH', arg0: 1 });
    expect(second?.payload.equals(first?.payload ?? Buffer.alloc(0))).toBe(false);
    line.send('AUTH', 3, 0, key.offer);
    const online = await line.next();
    expect(online).toMatchObject({ command: 'CNXN', arg0: 0x01000001, arg1: 1024 * 1024 });
    expect(online?.payload.toString()).toBe(
      'device::ro.product.name=gwtab;ro.product.model=GW-TAB-10;ro.product.device=gwtab;features=shell_v2,cmd,fixed_push_mkdir',
    );
    expect(tablet.state()).toMatchObject({ prompts: 1, connections: 1 });
  });

  it('shows the same fingerprint as Android: MD5 of the decoded key', async () => {
    await using tablet = await startTablet();
    using _line = await goOnline(tablet.port, key);
    const digest = createHash('md5').update(key.raw).digest('hex').toUpperCase();
    expect(tablet.state().allowedKeys).toEqual([digest.match(/../g)?.join(':')]);
  });

  it('does not prompt again for an allowed key, and refuses the signature of another', async () => {
    await using tablet = await startTablet();
    {
      using _line = await goOnline(tablet.port, key);
    }
    using known = await dial(tablet.port);
    known.send('CNXN', 0x01000001, 4096, BANNER);
    known.send('AUTH', 2, 0, key.sign((await known.next())?.payload ?? Buffer.alloc(0)));
    expect(await known.next()).toMatchObject({ command: 'CNXN' });
    using strange = await dial(tablet.port);
    strange.send('CNXN', 0x01000001, 4096, BANNER);
    const token = (await strange.next())?.payload ?? Buffer.alloc(0);
    strange.send('AUTH', 2, 0, otherKey.sign(token));
    expect(await strange.next()).toMatchObject({ command: 'AUTH', arg0: 1 });
    // The allowed key, over another token.
    strange.send('AUTH', 2, 0, key.sign(token));
    expect(await strange.next()).toMatchObject({ command: 'AUTH', arg0: 1 });
    expect(tablet.state().prompts).toBe(1);
  });

  it('waits for the person: for a while, or forever', async () => {
    await using slow = await startTablet({ prompt: { afterMs: 300 } });
    const before = performance.now();
    using _line = await goOnline(slow.port, key);
    expect(performance.now() - before).toBeGreaterThan(250);
    await using never = await startTablet({ prompt: 'never' });
    using line = await dial(never.port);
    line.send('CNXN', 0x01000001, 4096, BANNER);
    await line.next();
    line.send('AUTH', 3, 0, key.offer);
    expect(await line.isSilent(300)).toBe(true);
    expect(never.state()).toMatchObject({ prompts: 1, allowedKeys: [] });
    line.send('OPEN', 1, 0, 'shell:pwd\0');
    expect(await line.isSilent(200)).toBe(true);
  });

  it('accepts no key that would match any signature, and no malformed key', async () => {
    await using tablet = await startTablet();
    for (const offer of [
      'no key at all',
      Buffer.alloc(0),
      weakKey((bytes) => bytes.writeUInt32LE(1, 520)),
      weakKey((bytes) => bytes.fill(0, 8, 264)),
      weakKey((bytes) => bytes.writeUInt8(2, 8)),
    ]) {
      using line = await dial(tablet.port);
      line.send('CNXN', 0x01000001, 4096, BANNER);
      await line.next();
      line.send('AUTH', 3, 0, offer);
      expect(await line.isSilent(60)).toBe(true);
    }
    expect(tablet.state().prompts).toBe(0);
  });

  function weakKey(weaken: (bytes: Buffer) => void): string {
    const bytes = Buffer.from(key.raw);
    weaken(bytes);
    return `${bytes.toString('base64')} x@y\0`;
  }

  it('ends a connection with invalid frames, without effect on another', async () => {
    await using tablet = await startTablet();
    using good = await goOnline(tablet.port, key);
    const broken = frame('CNXN', 0x01000001, 4096, BANNER);
    broken[20] = 0;
    const long = frame('CNXN', 0x01000001, 4096, BANNER);
    long.writeUInt32LE(0x7fffffff, 12);
    for (const bytes of [broken, long, randomBytes(200)]) {
      using line = await dial(tablet.port);
      line.socket.write(bytes);
      expect(await line.next()).toBeUndefined();
    }
    expect(await raw(good, 'echo still here')).toBe('still here\n');
  });
});

describe('streams of the simulated tablet', () => {
  it('run a command without packets: output and errors combined', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    expect(await raw(line, 'echo one; nosuch')).toBe('one\n/system/bin/sh: nosuch: inaccessible or not found\n');
  });

  it('run a command with packets: output, errors, exit code and input separately', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    expect(await run(line, 'echo one; nosuch; exit 7')).toEqual({
      stdout: 'one\n',
      stderr: '/system/bin/sh: nosuch: inaccessible or not found\n',
      code: 7,
    });
    expect(await run(line, 'cat', 'x'.repeat(5000))).toMatchObject({ stdout: 'x'.repeat(5000), code: 0 });
  });

  it('run concurrently, and wait for a host that does not acknowledge', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    expect(await push(tablet.port, key, '/data/local/tmp/long', randomBytes(2_000_000))).toBe('OKAY');
    // Without an acknowledgement only one payload is sent.
    line.send('OPEN', 9, 0, 'shell:cat /data/local/tmp/long\0');
    expect(await line.next()).toMatchObject({ command: 'OKAY', arg1: 9 });
    const held = await line.next();
    expect(held).toMatchObject({ command: 'WRTE', arg1: 9 });
    expect(held?.payload.length).toBeLessThan(2_000_000);
    expect(await raw(line, 'echo beside')).toBe('beside\n');
    expect(await line.isSilent(100)).toBe(true);
  });

  it('without a service are closed at once', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    for (const name of [
      'jdwp:1',
      'abb_exec:package',
      'tcp:22',
      'framebuffer:',
      'dev:/dev/null',
      'reboot:bootloader',
      '',
    ]) {
      line.send('OPEN', 5, 0, `${name}\0`);
      expect(await line.next()).toMatchObject({ command: 'CLSE', arg0: 0, arg1: 5 });
    }
  });

  it('are at most 64 in one connection', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    for (let id = 1; id <= 65; id += 1) line.send('OPEN', id, 0, 'shell:cat\0');
    const answers = [];
    for (let id = 1; id <= 65; id += 1) answers.push((await line.next())?.command);
    expect(answers.filter((command) => command === 'OKAY')).toHaveLength(64);
    expect(answers.at(-1)).toBe('CLSE');
  });

  it('of a host that sends without waiting for acknowledgements end its connection', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    line.send('OPEN', 5, 0, 'shell:cat\0');
    const remote = (await line.next())?.arg0 ?? 0;
    for (let round = 0; round < 5; round += 1) line.send('WRTE', 5, remote, 'x'.repeat(1000));
    expect(await line.next()).toBeUndefined();
  });

  it('have checksums in the older protocol, and refuse a wrong one', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key, 0x01000000);
    line.send('OPEN', 5, 0, 'shell:echo abc\0');
    await line.next();
    expect(await line.next()).toMatchObject({ command: 'WRTE', sum: 97 + 98 + 99 + 10 });
    const wrong = frame('OPEN', 6, 0, 'shell:pwd\0');
    wrong.writeUInt32LE(1, 16);
    line.socket.write(wrong);
    let last = await line.next();
    while (last !== undefined) last = await line.next();
    expect(tablet.state().connections).toBe(0);
  });

  it('have no checksums in the newer protocol', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    line.send('OPEN', 5, 0, 'shell:echo abc\0');
    await line.next();
    expect(await line.next()).toMatchObject({ command: 'WRTE', sum: 0 });
  });

  it('show a prompt and an echo at a terminal', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, 'shell,v2,pty:');
    await stream?.write(packet(0, 'echo abd\x7fc\n'));
    await stream?.write(packet(0, 'exit 3\n'));
    const bytes = (await stream?.all()) ?? Buffer.alloc(0);
    const text = bytes.toString('latin1');
    expect(text).toContain('gwtab:/ $ ');
    expect(text).toContain('abc\r\n');
    expect(bytes.at(-1)).toBe(3);
  });

  it('join letters that are split into two pieces', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, 'shell,v2,raw:');
    const script = Buffer.from('echo ä\nexit\n');
    await stream?.write(packet(0, script.subarray(0, 6)));
    await stream?.write(packet(0, script.subarray(6)));
    expect((await stream?.all())?.toString()).toContain('ä\n');
  });

  it('read a script from the input, line by line', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    expect(await run(line, '', 'cd /sdcard\npwd\nnosuch\n')).toEqual({
      stdout: '/sdcard\n',
      stderr: '/system/bin/sh: nosuch: inaccessible or not found\n',
      code: 127,
    });
  });
});

describe('files of the simulated tablet', () => {
  it('are pushed and pulled in pieces, with mode and time', async () => {
    await using tablet = await startTablet();
    const bytes = randomBytes(300_000);
    expect(await push(tablet.port, key, '/data/local/tmp/new/file.bin', bytes)).toBe('OKAY');
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, 'sync:');
    await stream?.write(pathRequest('STAT', '/data/local/tmp/new/file.bin'));
    const stat = await stream?.exactly(16);
    expect(stat?.toString('latin1', 0, 4)).toBe('STAT');
    expect([stat?.readUInt32LE(4), stat?.readUInt32LE(8), stat?.readUInt32LE(12)]).toEqual([
      0o100644, 300_000, 1_700_000_000,
    ]);
    await stream?.write(pathRequest('RECV', '/data/local/tmp/new/file.bin'));
    const pieces: Buffer[] = [];
    for (let head = await stream?.exactly(8); head?.toString('latin1', 0, 4) === 'DATA'; ) {
      const length = head.readUInt32LE(4);
      expect(length).toBeLessThanOrEqual(65536);
      pieces.push(Buffer.from((await stream?.exactly(length)) ?? ''));
      head = await stream?.exactly(8);
    }
    expect(sha256(Buffer.concat(pieces))).toBe(sha256(bytes));
    expect(await run(line, 'sha256sum /data/local/tmp/new/file.bin')).toMatchObject({
      stdout: `${sha256(bytes)}  /data/local/tmp/new/file.bin\n`,
    });
  });

  it('are listed', async () => {
    await using tablet = await startTablet();
    expect(await push(tablet.port, key, '/sdcard/list/ä.txt', Buffer.from('abc'))).toBe('OKAY');
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, 'sync:');
    await stream?.write(pathRequest('LIST', '/sdcard/list'));
    const short = await stream?.exactly(20 + 6 + 20);
    expect(short?.toString('latin1', 0, 4)).toBe('DENT');
    expect([short?.readUInt32LE(8), short?.readUInt32LE(16)]).toEqual([3, 6]);
    expect(short?.toString('utf8', 20, 26)).toBe('ä.txt');
    expect(short?.toString('latin1', 26, 30)).toBe('DONE');
  });

  it('are refused without write permission and without free space', async () => {
    await using tablet = await startTablet({ freeBytes: 100_000 });
    const small = Buffer.alloc(10);
    expect(await push(tablet.port, key, '/system/x', small)).toBe("couldn't create file: Read-only file system");
    expect(await push(tablet.port, key, '/data/x', small)).toBe("couldn't create file: Permission denied");
    expect(await push(tablet.port, key, '/data/local/tmp/../../x', small)).toBe(
      "couldn't create file: Permission denied",
    );
    expect(await push(tablet.port, key, '/sdcard/Download', small)).toBe("couldn't create file: Is a directory");
    expect(await push(tablet.port, key, '/data/local/tmp/big', Buffer.alloc(200_000))).toBe(
      'write failed: No space left on device',
    );
    expect(await push(tablet.port, key, '/data/local/tmp/big', Buffer.alloc(90_000))).toBe('OKAY');
    using line = await goOnline(tablet.port, key);
    expect((await run(line, 'df -k /data')).stdout).toMatch(/ 9 +100% \/data$/m);
    expect((await run(line, 'rm -f /data/local/tmp/big; df -k /data')).stdout).toMatch(/ 97 +100% \/data$/m);
  });

  it('that are large are counted and hashed, and only their ends are stored', { timeout: 60_000 }, async () => {
    await using tablet = await startTablet();
    const bytes = randomBytes(20_000_000);
    expect(await push(tablet.port, key, '/sdcard/long', bytes)).toBe('OKAY');
    using line = await goOnline(tablet.port, key);
    expect((await run(line, 'sha256sum /sdcard/long; ls -l /sdcard/long')).stdout).toMatch(
      new RegExp(`^${sha256(bytes)}  /sdcard/long\n-rw-\\S+ 1 shell shell +20000000 `),
    );
    const stream = await openStream(line, 'sync:');
    await stream?.write(pathRequest('RECV', '/sdcard/long'));
    expect((await stream?.exactly(4))?.toString()).toBe('FAIL');
  });

  it('end the service on an invalid request', async () => {
    await using tablet = await startTablet();
    for (const [bytes, reason] of [
      [request('NONE', 0), 'unknown command'],
      [request('STAT', 5000), 'path too long'],
      [Buffer.concat([pathRequest('SEND', '/sdcard/x,420'), request('DATA', 70_000)]), 'invalid data message'],
      [Buffer.concat([pathRequest('SEND', '/sdcard/x,420'), request('STAT', 1)]), 'invalid data message'],
      [pathRequest('SEND', '/sdcard/x'), 'missing mode'],
    ] as const) {
      using line = await goOnline(tablet.port, key);
      const stream = await openStream(line, 'sync:');
      await stream?.write(bytes);
      const head = await stream?.exactly(8);
      expect(head?.toString('latin1', 0, 4)).toBe('FAIL');
      expect((await stream?.exactly(head?.readUInt32LE(4) ?? 0))?.toString()).toBe(reason);
    }
  });
});

describe('packages of the simulated tablet', () => {
  const file = makePackageFile({ name: 'org.example.kiosk', versionCode: 12, bytes: 100_000 });

  it('are installed from a pushed file, and are found with their hash', async () => {
    await using tablet = await startTablet();
    await push(tablet.port, key, '/data/local/tmp/k.apk', file);
    using line = await goOnline(tablet.port, key);
    expect(await run(line, "pm install -r --user '0' '/data/local/tmp/k.apk'")).toEqual({
      stdout: 'Success\n',
      stderr: '',
      code: 0,
    });
    expect((await run(line, 'pm list packages -3 --show-versioncode')).stdout).toBe(
      'package:org.example.kiosk versionCode:12\n',
    );
    const path = (await run(line, 'pm path org.example.kiosk')).stdout.trim().slice('package:'.length);
    expect((await run(line, `sha256sum ${path}`)).stdout).toBe(`${sha256(file)}  ${path}\n`);
    expect(tablet.state().packages.find(({ name }) => name === 'org.example.kiosk')).toMatchObject({
      versionCode: 12,
      sha256: sha256(file),
    });
    expect((await run(line, 'pm uninstall org.example.kiosk; pm path org.example.kiosk')).stdout).toBe('Success\n');
  });

  it('are installed from a stream', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, `exec:cmd package 'install' -S ${file.length}`);
    await stream?.write(file);
    expect((await stream?.all())?.toString()).toBe('Success\n');
  });

  it.each([
    ['no package', Buffer.from('this is no package'), /^Failure \[INSTALL_PARSE_FAILED_NOT_APK/],
    [
      'an older version',
      makePackageFile({ name: 'org.example.kiosk', versionCode: 3 }),
      /^Failure \[INSTALL_FAILED_VERSION_DOWNGRADE/,
    ],
    [
      'a system package',
      makePackageFile({ name: 'com.android.email' }),
      /^Failure \[INSTALL_FAILED_UPDATE_INCOMPATIBLE/,
    ],
  ])('are refused with a reason: %s', async (_, bytes, reason) => {
    await using tablet = await startTablet();
    await push(tablet.port, key, '/sdcard/k.apk', file);
    using line = await goOnline(tablet.port, key);
    await run(line, 'pm install /sdcard/k.apk');
    await push(tablet.port, key, '/sdcard/other.apk', bytes);
    const { stdout, code } = await run(line, 'pm install /sdcard/other.apk');
    expect(stdout).toMatch(reason);
    expect(code).toBe(1);
  });

  it('become device owner, lock the screen, and then cannot be removed', async () => {
    await using tablet = await startTablet();
    await push(tablet.port, key, '/sdcard/k.apk', file);
    using line = await goOnline(tablet.port, key);
    await run(line, 'pm install /sdcard/k.apk');
    expect((await run(line, 'dumpsys device_policy')).stdout).not.toContain('Device Owner');
    expect(await run(line, 'dpm set-device-owner org.example.kiosk/.Missing')).toMatchObject({ code: 255 });
    expect(await run(line, "dpm set-device-owner --user '0' 'org.example.kiosk/.Admin'")).toMatchObject({ code: 0 });
    expect((await run(line, "dumpsys 'device_policy'")).stdout).toMatch(
      /Device Owner: \n +admin=ComponentInfo\{org\.example\.kiosk\/org\.example\.kiosk\.Admin\}/,
    );
    const started = await run(
      line,
      "am start -W --user '0' -a 'android.intent.action.VIEW' -d 'http://127.0.0.1:5173/a' -n 'org.example.kiosk/.Main'",
    );
    expect(started.stdout).toContain('Status: ok');
    const dump = (await run(line, "dumpsys 'activity' 'activities'")).stdout;
    expect(dump).toContain('mLockTaskModeState=LOCKED');
    expect(dump).toContain('dat=http://127.0.0.1:5173/a ');
    expect(tablet.state()).toMatchObject({
      deviceOwner: 'org.example.kiosk/org.example.kiosk.Admin',
      lockTask: true,
      front: 'org.example.kiosk/org.example.kiosk.Main',
    });
    expect((await run(line, 'pm uninstall org.example.kiosk')).stdout).toBe(
      'Failure [DELETE_FAILED_DEVICE_POLICY_MANAGER]\n',
    );
    expect((await run(line, 'am start -n com.android.settings/.Settings')).code).toBe(1);
  });
});

describe('settings of the simulated tablet', () => {
  it('are read back unchanged', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    const script = [
      "settings get 'system' 'screen_brightness'",
      "settings put 'system' 'screen_brightness' '200'",
      "settings get 'system' 'screen_brightness'",
      'settings get global nothing',
      "svc power stayon 'true'",
      'settings get global stay_on_while_plugged_in',
      "wm density '320'",
      'wm density',
      "media volume --stream '3' --set '6'",
      "media volume --stream '3' --get",
      "pm disable-user --user '0' 'com.android.email'",
      "pm list packages -d --user '0'",
      'ip -f inet -o addr show',
      'cmd wifi status',
    ].join('; ');
    // `media` and `cmd wifi` print more lines.
    const isAnswer = (text: string) => !/ will | AudioService$|^Wifi is enabled|^WifiInfo|: lo /.test(text);
    expect((await run(line, script)).stdout.split('\n').filter(isAnswer)).toEqual([
      '102',
      '200',
      'null',
      '7',
      'Physical density: 240',
      'Override density: 320',
      '[V] volume is 6 in range [0..15]',
      'Package com.android.email new state: disabled-user',
      'package:com.android.email',
      '26: wlan0    inet 192.0.2.5/28 scope global wlan0\\       valid_lft forever preferred_lft forever',
      'Wifi is connected to "gw-sim"',
      '',
    ]);
  });

  it('keep values that the shell may not change', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    expect(await run(line, 'setprop ro.serialno other')).toMatchObject({ code: 1, stdout: '' });
    expect((await run(line, 'getprop ro.serialno')).stdout).toBe('TABSIM0001\n');
    expect(await run(line, 'pm disable-user android')).toMatchObject({ code: 255 });
    expect(await run(line, 'pm hide com.android.email')).toEqual({
      stdout: '',
      stderr: 'Unknown command: pm hide com.android.email\n',
      code: 255,
    });
  });
});
