import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { runGw, startGw } from './gw.ts';
import { chassisState, page, type SimulatedRobot, startRobot, startRobotProcess, startServe, until } from './robot.ts';

/** All three outputs show 'not connected' with the tried address; test/story/link.test.ts says within which time. */
async function allShowNotConnected(robot: SimulatedRobot, port: number): Promise<void> {
  const where = `127.0.0.1:${port}`;
  const [state, service, address] = await Promise.all([
    until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'not-connected',
    ),
    until(
      () => page(robot.operatorPort, '/service'),
      (html) => html.includes('not connected') && html.includes(where),
    ),
    runGw(['chassis', 'address', '--site', robot.site]),
  ]);
  expect(state.summary).toContain('not connected');
  expect(state.link.tried).toMatchObject({ address: '127.0.0.1', port });
  expect(service).toContain(where);
  expect(address.code).toBe(3);
  expect(address.stdout.split('\n')[0]).toContain('not connected');
  expect(address.stdout).toContain(where);
}

async function recovers(robot: SimulatedRobot): Promise<void> {
  const answer = await until(
    () => chassisState(robot.operatorPort),
    ({ link }) => link.kind === 'connected',
  );
  expect(answer.summary).toBe('connected');
  expect(await page(robot.operatorPort, '/service')).not.toContain('not connected');
  expect((await runGw(['chassis', 'address', '--site', robot.site])).code).toBe(0);
}

describe('a chassis that is lost', () => {
  it('is shown when its process is stopped, and recovers by itself', async () => {
    await using robot = await startRobotProcess();
    await using _serve = await startServe(robot.site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
    );
    robot.sim.child.kill('SIGSTOP');
    try {
      await allShowNotConnected(robot, robot.chassisPort);
    } finally {
      robot.sim.child.kill('SIGCONT');
    }
    await recovers(robot);
  });

  it('is shown when it is gone, and recovers by itself when it is there again', async () => {
    await using robot = await startRobotProcess();
    await using _serve = await startServe(robot.site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
    );
    await robot.sim.end('SIGTERM');
    await allShowNotConnected(robot, robot.chassisPort);
    const reply = await fetch(`http://127.0.0.1:${robot.operatorPort}/api/chassis/device/info`);
    expect(reply.status).toBe(503);
    const { error } = (await reply.json()) as { error: { message: string; tried: unknown } };
    expect(error.message).toMatch(/^not connected/);
    expect(error.tried).toMatchObject({ address: '127.0.0.1', port: robot.chassisPort });

    const ports = ['--chassis-port', `${robot.chassisPort}`, '--operator-port', `${robot.operatorPort}`];
    await using again = startGw(['sim', '--dir', robot.dir, ...ports, '--json']);
    await again.untilOutput('"event":"ready"');
    await recovers(robot);
  });

  it('is shown when the site file has a wrong address', async () => {
    await using robot = await startRobot();
    const wrong = await freePort();
    const text = readFileSync(robot.site, 'utf8');
    writeFileSync(robot.site, text.replace(`port: ${robot.chassisPort}`, `port: ${wrong}`));
    await using _serve = await startServe(robot.site);
    await allShowNotConnected(robot, wrong);
  });
});

describe('another robot at the right address', () => {
  it('is rejected with its serial number', async () => {
    await using robot = await startRobot();
    await using _serve = await startServe(robot.site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
    );
    await robot.fault('wrong-serial', 'on');
    const address = await runGw(['chassis', 'address', '--site', robot.site]);
    expect(address.code).toBe(4);
    const site = readFileSync(robot.site, 'utf8');
    const serial = /serial: (\S+)/.exec(site)?.[1] ?? 'no serial';
    expect(address.stdout).toContain(serial);

    writeFileSync(robot.site, site.replace(`serial: ${serial}`, 'serial: OTHER-ROBOT'));
    await robot.fault('wrong-serial', 'off');
    const named = await runGw(['chassis', 'address', '--site', robot.site, '--json']);
    expect(named.code).toBe(4);
    expect(named.stdout).toContain(serial);
    expect(named.stdout).toContain('OTHER-ROBOT');
  });
});
