import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderKioskLock, renderKioskStatus } from '../../src/cli/render/kiosk.ts';
import { chooseDevice } from '../../src/lib/kiosk/adb/tablet.ts';
import { openBridge, readTabletRecord, tabletRedLine } from '../../src/lib/kiosk/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { DialError, directDialer, reachEndpoint } from '../../src/lib/net/index.ts';
import { openSsh } from '../../src/lib/net/ssh/index.ts';
import { startTablet } from '../../src/lib/sim/tablet/index.ts';
import { findAdb, startAdbServer } from '../../src/lib/toolkit/kiosk/adb.ts';
import { lockKiosk } from '../../src/lib/toolkit/kiosk/lock.ts';
import { planKiosk } from '../../src/lib/toolkit/kiosk/plan.ts';
import { setUpKiosk } from '../../src/lib/toolkit/kiosk/setup.ts';
import { kioskStatus } from '../../src/lib/toolkit/kiosk/status.ts';
import { openTabletWorld, type TabletWorld } from '../kiosk/tablet-world.ts';
import { hasProgram } from './peer.ts';
import { startSshd } from './sshd.ts';

const access = { authorizeMs: 8_000 };
const open = { ...access, leaveOpen: true, afterRestart: false, watchMs: 3_000 };
const closing = { ...open, leaveOpen: false };

const states = ({ steps }: { steps: readonly { id: string; state: string }[] }) =>
  Object.fromEntries(steps.map(({ id, state }) => [id, state]));
const isOpen = async ({ tablet }: TabletWorld) =>
  (await reachEndpoint(directDialer, tablet, { timeoutMs: 1_000 })).reached;

describe.skipIf(!hasProgram('adb'))('the tablet through the adb of Debian', { concurrent: true }, () => {
  it('is configured from a factory state, closed and verified; a plan before shows the differences, and changes nothing', async () => {
    await using world = await openTabletWorld();
    const before = world.tablet.state();
    const plan = await planKiosk(world.toolkit, access, world.context);
    expect(plan).toMatchObject({ verdict: 'differs', tablet: { model: 'GW-TAB-10', serial: 'TABSIM0001', sdk: 33 } });
    expect(plan.steps.every(({ state }) => state === 'ok' || state === 'differs')).toBe(true);
    expect(world.tablet.state()).toMatchObject({ packages: before.packages, deviceOwner: null, lockTask: false });

    const setUp = await setUpKiosk(world.toolkit, closing, world.context);
    expect(setUp).toMatchObject({ verdict: 'done', lock: { verdict: 'closed', port: 'closed', wasOpen: true } });
    expect(Object.values(states(setUp)).every((state) => state === 'ok' || state === 'changed')).toBe(true);
    expect(setUp.redLine).toBeNull();
    expect(await isOpen(world)).toBe(false);
    expect(world.tablet.state()).toMatchObject({
      port: null,
      deviceOwner: 'com.example.kiosk/com.example.kiosk.Admin',
      lockTask: true,
      front: 'com.example.kiosk/com.example.kiosk.Main',
    });
    const packages = new Map(world.tablet.state().packages.map((row) => [row.name, row]));
    expect(packages.get('com.example.kiosk')).toMatchObject({ versionCode: 12 });
    expect(packages.get('com.android.vending')).toMatchObject({ state: 'disabled-user' });
    expect(world.context.progress.some((text) => /Sending the package: .*\(100 %\)/.test(text))).toBe(true);
    expect(await world.processes()).toEqual([]);

    const status = await kioskStatus(world.toolkit, access, world.context);
    expect(status.findings.map(({ verdict, remembered }) => [verdict, remembered])).toEqual([
      ['ok', null],
      ['not-checked', null],
      ['not-checked', 'ok'],
    ]);
  });

  it('is not changed by a second setup; left open, it is a red line until it is locked', async () => {
    await using world = await openTabletWorld();
    expect((await setUpKiosk(world.toolkit, open, world.context)).changed).toBeGreaterThan(8);
    const again = await setUpKiosk(world.toolkit, open, world.context);
    expect(new Set(Object.values(states(again)))).toEqual(new Set(['ok']));
    expect(again).toMatchObject({ verdict: 'done', changed: 0, lock: null, redLine: { id: 'tablet-open' } });
    expect(await planKiosk(world.toolkit, access, world.context)).toMatchObject({
      verdict: 'as-planned',
      differing: 0,
    });
    expect(await tabletRedLine(world.toolkit.site.stateDir)).not.toBeNull();
    expect(await kioskStatus(world.toolkit, access, world.context)).toMatchObject({
      port: 'open',
      redLine: { id: 'tablet-open' },
    });

    const locked = await lockKiosk(world.toolkit, closing, world.context);
    expect(locked).toMatchObject({ verdict: 'closed', wasOpen: true, redLine: null });
    // A second lock only probes the port, without a connection by ADB.
    const connections = world.tablet.state().connections;
    expect(await lockKiosk(world.toolkit, closing, world.context)).toMatchObject({ verdict: 'closed', wasOpen: false });
    expect(world.tablet.state().connections).toBe(connections);
    expect(await tabletRedLine(world.toolkit.site.stateDir)).toBeNull();
  });

  it('closed by hand stays a red line where the refusing device is unknown', async () => {
    await using world = await openTabletWorld();
    await planKiosk(world.toolkit, access, world.context);
    await world.tablet[Symbol.asyncDispose]();
    const status = await kioskStatus(world.toolkit, access, world.context);
    expect(status).toMatchObject({ port: 'closed', answeredBy: 'unknown', redLine: { id: 'tablet-open' } });
    expect(status.redLine?.detail).toMatch(/not verified as closed .*serial TABSIM0001.*last seen open/);
    expect(await lockKiosk(world.toolkit, closing, world.context)).toMatchObject({
      verdict: 'not-verified',
      port: 'closed',
      redLine: { id: 'tablet-open' },
    });
  });

  it('is not done when the requested restart opened the port', async () => {
    await using world = await openTabletWorld();
    world.tablet.setFault('tablet-reopens', true);
    const setUp = await setUpKiosk(world.toolkit, { ...closing, afterRestart: true }, world.context);
    expect(setUp).toMatchObject({ verdict: 'not-locked', lock: { verdict: 'opens-again', port: 'closed' } });
    expect(setUp.redLine).not.toBeNull();
  });

  it('is verified closed after a restart, also with a property that opens its port at every start', async () => {
    await using world = await openTabletWorld({ isPortKept: true });
    const lock = await lockKiosk(world.toolkit, { ...closing, afterRestart: true }, world.context);
    expect(lock).toMatchObject({ verdict: 'closed', afterRestart: 'closed', keepsOpening: null });
    const again = await lockKiosk(world.toolkit, closing, world.context);
    expect(again).toMatchObject({ verdict: 'closed', wasOpen: false, afterRestart: 'closed' });
  });

  it('that opens again after a restart is closed once more, reported, and stays a red line', async () => {
    await using world = await openTabletWorld();
    world.tablet.setFault('tablet-reopens', true);
    const lock = await lockKiosk(world.toolkit, { ...closing, afterRestart: true }, world.context);
    expect(lock).toMatchObject({ verdict: 'opens-again', port: 'closed', afterRestart: 'open' });
    expect(lock.redLine?.detail).toMatch(/opens again/);
    expect(await isOpen(world)).toBe(false);
  });

  it('that confirms the order but stays open is not reported as closed', async () => {
    await using world = await openTabletWorld({ clockSpeed: 5 });
    world.tablet.setFault('tablet-stays-open', true);
    const lock = await lockKiosk(world.toolkit, closing, world.context);
    expect(lock).toMatchObject({ verdict: 'open', port: 'open', redLine: { id: 'tablet-open' } });
  });

  it('continues after a connection lost during the transfer', async () => {
    await using world = await openTabletWorld({ packageBytes: 900_000 });
    world.tablet.setFault('tablet-cut', true);
    const onProgress = (text: string) => {
      world.context.progress.push(text);
      if (/reconnecting/.test(text)) world.tablet.setFault('tablet-cut', false);
    };
    const setUp = await setUpKiosk(world.toolkit, open, { ...world.context, onProgress });
    expect(setUp).toMatchObject({ verdict: 'done' });
    expect(world.context.progress.filter((text) => /reconnecting/.test(text))).toHaveLength(1);
  });

  it('that loses every connection ends with the connection error, and is recorded as open', async () => {
    await using world = await openTabletWorld({ packageBytes: 900_000 });
    world.tablet.setFault('tablet-cut', true);
    await expect(setUpKiosk(world.toolkit, open, world.context)).rejects.toMatchObject({ code: 'TABLET_LOST' });
    expect(await readTabletRecord(world.toolkit.site.stateDir)).toMatchObject({
      bridge: { state: 'open' },
      reading: { verdict: 'not-done', steps: [] },
    });
    expect(await kioskStatus(world.toolkit, { ...access, adb: '/nowhere/adb' }, world.context)).toMatchObject({
      verdict: 'wrong',
      setUp: { verdict: 'not-done', basis: 'remembered', notRead: { code: 'ADB_NOT_FOUND' } },
    });
    expect(await world.processes()).toEqual([]);
    // The next run continues.
    world.tablet.setFault('tablet-cut', false);
    expect(await setUpKiosk(world.toolkit, open, world.context)).toMatchObject({ verdict: 'done' });
  });

  it('interrupted during the transfer leaves no process, and the next run continues', async () => {
    await using world = await openTabletWorld({ packageBytes: 3_000_000 });
    world.tablet.setFault('tablet-slow', true);
    const ending = new AbortController();
    const onProgress = (text: string) => {
      if (/Sending the package/.test(text)) ending.abort(new DOMException('stop', 'AbortError'));
    };
    const context = { signal: ending.signal, onProgress };
    await expect(setUpKiosk(world.toolkit, open, context)).rejects.toMatchObject({
      code: 'INTERRUPTED',
      message: expect.stringMatching(/^Interrupted\. ADB over TCP is open at 127\.0\.0\.1:\d+/),
      remedy: expect.stringContaining('gw kiosk lock'),
    });
    expect(await world.processes()).toEqual([]);
    expect(await tabletRedLine(world.toolkit.site.stateDir)).not.toBeNull();
    world.tablet.setFault('tablet-slow', false);
    expect(await setUpKiosk(world.toolkit, open, world.context)).toMatchObject({ verdict: 'done' });
  });

  it.each([
    ['setup', /^Connecting to the tablet/],
    ['setup', /^Clearing settings that open/],
    ['setup', /^Verifying that the port/],
    ['lock', /^Starting adb/],
    ['lock', /^Connecting to the tablet/],
    ['lock', /^Clearing settings that open/],
    ['lock', /^Verifying that the port/],
  ] as const)('an interrupted %s says that ADB is open or not verified: %s', async (command, stage) => {
    await using world = await openTabletWorld();
    if (command === 'lock') await setUpKiosk(world.toolkit, open, world.context);
    const ending = new AbortController();
    const onProgress = (text: string) => {
      if (stage.test(text)) ending.abort(new DOMException('stop', 'AbortError'));
    };
    const context = { signal: ending.signal, onProgress };
    const run = command === 'lock' ? lockKiosk : setUpKiosk;
    await expect(run(world.toolkit, closing, context)).rejects.toMatchObject({
      code: 'INTERRUPTED',
      message: expect.stringMatching(/^Interrupted\. ADB over TCP (is open at|at \S+ is not verified as closed)/),
      remedy: expect.stringContaining('gw kiosk lock'),
    });
    expect(await tabletRedLine(world.toolkit.site.stateDir)).not.toBeNull();
  });

  it('that was last seen open is not closed because its address refuses', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    // The tablet has another address by now, and something else refuses at the old one, without a MAC address to see.
    const place = { address: '127.0.0.1', port: world.tablet.port };
    const refusing = { way: 'direct', dial: () => Promise.reject(new DialError('refused', place)) };
    const toolkit = { ...world.toolkit, dialer: refusing };
    const status = await kioskStatus(toolkit, access, world.context);
    expect(status).toMatchObject({ port: 'closed', answeredBy: 'unknown' });
    expect(status.findings[0]).toMatchObject({
      id: 'port',
      verdict: 'not-checked',
      detail: expect.stringContaining('last seen open'),
    });
    expect(status.redLine).not.toBeNull();
    expect(renderKioskStatus(status).split('\n')[0]).toMatch(
      /not verified.* as closed: 127\.0\.0\.1:\d+ refuses connections/,
    );
    const locked = await lockKiosk(toolkit, closing, world.context);
    expect(locked).toMatchObject({ verdict: 'not-verified', answeredBy: 'unknown' });
    expect(renderKioskLock(locked)).not.toContain('the tablet refuses');
  });

  it('that was never connected is not closed because an address refuses', async () => {
    await using world = await openTabletWorld();
    const place = { address: '127.0.0.1', port: world.tablet.port };
    const refusing = { way: 'direct', dial: () => Promise.reject(new DialError('refused', place)) };
    const toolkit = { ...world.toolkit, dialer: refusing };
    expect((await kioskStatus(toolkit, access, world.context)).findings[0]).toMatchObject({ verdict: 'not-checked' });
    expect(await lockKiosk(toolkit, closing, world.context)).toMatchObject({ verdict: 'not-verified' });
    const after = await kioskStatus(toolkit, access, world.context);
    expect(after.findings[0]).toMatchObject({ verdict: 'not-checked', detail: expect.stringContaining('no tablet') });
    expect(renderKioskStatus(after).split('\n')[0]).toMatch(/^\S*Not decided/);
  });

  it('waits for the authorisation on the tablet, and prints the fingerprint that the tablet shows', async () => {
    await using world = await openTabletWorld({ prompt: { afterMs: 1_500 } });
    expect((await planKiosk(world.toolkit, access, world.context)).verdict).toBe('differs');
    const prompt = world.context.progress.find((text) => /Allow USB debugging/.test(text));
    const [fingerprint = 'none'] = world.tablet.state().allowedKeys;
    expect(prompt).toContain(fingerprint);
    // The key is stored for the next connection, readable by its owner only.
    await planKiosk(world.toolkit, access, world.context);
    expect(world.tablet.state().prompts).toBe(1);
    const key = await stat(join(world.toolkit.site.stateDir, 'adb', '.android', 'adbkey'));
    expect(key.mode & 0o077).toBe(0);
  });

  it.each([
    ['tablet-unauthorized', 'TABLET_UNAUTHORIZED', /not authorised this computer.*fingerprint/],
    ['tablet-offline', 'TABLET_OFFLINE', /ADB is offline/],
    ['tablet-old', 'TABLET_TOO_OLD', /Android 7\.1\.2 \(API 25\)/],
    ['tablet-other', 'TABLET_WRONG_DEVICE', /'OTHER-TAB-8', not 'GW-TAB-10'/],
  ] as const)('with the fault %s ends with %s, without changes', async (fault, code, message) => {
    await using world = await openTabletWorld({ clockSpeed: 3 });
    world.tablet.setFault(fault, true);
    const setUp = setUpKiosk(world.toolkit, { ...open, authorizeMs: 6_000 }, world.context);
    await expect(setUp).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(world.tablet.state().deviceOwner).toBeNull();
    expect(await world.processes()).toEqual([]);
  });

  it.each([
    ['tablet-full', 'package', 'TABLET_NO_SPACE', /Remove unneeded data/],
    ['tablet-refuses-install', 'package', 'TABLET_REFUSED', /.+/],
    ['tablet-account', 'device-owner', 'TABLET_REFUSED', /Remove all accounts/],
  ] as const)(
    'with the fault %s fails at the step %s, and is left open for the technician',
    async (fault, id, code, remedy) => {
      await using world = await openTabletWorld();
      world.tablet.setFault(fault, true);
      const setUp = await setUpKiosk(world.toolkit, closing, world.context);
      expect(setUp).toMatchObject({ verdict: 'not-done', lock: null, redLine: { id: 'tablet-open' } });
      const step = setUp.steps.find((row) => row.id === id);
      expect(step).toMatchObject({ state: 'failed', error: { code }, remedy: expect.stringMatching(remedy) });
      expect(setUp.steps.at(-1)).toMatchObject({ state: 'not-reached' });
      expect(await kioskStatus(world.toolkit, access, world.context)).toMatchObject({
        findings: [{ verdict: 'wrong' }, { verdict: 'not-checked' }, { id: 'set-up', verdict: 'wrong' }],
      });
      // Without the fault the next run continues, and closes it.
      world.tablet.setFault(fault, false);
      expect(await setUpKiosk(world.toolkit, closing, world.context)).toMatchObject({ verdict: 'done' });
    },
  );

  it('whose shell does not enter lock task mode is not done', async () => {
    await using world = await openTabletWorld({ clockSpeed: 5 });
    world.tablet.setFault('tablet-unlocked', true);
    const setUp = await setUpKiosk(world.toolkit, open, world.context);
    expect(setUp.verdict).toBe('not-done');
    expect(states(setUp)).toMatchObject({ 'start-page': 'changed', 'lock-task': 'differs' });
  });

  it('in another network is reported, not changed', async () => {
    await using world = await openTabletWorld({ wlan: { address: '198.51.100.9/24', ssid: 'Guests' } });
    const plan = await planKiosk(world.toolkit, access, world.context);
    expect(plan.steps.filter(({ byHand, state }) => byHand && state === 'differs')).toMatchObject([
      { id: 'wlan', found: 'Guests' },
      { id: 'segment', found: '198.51.100.9 (wlan0)' },
    ]);
  });

  it('gets only the package of the profile', async () => {
    await using world = await openTabletWorld();
    const path = join(world.dir, 'kiosk.apk');
    await writeFile(path, Buffer.concat([await readFile(path), Buffer.from('x')]));
    const setUp = await setUpKiosk(world.toolkit, closing, world.context);
    expect(setUp.steps.find(({ id }) => id === 'package')).toMatchObject({ error: { code: 'KIOSK_PACKAGE_DIFFERS' } });
    expect(world.tablet.state().packages.some(({ name }) => name === 'com.example.kiosk')).toBe(false);
  });

  it('that is closed is reported without starting a program', async () => {
    await using world = await openTabletWorld();
    await lockKiosk(world.toolkit, closing, world.context);
    await expect(planKiosk(world.toolkit, access, world.context)).rejects.toMatchObject({
      code: 'TABLET_NOT_CONNECTED',
      message: expect.stringContaining('switched off'),
      tried: { address: '127.0.0.1', port: world.tablet.port },
    });
    // The verified state stays in the record.
    expect(await tabletRedLine(world.toolkit.site.stateDir)).toBeNull();
  });

  it('that does not answer as ADB is TABLET_OFFLINE', async () => {
    await using world = await openTabletWorld({ clockSpeed: 4 });
    const { createServer } = await import('node:net');
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.resume();
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { tablet } = world.toolkit.site;
    if (tablet === undefined) throw new Error('no tablet');
    const toolkit = { ...world.toolkit, site: { ...world.toolkit.site, tablet: { ...tablet, adbPort: port } } };
    await expect(planKiosk(toolkit, access, world.context)).rejects.toMatchObject({ code: 'TABLET_OFFLINE' });
    await new Promise((resolve) => server.close(resolve));
  });

  it('is selected by serial number among several over USB, otherwise the command ends', async () => {
    await using first = await startTablet({});
    await using second = await startTablet({ identity: { serial: 'TABSIM0002' } });
    await using world = await openTabletWorld();
    const { signal } = world.context;
    const adb = await findAdb({});
    const keyDir = join(world.dir, 'several');
    await using server = await startAdbServer({ adb, keyDir, usb: false, clock: systemClock, signal });
    const bridge = await openBridge(server.port, systemClock);
    const call = { signal, timeoutMs: 10_000 };
    for (const tablet of [first, second]) await bridge.connect(tablet, call);
    const devices = await bridge.devices(call);
    expect(devices).toHaveLength(2);
    expect(() => chooseDevice(devices, { kind: 'usb' }, {})).toThrow(
      expect.objectContaining({ code: 'TABLET_SEVERAL' }),
    );
    const serial = `127.0.0.1:${second.port}`;
    expect(chooseDevice(devices, { kind: 'usb' }, { serial })).toMatchObject({ id: serial });
  });

  it('is configured through another dialer, and its closed port is verified through it', async () => {
    await using world = await openTabletWorld();
    let dials = 0;
    const dialer = {
      way: 'via test',
      dial: (...args: Parameters<typeof directDialer.dial>) => {
        dials += 1;
        return directDialer.dial(...args);
      },
    };
    const setUp = await setUpKiosk({ ...world.toolkit, dialer }, closing, world.context);
    expect(setUp).toMatchObject({ verdict: 'done', lock: { verdict: 'closed' } });
    // One probe, one for adb, three for the verification.
    expect(dials).toBeGreaterThanOrEqual(5);
  });

  it.skipIf(!hasProgram('sshd'))('is configured and verified closed through an OpenSSH server', async () => {
    await using world = await openTabletWorld();
    await using sshd = await startSshd();
    sshd.trust();
    const person = { homeDir: sshd.home, localUser: sshd.user, agentSocket: null, person: null };
    await using ssh = await openSsh(`${sshd.user}@127.0.0.1:${sshd.port}`, person);
    const toolkit = { ...world.toolkit, dialer: ssh.dialer, ssh };
    const setUp = await setUpKiosk(toolkit, closing, world.context);
    expect(setUp).toMatchObject({ verdict: 'done', lock: { verdict: 'closed', port: 'closed' }, redLine: null });
    expect(await isOpen(world)).toBe(false);
    await expect(planKiosk(toolkit, access, world.context)).rejects.toMatchObject({
      code: 'TABLET_NOT_CONNECTED',
      tried: { address: '127.0.0.1', port: world.tablet.port, via: ssh.where },
    });
  });

  it('is reached through an adb server of its own, without using another one', async () => {
    const ownServer = { host: '127.0.0.1', port: 5037 };
    const before = await reachEndpoint(directDialer, ownServer, { timeoutMs: 1_000 });
    await using world = await openTabletWorld();
    await planKiosk(world.toolkit, access, world.context);
    const after = await reachEndpoint(directDialer, ownServer, { timeoutMs: 1_000 });
    expect(after.reached).toBe(before.reached);
  });
});

describe('without the adb program', () => {
  it('its absence is explained, with the path', async () => {
    await using world = await openTabletWorld();
    const named = join(world.dir, 'no-adb');
    await expect(planKiosk(world.toolkit, { ...access, adb: named }, world.context)).rejects.toMatchObject({
      code: 'ADB_NOT_FOUND',
      message: expect.stringContaining(named),
      remedy: expect.stringContaining('apt install adb'),
    });
  });

  it('another program is reported with its output', async () => {
    await using world = await openTabletWorld();
    const named = join(world.dir, 'wrong-adb');
    await writeFile(named, '#!/bin/sh\necho "not me" >&2\nexit 3\n', { mode: 0o755 });
    await expect(planKiosk(world.toolkit, { ...access, adb: named }, world.context)).rejects.toMatchObject({
      code: 'PART_ENDED',
      message: expect.stringContaining('not me'),
    });
  });
});
