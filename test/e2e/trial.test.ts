import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGw } from './gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from './robot.ts';

const onSite = ['--robot-will-move', '--space-free', '--emergency-stop-in-hand', '--who', 'J. Doe'];
const records = (robot: Robot) =>
  readFileSync(join(robot.dir, 'evidence.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const reports = (robot: Robot): { outcome: string; reason: string }[] =>
  globSync(join(robot.dir, 'evidence.trials', '*.json'))
    .map((path) => readFileSync(path, 'utf8'))
    .filter((text) => text !== '') // A file name is reserved before its content is written.
    .map((text) => JSON.parse(text));

/** What a trial verifies is in test/story/trial.test.ts. */
describe('a trial whose command is killed', () => {
  let robot: Robot;
  let serve: Awaited<ReturnType<typeof startServe>>;
  beforeAll(async () => {
    robot = await startRobot({ with: ['password'] });
    serve = await startServe(robot.site);
    const isUp = async () => (await chassisState(robot.operatorPort)).identity !== null;
    await until(isUp, (up) => up);
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  test('is cancelled by the gateway, and nothing is recorded', async () => {
    const before = records(robot).length;
    // So that it still drives when the keepalive times out at the gateway.
    const reply = await fetch(`http://127.0.0.1:${robot.chassisPort}/system/settings/user`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'control.max_forward_velocity': 0.1 }),
    });
    expect(reply.status).toBe(201);
    await using running = startGw(['evidence', 'verify', 'move', '--distance', '1', ...onSite, '--site', robot.site]);
    await until(
      async () => running.stderr(),
      (output) => output.includes('Drives'),
    );
    await running.end('SIGKILL');
    const written = await until(
      async () => reports(robot),
      ({ length }) => length > 0,
    );
    expect(written).toMatchObject([{ outcome: 'cancelled', reason: expect.stringMatching(/no keepalive/) }]);
    expect(records(robot)).toHaveLength(before);
  });
});
