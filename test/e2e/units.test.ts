import { describe, expect, it } from 'vitest';
import { runGw } from './gw.ts';
import { chassisState, startRobot, startServe, until } from './robot.ts';

describe('a chassis that reports radians against the measured fact', () => {
  it('fails the probe loudly and closes the gate until gw is started anew', async () => {
    await using robot = await startRobot();
    {
      await using _serve = await startServe(robot.site);
      await until(
        () => chassisState(robot.operatorPort),
        ({ poseUnit }) => poseUnit.verdict === 'degrees',
        5_000,
      );

      expect((await runGw(['sim', 'fault', 'radians', 'on', '--dir', robot.dir])).code).toBe(0);
      const probe = await runGw(['chassis', 'probe', '--site', robot.site]);
      expect(probe.code).toBe(1);
      expect(probe.stdout).toContain('FAIL');
      expect(probe.stdout.split('\n')[0]).toBe('THE POSE IS IN RADIANS. Do not drive this robot with gw.');

      await until(
        () => chassisState(robot.operatorPort),
        ({ unitContradicted }) => unitContradicted,
        15_000,
      );
      expect((await runGw(['sim', 'fault', 'radians', 'off', '--dir', robot.dir])).code).toBe(0);
      const refused = await startTour(robot.operatorPort);
      expect(refused.status).toBe(409);
      expect(refused.error?.code).toBe('MOTION_REFUSED');
      expect(refused.error?.message).toContain('angles.tracked-pose-ori');
    }
    await using _anew = await startServe(robot.site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ poseUnit }) => poseUnit.verdict === 'degrees',
      10_000,
    );
    expect((await startTour(robot.operatorPort)).status).toBe(202);
  });

  it('is proven to report degrees when it does', async () => {
    await using robot = await startRobot();
    const probe = await runGw(['chassis', 'probe', '--site', robot.site, '--json']);
    expect(probe.code).toBe(0);
    expect(JSON.parse(probe.stdout)).toMatchObject({ ok: true, data: { poseUnit: { verdict: 'degrees' } } });
  });
});

async function startTour(port: number) {
  const reply = await fetch(`http://127.0.0.1:${port}/api/touren/lauf`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tour: 'demo' }),
  });
  const body = (await reply.json()) as { error?: { code: string; message: string } };
  return { status: reply.status, error: body.error };
}
