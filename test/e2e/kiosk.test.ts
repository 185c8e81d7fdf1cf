import { describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { openTabletWorld } from '../kiosk/tablet-world.ts';
import { hasProgram } from '../peers/peer.ts';
import { runGw } from './gw.ts';

const json = (stdout: string) => JSON.parse(stdout);

describe.skipIf(!hasProgram('adb'))('gw kiosk', () => {
  it('plans, sets up, locks and reports the status, with the same exit code in text and JSON', async () => {
    await using world = await openTabletWorld();
    const gw = (...words: string[]) => runGw(['kiosk', ...words, '--site', world.sitePath]);

    const plan = await gw('plan');
    expect(plan.code, plan.stderr).toBe(1);
    expect(plan.stdout).toMatch(/^\d+ of \d+ steps of profile 'Lobby tablet' differ on the tablet\.\n/);
    expect(plan.stderr).toContain('Checking: Device owner');
    // A lock now would leave only USB.
    expect(plan.stdout.trimEnd().split('\n').at(-1)).toMatch(/^Its settings differ .* run `gw kiosk setup` first/);
    const unconfigured = await gw('status');
    expect(unconfigured.stdout).toContain('     Run `gw kiosk setup`: it closes the port');
    expect(unconfigured.stdout).not.toContain('Run `gw kiosk lock`');

    const left = await gw('setup', '--leave-open', '--json');
    expect(left.code, left.stderr).toBe(0);
    expect(json(left.stdout)).toMatchObject({
      schema: 'gw/kiosk-setup/1',
      ok: true,
      data: { verdict: 'done', lock: null, redLine: { id: 'tablet-open' } },
      warnings: [expect.stringContaining('gw kiosk lock')],
    });
    expect(left.stderr).toBe('');

    const open = await gw('status');
    expect(open.code).toBe(1);
    expect(open.stdout).toMatch(/^The tablet at 127\.0\.0\.1:\d+ is open/);

    const locked = await gw('lock', '--after-restart', '--for', '2');
    expect(locked.code, locked.stderr).toBe(0);
    expect(locked.stdout).toMatch(/switched off, verified closed/);
    expect(locked.stdout).toContain('After a restart of the tablet: stayed closed');

    // On 127.0.0.1 no MAC address shows which device refuses.
    const repeated = await gw('lock');
    expect([repeated.code, repeated.stdout.split('\n')[0]]).toEqual([1, expect.stringContaining('is unknown.')]);
    expect(repeated.stdout).toContain('--   ADB port');

    const closed = await gw('status', '--json');
    expect(closed.code).toBe(1);
    expect((await gw('status', '--accept-undecided')).code).toBe(0);
    expect(json(closed.stdout)).toMatchObject({
      schema: 'gw/kiosk-status/1',
      ok: false,
      data: {
        verdict: 'not-checked',
        port: 'closed',
        redLine: null,
        setUp: { basis: 'remembered', serial: 'TABSIM0001', doubts: [{ id: 'restarted-by-gw' }] },
      },
    });

    const again = await gw('plan');
    expect(again.code).toBe(3);
    expect(again.stderr).toMatch(/switched off[\s\S]*tried +127\.0\.0\.1:\d+ \(ADB/);
  });

  it('keeps a difference over a lock, and shows its age and device', async () => {
    await using world = await openTabletWorld();
    const gw = (...words: string[]) => runGw(['kiosk', ...words, '--site', world.sitePath]);
    expect((await gw('setup', '--leave-open')).code).toBe(0);
    world.tablet.touch('system', 'screen_brightness', '13');
    const plan = await gw('plan');
    expect(plan.code).toBe(1);
    expect(plan.stdout).toMatch(/^1 of \d+ steps/);

    const locked = await gw('lock');
    expect(locked.code, locked.stderr).toBe(0);
    expect(locked.stdout).toMatch(/FAIL Settings, read just before the lock: 1 of \d+ steps differ/);
    expect(locked.stderr).toContain('gw kiosk status');

    const status = await gw('status');
    expect(status.code).toBe(1);
    expect(status.stdout).toMatch(/^The ADB port of the tablet at 127\.0\.0\.1:\d+ is closed, but a check failed\./);
    expect(status.stdout).toMatch(
      /FAIL Settings of the tablet match its profile: remembered as FAIL, read \d+ s ago \(\d{4}-\S+Z, serial TABSIM0001, boot [0-9a-f]{8}\): \d+ of \d+ steps/,
    );
    expect(status.stdout).toContain('FAIL Brightness: screen_brightness_mode 0, screen_brightness 13; expected 200');
    expect(status.stdout).not.toContain('ok   Settings of the tablet');
  });

  it('exits with 1 and the remedy when a step failed, and leaves the tablet open', async () => {
    await using world = await openTabletWorld();
    world.tablet.setFault('tablet-account', true);
    const setUp = await runGw(['kiosk', 'setup', '--site', world.sitePath]);
    expect(setUp.code).toBe(1);
    expect(setUp.stdout).toMatch(/^The tablet is not configured/);
    expect(setUp.stdout).toContain('Remove all accounts');
    expect(setUp.stderr).toContain('gw kiosk lock');
  });

  it('explains a missing adb, and a site without a tablet', async () => {
    await using world = await openTabletWorld();
    const none = await runGw(['kiosk', 'plan', '--site', world.sitePath, '--adb', `${world.dir}/none`]);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('apt install adb');
    const { writeFile } = await import('node:fs/promises');
    const path = `${world.dir}/bare.yaml`;
    await writeFile(path, `name: Bare\nchassis: { host: 127.0.0.1, serial: SN1, port: ${await freePort()} }\n`);
    const bare = await runGw(['kiosk', 'status', '--site', path]);
    expect(bare.code).toBe(2);
    expect(bare.stderr).toContain('names no tablet');
  });
});
