import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { makePackageFile, startTablet } from '../../../src/lib/sim/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import {
  BANNER,
  dial,
  goOnline,
  type HostKey,
  isListening,
  makeHostKey,
  openStream,
  push,
  run,
  until,
} from './host.ts';

let key: HostKey;
beforeAll(() => {
  key = makeHostKey();
});

describe.concurrent('the port of the simulated tablet', () => {
  it('closes on usb:, and opens by hand at the tablet', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, 'usb:');
    expect((await stream?.all())?.toString()).toBe('restarting in USB mode\n');
    await until(() => tablet.state().port === null);
    expect(await isListening(tablet.port)).toBe(false);
    await tablet.openPort();
    expect(await isListening(tablet.port)).toBe(true);
    using again = await goOnline(tablet.port, key);
    expect((await run(again, 'getprop service.adb.tcp.port')).stdout).toBe(`${tablet.port}\n`);
    expect(tablet.state().prompts).toBe(1);
  });

  it('moves on tcpip:', async () => {
    await using other = await startTablet();
    const free = other.port;
    await other[Symbol.asyncDispose]();
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    const stream = await openStream(line, `tcpip:${free}`);
    expect((await stream?.all())?.toString()).toBe(`restarting in TCP mode port: ${free}\n`);
    await until(() => tablet.state().port === free);
    expect(await isListening(tablet.port)).toBe(false);
    using _moved = await goOnline(free, key);
  });

  it('closes when debugging is switched off in the settings', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    await run(line, 'settings put global adb_enabled 0');
    await until(() => tablet.state().port === null);
    expect(await isListening(tablet.port)).toBe(false);
  });

  it('is open after debugging was switched off and on again by hand', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    await run(line, 'settings put global adb_enabled 0');
    await tablet.settled();
    expect(tablet.state().port).toBeNull();
    await tablet.openPort();
    expect(tablet.state().port).toBe(tablet.port);
    using again = await goOnline(tablet.port, key);
    await tablet.settled();
    expect((await run(again, 'settings get global adb_enabled; getprop service.adb.tcp.port')).stdout).toBe(
      `1\n${tablet.port}\n`,
    );
    expect(await isListening(tablet.port)).toBe(true);
  });

  it.each([
    ['off and on again', 'settings put global adb_enabled 0; settings put global adb_enabled 1', true],
    ['on and off again', 'settings put global adb_enabled 1; settings put global adb_enabled 0', false],
    [
      'off, on and off',
      'settings put global adb_enabled 0; settings put global adb_enabled 1; settings delete global adb_enabled',
      false,
    ],
  ])('follows the last of quick changes: %s', async (_, script, open) => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    await run(line, script);
    await tablet.settled();
    // Restarted or closed, the bridge has dropped the connection.
    expect(await line.next()).toBeUndefined();
    expect(tablet.state().port).toBe(open ? tablet.port : null);
    expect(await isListening(tablet.port)).toBe(open);
  });

  it('follows the last of two concurrent changes', async () => {
    await using tablet = await startTablet();
    {
      using line = await goOnline(tablet.port, key);
      await (await openStream(line, 'usb:'))?.all();
      await tablet.openPort();
      await tablet.settled();
      expect(tablet.state().port).toBe(tablet.port);
    }
    using line = await goOnline(tablet.port, key);
    await run(line, 'pwd');
    const opening = tablet.openPort();
    await run(line, 'settings put global adb_enabled 0');
    await opening;
    await tablet.settled();
    expect(tablet.state().port).toBeNull();
  });

  it.each([
    ['before', 'settings put global adb_enabled 0; reboot'],
    ['after', 'reboot; settings put global adb_enabled 0'],
  ])(
    'stays closed over a restart when debugging was switched off %s the restart, also with a kept port',
    async (_, script) => {
      await using tablet = await startTablet({ rebootMs: 100, isPortKept: true });
      using line = await goOnline(tablet.port, key);
      await run(line, script);
      await tablet.settled();
      expect(tablet.state()).toMatchObject({ phase: 'running', port: null });
      await tablet.openPort();
      expect(await isListening(tablet.port)).toBe(true);
    },
  );

  it('is closed by usb:, and after a restart as the kept property requires', async () => {
    await using tablet = await startTablet({ rebootMs: 100, isPortKept: true });
    using line = await goOnline(tablet.port, key);
    line.send('OPEN', 1, 0, 'reboot:\0');
    line.send('OPEN', 2, 0, 'usb:\0');
    await until(() => tablet.state().port === null);
    await tablet.settled();
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
  });

  it('closes during the last part of a restart, as soon as the bridge runs', async () => {
    const ports: (number | null)[] = [];
    await using tablet = await startTablet({ rebootMs: 1500, isPortKept: true, onPort: (port) => ports.push(port) });
    using line = await goOnline(tablet.port, key);
    await openStream(line, 'reboot:');
    await until(() => tablet.state().port === null);
    await until(() => tablet.state().port === tablet.port);
    using again = await goOnline(tablet.port, key);
    await openStream(again, 'usb:');
    await until(() => tablet.state().port === null);
    expect(tablet.state().phase).toBe('restarting');
    await tablet.settled();
    expect(tablet.state()).toMatchObject({ phase: 'running', port: null });
    expect(ports).toEqual([null, tablet.port, null]);
  });

  it('restarts once more when requested during a restart', async () => {
    await using tablet = await startTablet({ rebootMs: 1500, isPortKept: true });
    using line = await goOnline(tablet.port, key);
    await openStream(line, 'reboot:');
    await until(() => tablet.state().port === null);
    await until(() => tablet.state().port === tablet.port);
    using again = await goOnline(tablet.port, key);
    await (await openStream(again, 'reboot:'))?.all();
    await until(() => tablet.state().port === null);
    await tablet.settled();
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
  });

  it('is closed while the tablet restarts, and afterwards unless it is kept', async () => {
    await using tablet = await startTablet({ rebootMs: 300 });
    using line = await goOnline(tablet.port, key);
    await run(line, 'settings put system screen_brightness 77; setprop debug.x 1');
    await openStream(line, 'reboot:');
    await until(() => tablet.state().port === null);
    await until(() => tablet.state().phase === 'running');
    expect(await isListening(tablet.port)).toBe(false);
    await tablet.openPort();
    using again = await goOnline(tablet.port, key);
    expect((await run(again, 'settings get system screen_brightness; getprop debug.x')).stdout).toBe('77\n\n');
  });

  it('is open again after a restart if it is kept', async () => {
    await using tablet = await startTablet({ rebootMs: 300, isPortKept: true });
    using line = await goOnline(tablet.port, key);
    await openStream(line, 'reboot:');
    await until(() => tablet.state().phase === 'restarting' && tablet.state().port === null);
    await until(() => tablet.state().phase === 'running');
    using again = await goOnline(tablet.port, key);
    expect((await run(again, 'getprop sys.boot_completed')).stdout).toBe('1\n');
    await run(again, "setprop 'persist.adb.tcp.port' ''");
    await openStream(again, 'reboot:');
    await until(() => tablet.state().phase === 'restarting' && tablet.state().port === null);
    await until(() => tablet.state().phase === 'running');
    expect(await isListening(tablet.port)).toBe(false);
  });
});

describe.concurrent('faults of the simulated tablet', () => {
  it('tablet-unauthorized drops the allowed keys; switched off, a person allows debugging', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    tablet.setFault('tablet-unauthorized', true);
    expect(await line.next()).toBeUndefined();
    using strange = await dial(tablet.port);
    strange.send('CNXN', 0x01000001, 4096, BANNER);
    strange.send('AUTH', 2, 0, key.sign((await strange.next())?.payload ?? Buffer.alloc(0)));
    expect(await strange.next()).toMatchObject({ command: 'AUTH' });
    strange.send('AUTH', 3, 0, key.offer);
    expect(await strange.isSilent(200)).toBe(true);
    tablet.setFault('tablet-unauthorized', false);
    expect(await strange.next()).toMatchObject({ command: 'CNXN' });
  });

  it('tablet-offline sends no answer', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-offline', true);
    using line = await dial(tablet.port);
    line.send('CNXN', 0x01000001, 4096, BANNER);
    expect(await line.isSilent(200)).toBe(true);
  });

  it('tablet-cut ends a transfer midway, and stores nothing of it', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-cut', true);
    expect(await push(tablet.port, key, '/sdcard/x', randomBytes(2_000_000))).toBe('cut');
    using line = await goOnline(tablet.port, key);
    expect(await run(line, 'ls /sdcard/x')).toMatchObject({ code: 1 });
    expect(await push(tablet.port, key, '/sdcard/small', randomBytes(1000))).toBe('OKAY');
  });

  it('tablet-slow slows a transfer down', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-slow', true);
    const before = performance.now();
    expect(await push(tablet.port, key, '/sdcard/x', randomBytes(300_000))).toBe('OKAY');
    expect(performance.now() - before).toBeGreaterThan(500);
  });

  it('tablet-full has no free space for a file or a package', async () => {
    await using tablet = await startTablet();
    const file = makePackageFile({ name: 'org.example.kiosk' });
    await push(tablet.port, key, '/sdcard/k.apk', file);
    tablet.setFault('tablet-full', true);
    expect(await push(tablet.port, key, '/sdcard/x', Buffer.alloc(10))).toBe('write failed: No space left on device');
    using line = await goOnline(tablet.port, key);
    expect((await run(line, 'pm install /sdcard/k.apk')).stdout).toMatch(
      /^Failure \[INSTALL_FAILED_INSUFFICIENT_STORAGE/,
    );
    expect((await run(line, 'df -k /data')).stdout).toMatch(/ 0 +100% \/data$/m);
  });

  it('tablet-old is an older Android with an older bridge', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-old', true);
    using line = await goOnline(tablet.port, key);
    expect((await run(line, 'getprop ro.build.version.sdk')).stdout).toBe('25\n');
  });

  it('tablet-other is another tablet', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-other', true);
    using line = await goOnline(tablet.port, key);
    expect((await run(line, 'getprop ro.product.model; getprop ro.serialno')).stdout).toBe('OTHER-TAB-8\nTABOTHER99\n');
  });

  it('tablet-account, tablet-refuses-install and tablet-unlocked prevent a kiosk', async () => {
    await using tablet = await startTablet();
    await push(tablet.port, key, '/sdcard/k.apk', makePackageFile({ name: 'org.example.kiosk' }));
    using line = await goOnline(tablet.port, key);
    tablet.setFault('tablet-refuses-install', true);
    expect((await run(line, 'pm install /sdcard/k.apk')).stdout).toMatch(/^Failure \[INSTALL_FAILED_USER_RESTRICTED/);
    tablet.setFault('tablet-refuses-install', false);
    await run(line, 'pm install /sdcard/k.apk');
    tablet.setFault('tablet-account', true);
    expect((await run(line, 'dpm set-device-owner org.example.kiosk/.Admin')).stderr).toContain(
      'already some accounts',
    );
    tablet.setFault('tablet-account', false);
    tablet.setFault('tablet-unlocked', true);
    await run(line, 'dpm set-device-owner org.example.kiosk/.Admin; am start -n org.example.kiosk/.Main');
    expect((await run(line, 'dumpsys activity activities')).stdout).toContain('mLockTaskModeState=NONE');
  });

  it('tablet-stays-open keeps the port open after confirming its end', async () => {
    await using tablet = await startTablet();
    tablet.setFault('tablet-stays-open', true);
    using line = await goOnline(tablet.port, key);
    await (await openStream(line, 'usb:'))?.all();
    await tablet.settled();
    using _again = await goOnline(tablet.port, key);
  });

  it('tablet-reopens and tablet-slow-reboot show after a restart', async () => {
    await using tablet = await startTablet({ rebootMs: 100 });
    tablet.setFault('tablet-reopens', true);
    tablet.setFault('tablet-slow-reboot', true);
    using line = await goOnline(tablet.port, key);
    await openStream(line, 'reboot:');
    await until(() => tablet.state().port === null);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(tablet.state().phase).toBe('restarting');
    tablet.setFault('tablet-slow-reboot', false);
    await until(() => tablet.state().phase === 'running');
    using again = await goOnline(tablet.port, key);
    await tablet.settled();
    // The bridge was started once.
    expect((await run(again, 'settings get global adb_enabled')).stdout).toBe('1\n');
  });

  it('tablet-reopens also overrides the setting', async () => {
    await using tablet = await startTablet({ rebootMs: 100 });
    tablet.setFault('tablet-reopens', true);
    using line = await goOnline(tablet.port, key);
    await run(line, 'settings put global adb_enabled 0; reboot');
    await tablet.settled();
    expect(tablet.state()).toMatchObject({ phase: 'running', port: tablet.port });
    expect(await isListening(tablet.port)).toBe(true);
  });

  it('tablet-opened opens the port once, however it was closed, and a later change closes it again', async () => {
    await using tablet = await startTablet();
    using line = await goOnline(tablet.port, key);
    await run(line, 'settings put global adb_enabled 0');
    await until(() => tablet.state().port === null);
    tablet.setFault('tablet-opened', true);
    await until(() => tablet.state().port === tablet.port);
    using again = await goOnline(tablet.port, key);
    await openStream(again, 'usb:');
    await until(() => tablet.state().port === null);
    await tablet.settled();
    expect(await isListening(tablet.port)).toBe(false);
    tablet.setFault('tablet-opened', false);
    await tablet.settled();
    expect(await isListening(tablet.port)).toBe(false);
    tablet.setFault('tablet-opened', true);
    await until(() => tablet.state().port === tablet.port);
  });

  it('tablet-opened waits for the end of a restart', async () => {
    await using tablet = await startTablet({ rebootMs: 300 });
    using line = await goOnline(tablet.port, key);
    await openStream(line, 'reboot:');
    await until(() => tablet.state().phase === 'restarting' && tablet.state().port === null);
    tablet.setFault('tablet-opened', true);
    expect(tablet.state().port).toBeNull();
    await until(() => tablet.state().phase === 'running');
    await until(() => tablet.state().port === tablet.port);
  });

  it('tablet-slow-prompt allows debugging after a delay', async () => {
    const clock = createFakeClock({ startMs: 1_000_000 });
    await using tablet = await startTablet({ clock });
    tablet.setFault('tablet-slow-prompt', true);
    using line = await dial(tablet.port);
    line.send('CNXN', 0x01000001, 4096, BANNER);
    await line.next();
    line.send('AUTH', 3, 0, key.offer);
    expect(await line.isSilent(300)).toBe(true);
    await clock.advance(7_900);
    expect(await line.isSilent(100)).toBe(true);
    await clock.advance(200);
    expect(await line.next()).toMatchObject({ command: 'CNXN' });
  });
});
