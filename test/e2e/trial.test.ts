import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { ChecklistRun } from '../../src/lib/toolkit/checklist/checklist.result.ts';
import type { EvidenceVerified } from '../../src/lib/toolkit/evidence/evidence.result.ts';
import { runGw, startGw } from './gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from './robot.ts';

const onSite = ['--robot-will-move', '--space-free', '--emergency-stop-in-hand', '--who', 'J. Doe'];
const verifyWords = (robot: Robot, kind: string, ...more: readonly string[]) => [
  ...['evidence', 'verify', kind, ...onSite, ...more, '--site', robot.site],
];
const verify = async (robot: Robot, kind: string, ...more: readonly string[]) => {
  const { code, stdout } = await runGw([...verifyWords(robot, kind, ...more), '--json']);
  return {
    code,
    ...(JSON.parse(stdout) as { data: EvidenceVerified; error: { code: string; message: string } | null }),
  };
};
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

/** Yes to every question of the list. */
function answersFor(robot: Robot): string {
  const file = fileURLToPath(new URL('../../checklists/site.yaml', import.meta.url));
  const list: {
    sections: { steps: { id: string; confirm?: string }[]; preconditions?: { id: string; confirm?: string }[] }[];
  } = parse(readFileSync(file, 'utf8'));
  const steps = list.sections.flatMap(({ steps: own, preconditions = [] }) => [...preconditions, ...own]);
  const asked = steps.filter(({ confirm }) => confirm !== undefined).map(({ id }) => [id, { answer: 'yes' }]);
  const path = join(robot.dir, 'answers.yaml');
  writeFileSync(path, stringify(Object.fromEntries(asked)));
  return path;
}

describe('a robot without evidence', { timeout: 300_000 }, () => {
  let robot: Robot;
  let serve: Awaited<ReturnType<typeof startServe>>;
  beforeAll(async () => {
    robot = await startRobot({ evidence: false, with: ['password'] });
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
    expect(records(robot)).toEqual([]);
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
    expect(records(robot)).toEqual([]);
  });

  test.each(['drifting-pose', 'emergency-stop', 'localisation-lost'] as const)(
    '%s: refused, and the reason is recorded',
    async (name) => {
      await robot.fault(name, 'on');
      const { code, data } = await verify(robot, 'stop');
      await robot.fault(name, 'off');
      expect([code, data.verdict, data.trial.recorded]).toEqual([4, 'refused', []]);
      expect(reports(robot).at(-1)).toMatchObject({ outcome: 'refused', reason: data.trial.reason });
      expect(data.findings).toMatchObject([{ id: 'vendor.move.cancel', verdict: 'not-checked' }]);
    },
  );

  test("the checklist 'site' verifies by script every fact that an order relies on", async () => {
    const answers = answersFor(robot);
    const run = async (...more: readonly string[]) => {
      const words = [
        'checklist',
        'run',
        'site',
        '--site',
        robot.site,
        '--answers',
        answers,
        '--initials',
        'KM',
        '--robot-will-move',
      ];
      const ended = await runGw([...words, ...more, '--json']);
      return { code: ended.code, ...(JSON.parse(ended.stdout) as { data: ChecklistRun }) };
    };
    await robot.fault('turned-by-hand', 'on');
    const unit = await run('--only', 'pose-unit', '--out', join(robot.dir, 'unit.json'));
    expect(unit.data.steps.find(({ id }) => id === 'pose-unit')).toMatchObject({ verdict: 'ok' });
    await robot.fault('turned-by-hand', 'off');
    // The full list is run in test/peers/commissioning.test.ts.
    const ids = ['verify-stop', 'verify-move', 'verify-dock', 'verify-pose', 'evidence', 'tour'];
    const only = ids.flatMap((id) => ['--only', id]);
    const { data } = await run('--resume', ...only, '--out', join(robot.dir, 'site.json'));
    const verdict = Object.fromEntries(
      data.steps.map((step) => [step.id, `${step.verdict} ${step.verdict === 'ok' ? '' : step.why}`.trim()]),
    );
    for (const id of ids) expect([id, verdict[id]]).toEqual([id, 'ok']);
    const facts = new Set(records(robot).map(({ fact, value }) => `${fact} ${value}`));
    expect([...facts].toSorted()).toEqual([
      'angles.pose-ori radians',
      'angles.target-ori radians',
      'angles.tracked-pose-ori degrees',
      'vendor.move.cancel true',
      'vendor.move.charge-target true',
      'vendor.move.request true',
      'vendor.move.state true',
      'vendor.pose.request true',
    ]);
    const shown = await runGw(['evidence', 'show', 'vendor.move.cancel', '--site', robot.site]);
    expect(shown.stdout).toMatch(/samples in \S+-stop-\S+\.json, as recorded/);
    const changed =
      readdirSync(join(robot.dir, 'evidence.trials'))
        .filter((file) => file.includes('-stop-'))
        .at(-1) ?? '';
    writeFileSync(join(robot.dir, 'evidence.trials', changed), '{}');
    const again = await runGw(['evidence', 'show', 'vendor.move.cancel', '--site', robot.site]);
    expect(again.stdout).toMatch(/CHANGED since/);
  });

  test('a record that a person added counts by gw evidence adopt, without a restart', async () => {
    const out = [
      'evidence',
      'record',
      'vendor.move.request',
      '--does-not-hold',
      '--how',
      'test',
      '--who',
      'T',
      '--site',
      robot.site,
    ];
    await runGw(out);
    const gate = async () =>
      (await (await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren`)).json()) as { gate: { open: boolean } };
    await until(gate, ({ gate: { open } }) => !open);
    await runGw(out.map((word) => (word === '--does-not-hold' ? '--holds' : word)));
    expect((await gate()).gate.open).toBe(false);
    const adopted = await runGw(['evidence', 'adopt', '--site', robot.site]);
    expect([adopted.code, adopted.stdout.split(':')[0]]).toEqual([0, 'Adopted']);
    expect((await gate()).gate.open).toBe(true);
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
    expect(reports(robot).at(-1)).toMatchObject({
      outcome: 'cancelled',
      reason: expect.stringMatching(/no keepalive/),
    });
    expect(records(robot)).toHaveLength(before);
  });

  test('cancel-ignored: contradicted, exit code 1, and no order passes any more', async () => {
    await robot.fault('cancel-ignored', 'on');
    // Slow, so that late poses are few against its way to the goal.
    await setSpeed(0.4);
    let ended = await runGw(verifyWords(robot, 'stop'));
    // On a busy machine poses arrive in bunches, or the cancel near the goal, which decides nothing: the trial says so, and
    // is run again as it says.
    for (let more = 3; more > 0 && ended.stdout.startsWith('NOT DECIDED'); more -= 1) {
      ended = await runGw(verifyWords(robot, 'stop'));
    }
    await robot.fault('cancel-ignored', 'off');
    await setSpeed(1);
    expect(ended).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^CONTRADICTED: Trial 'stop', 1 fact on SIM-0001/),
      stderr: expect.stringContaining('PRESS THE EMERGENCY STOP'),
    });
    const next = await verify(robot, 'move');
    expect([next.code, next.data.verdict]).toEqual([4, 'refused']);
    expect(records(robot).at(-1)).toMatchObject({ fact: 'vendor.move.cancel', value: false });
  });

  test('radians: refused, and the gate gives the reason', async () => {
    await runGw([
      'evidence',
      'record',
      'vendor.move.cancel',
      '--holds',
      '--how',
      'test',
      '--who',
      'T',
      '--site',
      robot.site,
    ]);
    await runGw(['evidence', 'adopt', '--site', robot.site]);
    await robot.fault('radians', 'on');
    const { code, data } = await verify(robot, 'stop');
    expect([code, data.verdict]).toEqual([4, 'refused']);
    expect(data.trial.reason).toMatch(/drifts while the robot should stand|radians/);
    await until(async () => (await chassisState(robot.operatorPort)).unitContradicted, Boolean);
    const proven = await verify(robot, 'stop');
    expect(proven.data.trial.reason).toMatch(/contradicted by this chassis/);
    expect(reports(robot).at(-1)?.reason).toMatch(/contradicted by this chassis/);
  });
});
