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
