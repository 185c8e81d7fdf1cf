import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, runGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

const OTHER = 'OTHER-0002';

/** The site file of another robot, whose address leads to this gateway: a swapped cable, a copied file. */
describe('a site file of another robot', () => {
  let robot: Robot;
  let serve: Running;
  let own: string;
  let other: string;
  beforeAll(async () => {
    robot = await startRobot();
    serve = await startServe(robot.site);
    const text = readFileSync(robot.site, 'utf8');
    own = /serial: *"?([\w:-]+)/.exec(text)?.[1] ?? '';
    other = join(robot.dir, 'other.yaml');
    writeFileSync(other, text.replaceAll(own, OTHER));
    const status = async () => (await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren`)).json();
    await until(status, (answer) => (answer as { gate: { open: boolean } }).gate.open);
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  const moves = async () => (await fetch(`http://127.0.0.1:${robot.chassisPort}/chassis/moves`)).json();
  const onSite = ['--robot-will-move', '--space-free', '--emergency-stop-in-hand', '--who', 'J. Doe'];

  it('moves nothing, clears nothing and reads nothing as its own', async () => {
    const [before, pose] = [await moves(), robot.sim.state()];
    for (const words of [
      ['motion', 'go', 'A', '--robot-will-move'],
      ['motion', 'dock', '--robot-will-move'],
      ['tour', 'run', 'demo', '--robot-will-move'],
      ['motion', 'pose', '--x', '1', '--y', '1', '--yaw', '0', '--robot-stands-there'],
      ['evidence', 'verify', 'stop', ...onSite],
      ['motion', 'clear'],
      ['operator', 'check'],
      ['cloud', 'status'],
      ['tunnel', 'status'],
    ]) {
      const { code, stdout, stderr } = await runGw([...words, '--site', other]);
      const first = stderr.split('\n').find((line) => line.startsWith('gw: ')) ?? stdout.split('\n')[0];
      expect([words.join(' '), code, first]).toEqual([
        words.join(' '),
        4,
        expect.stringMatching(new RegExp(`belongs to robot ${own}.*${OTHER}`)),
      ]);
    }
    expect(await moves()).toEqual(before);
    const { xM, yM, yawRad } = robot.sim.state();
    expect([xM, yM, yawRad]).toEqual([pose.xM, pose.yM, pose.yawRad]);
  });

  it('does not prevent a stop, which says first that its own robot is not stopped', async () => {
    const json = await runGw(['motion', 'stop', '--site', other, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      data: { delivered: true, robot: own, meantRobot: OTHER },
      error: { code: 'GATEWAY_OTHER_ROBOT', message: expect.stringMatching(/^NOT STOPPED/) },
    });
    const text = await runGw(['motion', 'stop', '--site', other]);
    expect(text.code).toBe(1);
    expect(text.stdout.split('\n')[0]).toMatch(
      new RegExp(`^NOT STOPPED: ROBOT ${OTHER} .*another one, ${own}\\. Press the emergency stop of ${OTHER} now`),
    );
    const right = await runGw(['motion', 'stop', '--site', robot.site]);
    expect([right.code, right.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^STOPPED[\\s\\S]*robot +${own}`)),
    ]);
  });
});
