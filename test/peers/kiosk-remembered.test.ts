import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTabletRecord, writeTabletRecord } from '../../src/lib/kiosk/index.ts';
import { DialError } from '../../src/lib/net/index.ts';
import type { KioskStatus } from '../../src/lib/toolkit/kiosk/kiosk.result.ts';
import { lockKiosk } from '../../src/lib/toolkit/kiosk/lock.ts';
import { planKiosk } from '../../src/lib/toolkit/kiosk/plan.ts';
import { setUpKiosk } from '../../src/lib/toolkit/kiosk/setup.ts';
import { kioskStatus } from '../../src/lib/toolkit/kiosk/status.ts';
import { freePort } from '../free-port.ts';
import { openTabletWorld, type TabletWorld } from '../kiosk/tablet-world.ts';
import { hasProgram } from './peer.ts';

const access = { authorizeMs: 8_000 };
const open = { ...access, leaveOpen: true, afterRestart: false, watchMs: 3_000 };
const closing = { ...open, leaveOpen: false };
const noAdb = { ...access, adb: '/nowhere/adb' };

const statusOf = (world: TabletWorld, how: { readonly adb?: string } = {}) =>
  kioskStatus(world.toolkit, { ...access, ...how }, world.context);
const setUpFinding = ({ findings }: KioskStatus) => findings.find(({ id }) => id === 'set-up');
const doubts = ({ setUp }: KioskStatus) => setUp.doubts.map(({ id }) => id);

describe.skipIf(!hasProgram('adb'))('the remembered state of the tablet', { concurrent: true }, () => {
  it('is empty before the first reading, and not ok', async () => {
    await using world = await openTabletWorld();
    const status = await statusOf(world, noAdb);
    expect(status).toMatchObject({ verdict: 'wrong', port: 'open', tablet: null, setUp: { basis: 'none' } });
    expect(setUpFinding(status)).toMatchObject({ verdict: 'not-checked', basis: 'none', at: null, serial: null });
  });

  it('keeps a setting changed by hand and found by a plan when the tablet is locked', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    world.tablet.touch('system', 'screen_brightness', '13');
    expect(await planKiosk(world.toolkit, access, world.context)).toMatchObject({ verdict: 'differs', differing: 1 });
    expect(await lockKiosk(world.toolkit, closing, world.context)).toMatchObject({
      verdict: 'closed',
      reading: { verdict: 'differs', differing: 1 },
    });
    const status = await statusOf(world);
    expect(status).toMatchObject({
      verdict: 'wrong',
      port: 'closed',
      setUp: { verdict: 'differs', basis: 'remembered', by: 'lock', serial: 'TABSIM0001', ageBy: 'uptime' },
    });
    expect(status.setUp.steps.filter(({ state }) => state !== 'ok')).toMatchObject([
      { id: 'brightness', state: 'differs', found: expect.stringContaining('screen_brightness 13') },
    ]);
    expect(setUpFinding(status)).toMatchObject({ verdict: 'wrong', remembered: 'wrong', basis: 'remembered' });
    expect(setUpFinding(status)?.bootId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('a setting changed by hand without a plan is found by the lock', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    world.tablet.touch('system', 'screen_brightness', '13');
    await lockKiosk(world.toolkit, closing, world.context);
    expect(await statusOf(world)).toMatchObject({ verdict: 'wrong', setUp: { verdict: 'differs', by: 'lock' } });
  });

  it('is read again while the port is open, and ok only then', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    const inOrder = await statusOf(world);
    expect(inOrder).toMatchObject({ port: 'open', setUp: { verdict: 'as-profile', basis: 'read-now', by: 'status' } });
    expect(setUpFinding(inOrder)).toMatchObject({ verdict: 'ok', basis: 'read-now', ageS: 0, remembered: null });
    world.tablet.touch('system', 'screen_brightness', '13');
    expect(setUpFinding(await statusOf(world))).toMatchObject({ verdict: 'wrong', basis: 'read-now' });
    // Without adb the reading is remembered, and the open port is a doubt.
    await setUpKiosk(world.toolkit, open, world.context);
    const unread = await statusOf(world, noAdb);
    expect(doubts(unread)).toEqual(['opened']);
    expect(unread.setUp).toMatchObject({
      verdict: 'not-checked',
      basis: 'remembered',
      notRead: { code: 'ADB_NOT_FOUND' },
    });
    expect(setUpFinding(unread)).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('not read now'),
    });
  });

  it('is never ok from memory: closed, with age and device', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, closing, world.context);
    const status = await statusOf(world);
    expect(status).toMatchObject({
      verdict: 'not-checked',
      redLine: null,
      setUp: { verdict: 'as-profile', by: 'setup' },
    });
    expect(setUpFinding(status)).toMatchObject({
      verdict: 'not-checked',
      remembered: 'ok',
      basis: 'remembered',
      serial: 'TABSIM0001',
      ageS: expect.any(Number),
    });
    // Neither a setting changed by hand nor a factory reset is visible without a connection.
    world.tablet.touch('system', 'screen_brightness', '13');
    expect(setUpFinding(await statusOf(world))).toMatchObject({ verdict: 'not-checked' });
    await world.tablet.factoryReset();
    expect(setUpFinding(await statusOf(world))).toMatchObject({ verdict: 'not-checked', basis: 'remembered' });
  });

  it('a reset to factory settings is noticed at the next connection, although the serial number is the same', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, { ...closing, afterRestart: true, watchMs: 800 }, world.context);
    const before = await readTabletRecord(world.toolkit.site.stateDir);
    await world.tablet.factoryReset();
    await world.tablet.openPort();
    // With an invalid profile the lock reads the identity only.
    await world.profile({ name: '' });
    expect(await lockKiosk(world.toolkit, closing, world.context)).toMatchObject({ verdict: 'closed', reading: null });
    await world.profile();
    const after = await readTabletRecord(world.toolkit.site.stateDir);
    expect(after?.tablet?.serial).toBe(before?.tablet?.serial);
    expect(after?.tablet?.androidId).not.toBe(before?.tablet?.androidId);
    const status = await statusOf(world);
    expect(doubts(status)).toEqual(expect.arrayContaining(['opened', 'reset', 'restarted']));
    expect(status).toMatchObject({
      setUp: { verdict: 'not-checked' },
      restart: { verdict: 'not-checked' },
    });
    expect(setUpFinding(status)).toMatchObject({ verdict: 'not-checked', remembered: 'not-checked' });
  });

  it('a restart by hand is noticed at the next connection; one by gw is a doubt of its own', async () => {
    await using world = await openTabletWorld({ isPortKept: true });
    await setUpKiosk(world.toolkit, open, world.context);
    await world.tablet.restart();
    await world.profile({ name: '' });
    await lockKiosk(world.toolkit, closing, world.context);
    await world.profile();
    expect(await statusOf(world)).toMatchObject({
      setUp: { verdict: 'not-checked', doubts: [{ id: 'restarted' }] },
    });

    await world.tablet.openPort();
    await setUpKiosk(world.toolkit, { ...closing, afterRestart: true, watchMs: 800 }, world.context);
    const status = await statusOf(world);
    expect(status).toMatchObject({
      setUp: {
        verdict: 'not-checked',
        atLastConnection: 'as-profile',
        basis: 'remembered',
        doubts: [{ id: 'restarted-by-gw' }],
      },
      // The boot id after that restart is unknown.
      restart: { verdict: 'closed', basis: 'remembered', serial: 'TABSIM0001', bootId: null },
    });
    expect(setUpFinding(status)).toMatchObject({
      verdict: 'not-checked',
      remembered: 'not-checked',
      detail: expect.stringContaining('restarted'),
    });
  });

  it('does not apply to another tablet at the address', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    world.tablet.setFault('tablet-other', true);
    const status = await statusOf(world);
    expect(status.setUp).toMatchObject({
      verdict: 'not-checked',
      basis: 'remembered',
      serial: 'TABSIM0001',
      notRead: { code: 'TABLET_WRONG_DEVICE' },
    });
    // It can be locked, and is then the last known tablet.
    expect(await lockKiosk(world.toolkit, closing, world.context)).toMatchObject({ verdict: 'closed', reading: null });
    const locked = await statusOf(world);
    expect(locked.tablet).toMatchObject({ serial: 'TABOTHER99' });
    expect(doubts(locked)).toContain('other-device');
    expect(setUpFinding(locked)).toMatchObject({ verdict: 'not-checked', serial: 'TABSIM0001' });
  });

  it('a difference of one tablet does not apply to another one', async () => {
    await using world = await openTabletWorld();
    await planKiosk(world.toolkit, access, world.context);
    world.tablet.setFault('tablet-other', true);
    await lockKiosk(world.toolkit, closing, world.context);
    expect(setUpFinding(await statusOf(world))).toMatchObject({ verdict: 'not-checked' });
  });

  it('does not apply to a changed or unreadable profile; comments do not count', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, closing, world.context);
    const path = join(world.dir, 'kiosk.yaml');
    await world.profile({ screen: { brightness: 10 } });
    expect(await statusOf(world)).toMatchObject({
      setUp: { verdict: 'not-checked', doubts: [{ id: 'profile-changed' }] },
    });
    await writeFile(path, 'schema: gw/kiosk/9\n');
    expect(doubts(await statusOf(world))).toEqual(['profile-unreadable']);
    await world.profile();
    await writeFile(path, `# a remark\n${await readFile(path, 'utf8')}\n`);
    expect(await statusOf(world)).toMatchObject({ setUp: { verdict: 'as-profile', doubts: [] } });
  });

  it('a package of another version is found by the next reading', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    const app = { name: 'com.example.kiosk', versionCode: 13, activity: '.Main' };
    await world.profile({ app });
    expect(await statusOf(world)).toMatchObject({
      setUp: {
        verdict: 'differs',
        basis: 'read-now',
        steps: expect.arrayContaining([
          expect.objectContaining({ id: 'package', state: 'differs', found: 'version code 12' }),
        ]),
      },
    });
  });

  it('is too old after a day, and of unknown age when a clock was set back', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, closing, world.context);
    const { stateDir } = world.toolkit.site;
    const record = await readTabletRecord(stateDir);
    if (record?.reading == null) throw new Error('no reading stored');
    const { reading } = record;
    const store = (at: string) => {
      const observed = { ...reading.observed, at, machine: { bootId: null, uptimeS: null } };
      return writeTabletRecord(stateDir, { ...record, reading: { ...reading, observed } });
    };
    await store('2020-01-01T00:00:00.000Z');
    const old = await statusOf(world);
    expect(doubts(old)).toEqual(['too-old']);
    expect(setUpFinding(old)).toMatchObject({ remembered: 'not-checked', ageBy: 'wall-clock' });
    await store('2099-01-01T00:00:00.000Z');
    const ahead = await statusOf(world);
    expect(doubts(ahead)).toEqual(['age-unknown']);
    expect(setUpFinding(ahead)).toMatchObject({ verdict: 'not-checked', ageS: null, ageBy: null });
  });

  it('of a silent address is not ok, and kept', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, closing, world.context);
    const address = { address: '127.0.0.1', port: world.tablet.port };
    const silent = { way: 'direct', dial: () => Promise.reject(new DialError('no-answer', address)) };
    const status = await kioskStatus({ ...world.toolkit, dialer: silent }, access, world.context);
    expect(status).toMatchObject({ port: 'silent', verdict: 'not-checked', setUp: { verdict: 'as-profile' } });
    expect(status.findings[0]).toMatchObject({ id: 'port', verdict: 'not-checked' });
  });

  it('does not apply to a changed address in the site file', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, closing, world.context);
    const { tablet } = world.toolkit.site;
    if (tablet === undefined) throw new Error('no tablet');
    const port = await freePort();
    const toolkit = { ...world.toolkit, site: { ...world.toolkit.site, tablet: { ...tablet, adbPort: port } } };
    const status = await kioskStatus(toolkit, access, world.context);
    expect(doubts(status)).toEqual(['address-changed']);
    expect(setUpFinding(status)).toMatchObject({ verdict: 'not-checked', remembered: 'not-checked' });
  });

  it('a difference found before the connection was lost is stored', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, open, world.context);
    world.tablet.touch('system', 'screen_brightness', '13');
    const onProgress = (text: string) => {
      if (text === 'Checking: Touch sounds') world.tablet.setFault('tablet-offline', true);
    };
    const plan = planKiosk({ ...world.toolkit }, access, { ...world.context, onProgress });
    await expect(plan).rejects.toMatchObject({ code: expect.stringMatching(/TABLET_(LOST|OFFLINE)/) });
    expect(await readTabletRecord(world.toolkit.site.stateDir)).toMatchObject({
      reading: { by: 'plan', verdict: 'differs' },
    });
  });

  it('a corrupt record is an error', async () => {
    await using world = await openTabletWorld();
    await setUpKiosk(world.toolkit, closing, world.context);
    await writeFile(join(world.toolkit.site.stateDir, 'tablet.json'), '{');
    await expect(statusOf(world)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});
