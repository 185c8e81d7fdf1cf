import { describe, expect, it } from 'vitest';
import { runGw } from './gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from './robot.ts';

/** The daemon receives a turn by hand until degrees are proven. */
async function proveDegrees(robot: Robot) {
  await robot.fault('turned-by-hand', 'on');
  await until(
    () => chassisState(robot.operatorPort),
    ({ poseUnit }) => poseUnit.verdict === 'degrees',
  );
  await robot.fault('turned-by-hand', 'off');
  await until(
    () => chassisState(robot.operatorPort),
    ({ standing }) => standing.verdict === 'stands',
  );
}

describe('a chassis that reports radians against the measured fact', () => {
  it('fails the probe with an alert and closes the gate until gw is restarted', async () => {
    await using robot = await startRobot();
    {
      await using _serve = await startServe(robot.site);
      await proveDegrees(robot);

      await robot.fault('radians', 'on');
      const [probe] = await Promise.all([
        runGw(['chassis', 'probe', '--site', robot.site]),
        until(
          () => chassisState(robot.operatorPort),
          ({ unitContradicted }) => unitContradicted,
        ),
      ]);
      expect(probe.code).toBe(1);
      expect(probe.stdout).toContain('FAIL');
      expect(probe.stdout.split('\n')[0]).toBe('THE POSE IS IN RADIANS. Do not drive this robot with gw.');
      await robot.fault('radians', 'off');
      const refused = await startTour(robot.operatorPort);
      expect(refused.status).toBe(409);
      expect(refused.error?.code).toBe('MOTION_REFUSED');
      expect(refused.error?.message).toContain('angles.tracked-pose-ori');
    }
    await using _anew = await startServe(robot.site);
    await proveDegrees(robot);
    expect((await startTour(robot.operatorPort)).status).toBe(202);
  });

  it.each(['radians-0-2pi', 'radians-unwrapped'] as const)(
    'is never green while the robot turns: %s',
    async (fault) => {
      await using robot = await startRobot();
      await using _serve = await startServe(robot.site);
      await robot.fault(fault, 'on');
      const [probe, answer] = await Promise.all([
        runGw(['chassis', 'probe', '--site', robot.site]),
        until(
          () => chassisState(robot.operatorPort),
          ({ unitContradicted, poseUnit }) => unitContradicted || poseUnit.doubt !== null,
        ),
      ]);
      expect(probe.code).toBe(1);
      expect(probe.stdout.split('\n')[0]).toMatch(/^THE POSE (IS|MAY BE) IN RADIANS\. Do not drive this robot with gw/);
      expect(probe.stdout).not.toContain('Nothing is wrong');
      expect(answer.poseUnit.verdict).not.toBe('degrees');
      const refused = await startTour(robot.operatorPort);
      expect(refused.status).toBe(409);
      expect(refused.error?.message).toMatch(/angles\.tracked-pose-ori \(BELEGT: degrees\) is (in doubt|contradicted)/);
    },
  );

  it('in doubt opens the gate again when degrees are proven', async () => {
    await using robot = await startRobot();
    await using _serve = await startServe(robot.site);
    await robot.fault('radians-unwrapped', 'on');
    await until(
      () => chassisState(robot.operatorPort),
      ({ poseUnit }) => poseUnit.doubt !== null,
    );
    await robot.fault('radians-unwrapped', 'off');
    expect((await startTour(robot.operatorPort)).status).toBe(409);
    await proveDegrees(robot);
    expect((await startTour(robot.operatorPort)).status).toBe(202);
  });
});

// One robot each, and a gateway in one test only.
describe.concurrent('a chassis that reports degrees', () => {
  it.each([
    ['-180 to 180', []],
    ['0 to 360', ['degrees-0-360']],
  ] as const)('is proven to do so when a person turns it: %s', async (_name, faults) => {
    await using robot = await startRobot();
    for (const fault of ['turned-by-hand', ...faults] as const) await robot.fault(fault, 'on');
    // The facts that orders rely on are verified on a simulator only, which stays open.
    const probe = await runGw(['chassis', 'probe', '--site', robot.site, '--json', '--accept-undecided']);
    expect(probe.code).toBe(0);
    expect(JSON.parse(probe.stdout)).toMatchObject({
      ok: true,
      warnings: [expect.stringContaining('accepted by --accept-undecided')],
      data: { verdict: 'not-checked', poseUnit: { verdict: 'degrees', doubt: null } },
    });
  });

  it('is undecided while it is at rest, which is neither green nor exit code 0', async () => {
    await using robot = await startRobot();
    const probe = await runGw(['chassis', 'probe', '--site', robot.site, '--for', '3']);
    expect(probe.code).toBe(1);
    expect(probe.stdout.split('\n')[0]).toMatch(/^No fault found in \d+ of \d+ checks\. .*not checked: .*pose unit/);
    expect(probe.stdout).toMatch(/^-- +Pose is in degrees: the heading did not change/m);
    const json = await runGw(['chassis', 'probe', '--site', robot.site, '--for', '3', '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      error: null,
      data: { verdict: 'not-checked', poseUnit: { verdict: 'not-decided' } },
    });
  });

  it('raises no doubt on a tour, and is proven on it', async () => {
    await using robot = await startRobot();
    await using _serve = await startServe(robot.site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
    );
    expect((await startTour(robot.operatorPort)).status).toBe(202);
    const doubts: unknown[] = [];
    await until(
      async () => {
        const state = await chassisState(robot.operatorPort);
        if (state.poseUnit.doubt !== null) doubts.push(state.poseUnit.doubt);
        return state;
      },
      ({ poseUnit }) => poseUnit.verdict === 'degrees',
    );
    expect(doubts).toEqual([]);
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
