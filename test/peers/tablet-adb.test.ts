import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePackageFile, startTablet, type Tablet } from '../../src/lib/sim/index.ts';
import { freePort } from '../free-port.ts';
import { runProcess } from '../process.ts';
import { until as seen } from '../waiting.ts';
import { hasProgram } from './peer.ts';

/**
 * Debian's adb, unmodified, against the simulated tablet, with an adb server on its own port and a home in a temporary
 * folder; the server is ended by `kill-server`.
 */

const folder = mkdtempSync(join(tmpdir(), 'gw-adb-test-'));
let serverPort = 0;

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function adb(args: readonly string[], input = ''): Promise<Outcome> {
  const env = { PATH: process.env.PATH, HOME: folder, ANDROID_ADB_SERVER_PORT: String(serverPort), LC_ALL: 'C.UTF-8' };
  const { code, stdout, stderr } = await runProcess('adb', ['-P', String(serverPort), ...args], { env, input });
  return { code: code ?? 1, stdout: stdout.replaceAll('\r\n', '\n'), stderr };
}

const idOf = (tablet: Tablet) => `127.0.0.1:${tablet.port}`;
const on = (tablet: Tablet, ...args: string[]) => adb(['-s', idOf(tablet), ...args]);

async function stateOf(tablet: Tablet): Promise<string | undefined> {
  const { stdout } = await adb(['devices']);
  return stdout
    .split('\n')
    .find((line) => line.startsWith(`${idOf(tablet)}\t`))
    ?.split('\t')[1];
}

const until = (condition: () => boolean | Promise<boolean>) => seen(condition, (is) => is);

/** Connects, and waits for the state `device`. */
async function attach(tablet: Tablet): Promise<void> {
  await adb(['connect', idOf(tablet)]);
  await until(async () => (await stateOf(tablet)) === 'device');
}

const detach = (tablet: Tablet) => adb(['disconnect', idOf(tablet)]);

const file = join(folder, 'kiosk.apk');
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe.skipIf(!hasProgram('adb'))("Debian's adb at the simulated tablet", () => {
  beforeAll(async () => {
    serverPort = await freePort();
    expect((await adb(['start-server'])).code).toBe(0);
    writeFileSync(file, makePackageFile({ name: 'org.example.kiosk', versionCode: 12, bytes: 3_000_000 }));
  });
  afterAll(async () => {
    if (serverPort !== 0) await adb(['kill-server']);
    rmSync(folder, { recursive: true, force: true });
  });

  it('connects, is authorised once, and lists it with its names', async () => {
    await using tablet = await startTablet();
    await attach(tablet);
    const { stdout } = await adb(['devices', '-l']);
    expect(stdout).toMatch(
      new RegExp(`^${idOf(tablet)} +device product:gwtab model:GW_TAB_10 device:gwtab transport_id:\\d+$`, 'm'),
    );
    expect(tablet.state()).toMatchObject({ prompts: 1, allowedKeys: [expect.stringMatching(/^([0-9A-F]{2}:){15}/)] });
    await detach(tablet);
    await attach(tablet);
    expect(tablet.state().prompts).toBe(1);
    await detach(tablet);
  });

  it('reports it as unauthorized until it is allowed', async () => {
    await using tablet = await startTablet({ prompt: { afterMs: 2_000 } });
    expect((await adb(['connect', idOf(tablet)])).stdout).toContain(`failed to authenticate to ${idOf(tablet)}`);
    expect(await stateOf(tablet)).toBe('unauthorized');
    const { code, stderr } = await on(tablet, 'shell', 'pwd');
    expect(code).toBe(1);
    expect(stderr).toContain('device unauthorized');
    await until(async () => (await stateOf(tablet)) === 'device');
    await detach(tablet);
  });

  it('runs commands: output, errors, exit code and input', async () => {
    await using tablet = await startTablet();
    await attach(tablet);
    expect(await on(tablet, 'shell', 'echo out; cat none; exit 7')).toEqual({
      code: 7,
      stdout: 'out\n',
      stderr: 'cat: none: No such file or directory\n',
    });
    expect(await on(tablet, 'shell', '-x', 'echo out; cat none; exit 7')).toEqual({
      code: 0,
      stdout: 'out\ncat: none: No such file or directory\n',
      stderr: '',
    });
    const long = 'x'.repeat(300_000);
    expect((await adb(['-s', idOf(tablet), 'shell', 'cat'], long)).stdout).toBe(long);
    expect((await adb(['-s', idOf(tablet), 'shell'], 'cd /sdcard\npwd\nexit 4\n')).code).toBe(4);
    expect((await on(tablet, 'exec-out', 'echo', 'a')).stdout).toBe('a\n');
    expect(await on(tablet, 'shell', 'getprop | grep ro.serialno')).toEqual({
      code: 1,
      stdout: '',
      stderr: "/system/bin/sh: not simulated: '|'; quote it if it is text\n",
    });
    expect((await on(tablet, 'shell', 'getprop', 'ro.build.version.release')).stdout).toBe('13\n');
    expect((await on(tablet, 'get-serialno')).stdout).toBe(`${idOf(tablet)}\n`);
    await detach(tablet);
  });

  it('pushes and pulls files and folders, to the same bytes', async () => {
    await using tablet = await startTablet();
    await attach(tablet);
    const bytes = randomBytes(5_000_000);
    const local = join(folder, 'there.bin');
    writeFileSync(local, bytes);
    expect((await on(tablet, 'push', local, '/sdcard/new/there.bin')).stdout).toContain('1 file pushed');
    expect((await on(tablet, 'shell', 'sha256sum /sdcard/new/there.bin')).stdout).toContain(sha256(bytes));
    const back = join(folder, 'back');
    expect((await on(tablet, 'pull', '/sdcard/new', back)).stdout).toContain('1 file pulled');
    expect(sha256(readFileSync(join(back, 'there.bin')))).toBe(sha256(bytes));
    expect((await on(tablet, 'push', '--sync', local, '/sdcard/new/there.bin')).stdout).toContain('1 skipped');
    expect((await on(tablet, 'ls', '/sdcard/new')).stdout).toMatch(/ there\.bin$/m);
    expect((await on(tablet, 'push', local, '/system/there.bin')).stdout).toContain('Read-only file system');
    await detach(tablet);
  });

  it.each([['--streaming'], ['--no-streaming']])('installs a package with %s, and uninstalls it', async (mode) => {
    await using tablet = await startTablet();
    await attach(tablet);
    const { code, stdout } = await on(tablet, 'install', mode, '-r', file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Success$/m);
    expect(tablet.state().packages.find(({ name }) => name === 'org.example.kiosk')).toMatchObject({
      versionCode: 12,
      sha256: sha256(readFileSync(file)),
    });
    // The pushed file is removed.
    expect((await on(tablet, 'shell', 'ls /data/local/tmp')).stdout).toBe('');
    expect(await on(tablet, 'uninstall', 'org.example.kiosk')).toMatchObject({ code: 0, stdout: 'Success\n' });
    expect((await on(tablet, 'uninstall', 'org.example.kiosk')).code).toBe(1);
    await detach(tablet);
  });

  it('closes the port with usb, moves it with tcpip, and waits for a restart', async () => {
    await using tablet = await startTablet({ rebootMs: 1_000, isPortKept: true });
    await attach(tablet);
    const free = await freePort();
    expect((await on(tablet, 'tcpip', String(free))).stdout).toBe(`restarting in TCP mode port: ${free}\n`);
    await until(() => tablet.state().port === free);
    await detach(tablet);
    await adb(['connect', `127.0.0.1:${free}`]);
    await until(async () => (await adb(['-s', `127.0.0.1:${free}`, 'get-state'])).stdout === 'device\n');
    expect((await adb(['-s', `127.0.0.1:${free}`, 'reboot'])).code).toBe(0);
    await until(() => tablet.state().phase === 'restarting' && tablet.state().port === null);
    await adb(['disconnect', `127.0.0.1:${free}`]);
    await until(() => tablet.state().phase === 'running');
    // The volatile port is reset, the persistent one is not.
    expect(tablet.state().port).toBe(tablet.port);
    await attach(tablet);
    expect((await on(tablet, 'usb')).stdout).toBe('restarting in USB mode\n');
    await until(() => tablet.state().port === null);
    await detach(tablet);
    expect((await adb(['connect', idOf(tablet)])).stdout).toContain('Connection refused');
  });

  it('reports faults: lost connection, no space, revoked authorisation, another tablet', async () => {
    await using tablet = await startTablet();
    await attach(tablet);
    tablet.setFault('tablet-cut', true);
    expect((await on(tablet, 'push', file, '/sdcard/k.apk')).code).toBe(1);
    tablet.setFault('tablet-cut', false);
    await until(async () => (await stateOf(tablet)) === 'device');
    tablet.setFault('tablet-full', true);
    const full = await on(tablet, 'push', file, '/sdcard/k.apk');
    expect(`${full.stdout}${full.stderr}`).toContain('No space left on device');
    const refused = await on(tablet, 'install', file);
    expect(`${refused.stdout}${refused.stderr}`).toContain('INSTALL_FAILED_INSUFFICIENT_STORAGE');
    tablet.setFault('tablet-full', false);
    tablet.setFault('tablet-unauthorized', true);
    await until(async () => (await stateOf(tablet)) === 'unauthorized');
    tablet.setFault('tablet-unauthorized', false);
    await until(async () => (await stateOf(tablet)) === 'device');
    tablet.setFault('tablet-other', true);
    await until(async () => (await on(tablet, 'shell', 'getprop ro.serialno')).stdout === 'TABOTHER99\n');
    tablet.setFault('tablet-offline', true);
    await until(async () => (await stateOf(tablet)) === 'offline');
    await detach(tablet);
  });

  it('uses the older protocol with an older tablet', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-old', true);
    await attach(tablet);
    expect((await on(tablet, 'features')).stdout.trim().split('\n').sort()).toEqual(['cmd', 'shell_v2']);
    expect((await on(tablet, 'push', file, '/sdcard/k.apk')).stdout).toContain('1 file pushed');
    const back = join(folder, 'old.apk');
    expect((await on(tablet, 'pull', '/sdcard/k.apk', back)).code).toBe(0);
    expect(sha256(readFileSync(back))).toBe(sha256(readFileSync(file)));
    await detach(tablet);
  });

  it('works with adbkit through the same server', async () => {
    // adbkit is CommonJS and is loaded as such.
    const { Adb } = createRequire(import.meta.url)('@devicefarmer/adbkit') as typeof import('@devicefarmer/adbkit');
    await using tablet = await startTablet();
    await attach(tablet);
    const client = Adb.createClient({ host: '127.0.0.1', port: serverPort, bin: '' });
    const device = client.getDevice(idOf(tablet));
    expect((await client.listDevices()).map(({ id }: { id: string }) => id)).toContain(idOf(tablet));
    expect((await device.getProperties())['ro.serialno']).toBe('TABSIM0001');
    const output = await Adb.util.readAll(await device.shell('echo one; exit 3'));
    expect(output.toString()).toBe('one\n');
    expect((await device.readdir('/sdcard')).map(({ name }: { name: string }) => name)).toEqual(['Download']);
    expect((await device.stat('/sdcard/Download')).isDirectory()).toBe(true);
    await detach(tablet);
  });
});
