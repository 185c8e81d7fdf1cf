import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGw, startGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

describe('gw status', () => {
  let robot: Robot;
  beforeAll(async () => {
    robot = await startRobot();
  });
  afterAll(async () => {
    await robot[Symbol.asyncDispose]();
  });

  const status = async (...words: string[]) => runGw(['status', '--site', robot.site, ...words]);
  const untilLine = async (line: RegExp) => await until(status, ({ stdout }) => line.test(stdout.split('\n')[0] ?? ''));

  it('is ready, stopped, and not connected, as the robot is, and follows it', async () => {
    await using _serve = await startServe(robot.site);
    expect((await untilLine(/: connected, may drive, not stopped$/)).code).toBe(0);
    await using watch = startGw(['status', '--site', robot.site, '--watch', '--json']);
    await watch.untilOutput('"code":"ready"');

    await runGw(['motion', 'stop', '--site', robot.site]);
    const stopped = await untilLine(/connected, must not drive, STOP is set$/);
    expect(stopped.code).toBe(1);
    expect(stopped.stdout).toContain('gw motion clear');
    expect(stopped.stdout).toMatch(/^stop +set \d+ s ago by command/m);
    await watch.untilOutput('"latched":true');

    await robot.fault('cut', 'on');
    const gone = await untilLine(/not connected, must not drive, STOP is set$/);
    expect(gone.code).toBe(1);
    expect(gone.stdout).toContain('REMEMBERED');
    await robot.fault('cut', 'off');
    expect((await watch.end('SIGINT')).code).toBe(1);
    for (const line of watch.stdout().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('verdict');
    await untilLine(/connected, must not drive/);
    await runGw(['motion', 'clear', '--site', robot.site]);
  });

  it('asks the chassis alone where no gateway answers, is not green and ends with 3', async () => {
    rmSync(join(robot.dir, 'state', 'local'), { recursive: true, force: true });
    const { stdout, code } = await status();
    expect(code).toBe(3);
    expect(stdout.split('\n')[0]).toContain('chassis connected, driving not checked, stop not checked');
    const json = JSON.parse((await status('--json')).stdout);
    expect(json).toMatchObject({
      ok: false,
      data: { source: 'chassis', stop: null },
      error: { code: 'OPERATOR_NOT_REACHABLE' },
    });
  });
});
