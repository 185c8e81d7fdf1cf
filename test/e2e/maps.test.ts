import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGw } from './gw.ts';
import { type FaultName, type Robot, startRobot } from './robot.ts';

interface MapListAnswer {
  readonly data: {
    readonly maps: readonly { readonly uid: string | null; readonly name: string; readonly isCurrent: boolean }[];
  };
}

describe('the maps of a robot, as a technician types it', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-maps-'));
  let robot: Robot;

  beforeAll(async () => {
    robot = await startRobot();
  });
  afterAll(async () => {
    await robot?.[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  const gw = (...args: string[]) => runGw([...args, '--site', robot.site], { cwd: dir });
  const maps = async () => {
    const { stdout, code } = await gw('map', 'list', '--json');
    expect(code).toBe(0);
    const { data } = JSON.parse(stdout) as MapListAnswer;
    return data.maps.map(({ uid, name, isCurrent }) => ({ uid, name, isCurrent }));
  };
  const fault = (name: FaultName, to: 'on' | 'off') => robot.fault(name, to);

  // The first two use separate robots, so they run concurrently.
  it.concurrent('are backed up, lost by a restart, reported, restored and compared', async () => {
    const before = await maps();
    expect(before.length).toBeGreaterThan(2);

    const backup = await gw('map', 'backup', '--out', 'maps.tar.gz');
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/^3 maps of SIM-0001 in maps\.tar\.gz\n/) });
    const verify = await runGw(['map', 'verify', 'maps.tar.gz'], { cwd: dir });
    expect(verify).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: \d of \d checks/) });

    await fault('map-loss', 'on');
    const restart = await gw('chassis', 'restart', '--backup', 'maps.tar.gz');
    expect(restart.code).toBe(1);
    expect(restart.stdout.split('\n')[0]).toBe(
      "The restart lost 3 of 3 maps of chassis SIM-0001: 1 'Erdgeschoss', 2 '1. Stock', 3 'Musterblatt'.",
    );
    const [command = ''] = /gw map restore .*/.exec(restart.stdout) ?? [];
    expect(command).toContain('--write-although-never-measured');
    expect(await maps()).toEqual([]);
    await fault('map-loss', 'off');

    const plan = await gw('map', 'restore', 'maps.tar.gz');
    expect(plan.stdout).toContain('--write-although-never-measured');
    expect(await maps()).toEqual([]);

    // The command printed by the restart.
    const restore = await runGw(command.split(' ').slice(1), { cwd: dir });
    expect(restore).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Restored: 3 maps of SIM-0001/) });
    expect(await maps()).toEqual(before);

    const again = await gw('map', 'restore', 'maps.tar.gz');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Nothing to restore/) });
    const { stdout } = await gw('map', 'list', '--json');
    const restored = (JSON.parse(stdout) as { data: { maps: { id: number; uid: string }[] } }).data.maps;
    const differences = before.map(({ uid }, n) => {
      const id = restored.find((map) => map.uid === uid)?.id;
      return gw('overlays', 'diff', `live:${id}`, `maps.tar.gz#${n + 1}`);
    });
    for (const diff of await Promise.all(differences)) expect(diff.code, diff.stdout + diff.stderr).toBe(0);
  });

  it.concurrent('are stored but not running until the map is selected again, as every command reports', async () => {
    await using own = await startRobot();
    const at = (...args: string[]) => runGw([...args, '--site', own.site], { cwd: dir });
    const [first = ''] = (await at('overlays', 'inspect', '--current')).stdout.split('\n');
    expect(first).toMatch(/; stored and running map 1 have the same overlays\.$/);
    expect((await at('map', 'backup', '--out', 'own.tar.gz')).code).toBe(0);
    const { data } = JSON.parse((await at('overlays', 'inspect', '--json')).stdout) as {
      data: { running: { verdict: string } };
    };
    expect(data.running.verdict).toBe('equal');

    await own.fault('running-map-keeps-overlays', 'on');
    const { host, port } = JSON.parse((await at('map', 'list', '--json')).stdout).data.address;
    await fetch(`http://${host}:${port}/maps/1`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ overlays: '{"type":"FeatureCollection","features":[]}' }),
    });
    const differs = await at('overlays', 'inspect', '--current');
    expect(differs.code).toBe(1);
    expect(differs.stdout.split('\n')[0]).toMatch(/; the running map 1 has other overlays than the stored one\.$/);

    const dry = await at('map', 'select', '1');
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Dry run, nothing sent: /) });
    const selected = await at('map', 'select', '1', '--select-although-the-position-is-lost', '--out', 'sel.tar.gz');
    expect(selected.code, selected.stdout + selected.stderr).toBe(0);
    expect(selected.stdout.split('\n')[0]).toBe(
      "Selected: map 1 'Erdgeschoss' of SIM-0001 is the current one; stored and running map 1 have the same overlays; the position of the robot must be set.",
    );
    const restored = await at('map', 'restore', 'own.tar.gz', '--write-although-never-measured', '--out', 'b.tar.gz');
    expect(restored.code).toBe(1);
    expect(restored.stdout).toMatch(/^Stored, but the robot drives by other overlays: 1 map of SIM-0001 written/);
  });

  it('are not changed by an unreadable backup or one of another robot', async () => {
    await using other = await startRobot();
    expect((await gw('map', 'backup', '--out', 'mine.tar.gz')).code).toBe(0);
    const changed = await runGw(['map', 'restore', 'nowhere.tar.gz', '--site', other.site], { cwd: dir });
    expect(changed.code).toBe(2);
    expect(changed.stderr).toContain('nowhere.tar.gz');
    await fault('wrong-serial', 'on');
    const foreign = await gw('chassis', 'restart', '--backup', 'mine.tar.gz');
    expect(foreign.code).toBe(4);
    await fault('wrong-serial', 'off');
    expect(await maps()).toHaveLength(3);
  });

  it('leave no temporary file when the folder cannot be written', async () => {
    const names = readdirSync(dir);
    const refused = await gw('map', 'backup', '--out', '/dev/null/maps.tar.gz');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('do next');
    expect(readdirSync(dir)).toEqual(names);
  });
});
