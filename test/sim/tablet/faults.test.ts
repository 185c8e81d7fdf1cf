import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { makePackageFile } from '../../../src/lib/sim/index.ts';
import { hostKey, run, startOnline, startTabletWorld } from './host.ts';

const PORT = 'getprop service.adb.tcp.port';
const OFF = 'settings put global adb_enabled 0';
const ON = 'settings put global adb_enabled 1';
const kiosk = makePackageFile({ name: 'org.example.kiosk' });

describe('the port of the simulated tablet', () => {
  it('closes on usb:, and opens by hand at the tablet', async () => {
    await using t = await startOnline();
    expect((await (await t.open('usb:'))?.all())?.toString()).toBe('restarting in USB mode\n');
    await t.untilPort(null);
    expect(await t.isListening()).toBe(false);
    await t.openPort();
    expect((await run(await t.online(), PORT)).stdout).toBe(`${t.tablet.port}\n`);
    expect(t.state().prompts).toBe(1);
  });

  it('closes when debugging is switched off in the settings, until it is on again by hand', async () => {
    await using t = await startOnline();
    await t.run(OFF);
    await t.settled();
    expect([t.state().port, await t.isListening()]).toEqual([null, false]);
    await t.openPort();
    const again = await t.online();
    await t.settled();
    expect((await run(again, `settings get global adb_enabled; ${PORT}`)).stdout).toBe(`1\n${t.tablet.port}\n`);
  });

  it.each([
    [`${OFF}; ${ON}`, true],
    [`${ON}; ${OFF}`, false],
    [`${OFF}; ${ON}; settings delete global adb_enabled`, false],
  ])('follows the last of quick changes: %s', async (script, open) => {
    await using t = await startOnline();
    await t.run(script);
    await t.settled();
    // Restarted or closed, the bridge has dropped the connection.
    expect(await t.line.next()).toBeUndefined();
    expect([t.state().port, await t.isListening()]).toEqual([open ? t.tablet.port : null, open]);
  });

  it.each([`${OFF}; reboot`, `reboot; ${OFF}`])('stays closed over a restart, also a kept one: %s', async (script) => {
    await using t = await startOnline({ isPortKept: true });
    await t.run(script);
    await t.settled();
    expect(t.state()).toMatchObject({ phase: 'running', port: null });
    await t.openPort();
    expect(await t.isListening()).toBe(true);
  });

  it.each([false, true])('is closed while the tablet restarts, and afterwards unless kept: %s', async (isPortKept) => {
    await using t = await startOnline({ isPortKept });
    await t.run('settings put system screen_brightness 77; setprop debug.x 1');
    await t.open('reboot:');
    await t.untilPort(null);
    await t.settled();
    expect([t.state().phase, await t.isListening()]).toEqual(['running', isPortKept]);
    if (!isPortKept) await t.openPort();
    const again = await t.online();
    const kept = 'settings get system screen_brightness; getprop debug.x; getprop sys.boot_completed';
    expect((await run(again, kept)).stdout).toBe('77\n\n1\n');
    await run(again, "setprop 'persist.adb.tcp.port' ''; reboot");
    await t.settled();
    expect(await t.isListening()).toBe(false);
  });
});

describe('a fault of the simulated tablet', () => {
  it('tablet-unauthorized drops the allowed keys; switched off, a person allows debugging', async () => {
    await using t = await startOnline();
    t.fault('tablet-unauthorized', true);
    expect(await t.line.next()).toBeUndefined();
    const [strange, token] = await t.greet();
    strange.send('AUTH', 2, 0, hostKey().sign(token));
    expect(await strange.next()).toMatchObject({ command: 'AUTH' });
    strange.send('AUTH', 3, 0, hostKey().offer);
    await t.clock.seconds(60);
    expect(strange.isQuiet()).toBe(true);
    t.fault('tablet-unauthorized', false);
    expect(await strange.next()).toMatchObject({ command: 'CNXN' });
  });

  it('tablet-offline sends no answer', async () => {
    await using t = await startTabletWorld();
    t.fault('tablet-offline', true);
    const line = await t.dial();
    line.send('CNXN', 0x01000001, 4096, 'host::');
    await t.clock.seconds(60);
    expect(line.isQuiet()).toBe(true);
  });

  it('tablet-cut ends a transfer midway, and stores nothing of it', async () => {
    await using t = await startOnline();
    t.fault('tablet-cut', true);
    expect(await t.push('/sdcard/x', randomBytes(2_000_000))).toBe('cut');
    expect(await t.run('ls /sdcard/x')).toMatchObject({ code: 1 });
    expect(await t.push('/sdcard/small', randomBytes(1000))).toBe('OKAY');
  });

  it('tablet-slow slows a transfer down', async () => {
    await using t = await startOnline();
    t.fault('tablet-slow', true);
    const before = t.clock.monotonicMs();
    expect(await t.clock.during(t.push('/sdcard/x', randomBytes(300_000)))).toBe('OKAY');
    expect(t.clock.monotonicMs() - before).toBeGreaterThan(500);
  });

  it('tablet-full has no free space for a file or a package', async () => {
    await using t = await startOnline();
    await t.push('/sdcard/k.apk', kiosk);
    t.fault('tablet-full', true);
    expect(await t.push('/sdcard/x', Buffer.alloc(10))).toBe('write failed: No space left on device');
    expect(await t.output('pm install /sdcard/k.apk')).toMatch(/^Failure \[INSTALL_FAILED_INSUFFICIENT_STORAGE/);
    expect(await t.output('df -k /data')).toMatch(/ 0 +100% \/data$/m);
  });

  it.each([
    ['tablet-old', 'getprop ro.build.version.sdk', '25\n'],
    ['tablet-other', 'getprop ro.product.model; getprop ro.serialno', 'OTHER-TAB-8\nTABOTHER99\n'],
  ] as const)('%s is another tablet', async (name, command, stdout) => {
    await using t = await startTabletWorld();
    t.fault(name, true);
    expect((await run(await t.online(), command)).stdout).toBe(stdout);
  });

  it('tablet-account, tablet-refuses-install and tablet-unlocked prevent a kiosk', async () => {
    await using t = await startOnline();
    await t.push('/sdcard/k.apk', kiosk);
    t.fault('tablet-refuses-install', true);
    expect(await t.output('pm install /sdcard/k.apk')).toMatch(/^Failure \[INSTALL_FAILED_USER_RESTRICTED/);
    t.fault('tablet-refuses-install', false);
    await t.run('pm install /sdcard/k.apk');
    const own = 'dpm set-device-owner org.example.kiosk/.Admin';
    t.fault('tablet-account', true);
    expect((await t.run(own)).stderr).toContain('already some accounts');
    t.fault('tablet-account', false);
    t.fault('tablet-unlocked', true);
    await t.run(`${own}; am start -n org.example.kiosk/.Main`);
    expect(await t.output('dumpsys activity activities')).toContain('mLockTaskModeState=NONE');
  });

  it('tablet-stays-open keeps the port open after confirming its end', async () => {
    await using t = await startOnline();
    t.fault('tablet-stays-open', true);
    await (await t.open('usb:'))?.all();
    await t.settled();
    await t.online();
  });

  it('tablet-reopens and tablet-slow-reboot show after a restart, whatever the setting', async () => {
    await using t = await startOnline();
    t.fault('tablet-reopens', true);
    t.fault('tablet-slow-reboot', true);
    await t.run(`${OFF}; reboot`);
    await t.untilPort(null);
    await t.clock.seconds(10);
    expect(t.state().phase).toBe('restarting');
    t.fault('tablet-slow-reboot', false);
    await t.settled();
    expect(t.state()).toMatchObject({ phase: 'running', port: t.tablet.port });
    expect((await run(await t.online(), 'settings get global adb_enabled')).stdout).toBe('1\n');
  });

  it('tablet-opened opens the port once, however it was closed, and a later change closes it again', async () => {
    await using t = await startOnline();
    await t.run(OFF);
    await t.untilPort(null);
    t.fault('tablet-opened', true);
    await t.untilPort(t.tablet.port);
    (await t.online()).send('OPEN', 1, 0, 'usb:\0');
    await t.untilPort(null);
    t.fault('tablet-opened', false);
    await t.settled();
    expect(await t.isListening()).toBe(false);
    t.fault('tablet-opened', true);
    await t.untilPort(t.tablet.port);
  });

  it('tablet-opened waits for the end of a restart', async () => {
    await using t = await startOnline();
    await t.open('reboot:');
    await t.untilPort(null);
    t.fault('tablet-opened', true);
    expect(t.state()).toMatchObject({ phase: 'restarting', port: null });
    await t.untilPort(t.tablet.port);
    expect(t.state().phase).toBe('running');
  });

  it('tablet-slow-prompt allows debugging after a delay', async () => {
    await using t = await startTabletWorld();
    t.fault('tablet-slow-prompt', true);
    const [line] = await t.greet();
    line.send('AUTH', 3, 0, hostKey().offer);
    await t.clock.until(() => t.state().prompts === 1);
    await t.clock.advance(7_900);
    expect(line.isQuiet()).toBe(true);
    await t.clock.advance(200);
    expect(await line.next()).toMatchObject({ command: 'CNXN' });
  });
});
