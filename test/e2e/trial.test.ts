import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runGw, startGw } from './gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from './robot.ts';

const onSite = ['--robot-will-move', '--space-free', '--emergency-stop-in-hand', '--who', 'J. Doe'];
const verifyWords = (robot: Robot, kind: string, ...more: readonly string[]) => [
  ...['evidence', 'verify', kind, ...onSite, ...more, '--site', robot.site],
];
const records = (robot: Robot) =>
  readFileSync(join(robot.dir, 'evidence.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const reports = (robot: Robot): { outcome: string; reason: string }[] => {
  const folder = join(robot.dir, 'evidence.trials');
  return readdirSync(folder)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .filter((text) => text !== '') // A file name is reserved before its content is written.
    .map((text) => JSON.parse(text));
};

/** Signals and kills; what a trial verifies is in test/story/trial.test.ts. */
describe('a trial whose command ends', () => {
  let robot: Robot;
  let given: unknown[];
  let serve: Awaited<ReturnType<typeof startServe>>;
  beforeAll(async () => {
    robot = await startRobot({ with: ['password'] });
    given = records(robot);
    serve = await startServe(robot.site);
    const isUp = async () => (await chassisState(robot.operatorPort)).identity !== null;
    await until(isUp, (up) => up);
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  const setSpeed = async (metresPerSecond: number) => {
    const reply = await fetch(`http://127.0.0.1:${robot.chassisPort}/system/settings/user`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'control.max_forward_velocity': metresPerSecond }),
    });
    expect(reply.status).toBe(201);
  };

  test('a trial without the confirmations of a person is refused before any question', async () => {
    const { code, stderr } = await runGw([
      'evidence',
      'verify',
      'stop',
      '--who',
      'x',
      '--robot-will-move',
      '--site',
      robot.site,
    ]);
    expect(code).toBe(4);
    expect(stderr).toContain('--space-free --emergency-stop-in-hand');
    expect(records(robot)).toEqual(given);
  });

  test('interrupted by Ctrl-C: nothing was verified', async () => {
    await using running = startGw(verifyWords(robot, 'stop'));
    await until(
      async () => running.stderr(),
      (output) => output.includes('Verifies that the robot stands still'),
    );
    expect((await running.end('SIGINT')).code).toBe(130);
    expect(running.stdout()).toMatch(/^INTERRUPTED: Trial 'stop' on SIM-0001/);
    expect(reports(robot).at(-1)).toMatchObject({ outcome: 'cancelled' });
    expect(records(robot)).toEqual(given);
  });

  test('killed: the gateway cancels the move, and nothing is recorded', async () => {
    const before = records(robot).length;
    const began = reports(robot).length;
    // So that it still drives when the keepalive times out at the gateway.
    await setSpeed(0.1);
    await using running = startGw(verifyWords(robot, 'move', '--distance', '1'));
    await until(
      async () => running.stderr(),
      (output) => output.includes('Drives'),
    );
    await running.end('SIGKILL');
    await until(
      async () => reports(robot).length,
      (count) => count > began,
    );
    await setSpeed(1);
    expect(reports(robot)).toContainEqual(
      expect.objectContaining({ outcome: 'cancelled', reason: expect.stringMatching(/no keepalive/) }),
    );
    expect(records(robot)).toHaveLength(before);
  });
});
