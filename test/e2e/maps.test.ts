import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGw } from './gw.ts';
import { type Robot, startRobot } from './robot.ts';

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

  it('are backed up, lost by a restart, reported, restored and compared', async () => {
    const before = await maps();
    expect(before.length).toBeGreaterThan(2);

    const backup = await gw('map', 'backup', '--out', 'maps.tar.gz');
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/^3 maps of SIM-0001 in maps\.tar\.gz\n/) });
    const verify = await runGw(['map', 'verify', 'maps.tar.gz'], { cwd: dir });
    expect(verify).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: \d of \d checks/) });

    await robot.fault('map-loss', 'on');
    const restart = await gw('chassis', 'restart', '--backup', 'maps.tar.gz');
    expect(restart.code).toBe(1);
    expect(restart.stdout.split('\n')[0]).toBe(
      "The restart lost 3 of 3 maps of chassis SIM-0001: 1 'Erdgeschoss', 2 '1. Stock', 3 'Musterblatt'.",
    );
    const [command = ''] = /gw map restore .*/.exec(restart.stdout) ?? [];
    expect(command).toContain('--write-although-never-measured');
    expect(await maps()).toEqual([]);
    await robot.fault('map-loss', 'off');

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
});
