import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { type Running, runGw, startGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

interface Status {
  readonly gate: { readonly open: boolean; readonly reasons: readonly string[] };
  readonly stop: { readonly latched: boolean };
  readonly unownedMove: { readonly moveId: number } | null;
}

interface Move {
  readonly id: number;
  readonly state: string;
}

const json = async (url: string) => (await fetch(url)).json();
const status = () => json(`http://127.0.0.1:${robot.operatorPort}/api/touren`) as Promise<Status>;
const moves = () => json(`http://127.0.0.1:${robot.chassisPort}/chassis/moves`) as Promise<Move[]>;
const run = (...words: string[]) => runGw([...words, '--site', robot.site]);
const open = () => until(status, ({ gate }) => gate.open, 10_000);
const drives = () => until(moves, ([newest]) => newest?.state === 'moving', 10_000);
const startTour = () =>
  fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren/lauf`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"tour":"demo"}',
  });

const askChassis = (method: string, path: string, body: object) =>
  fetch(`http://127.0.0.1:${robot.chassisPort}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Sets the pose of the robot at rest. The heading in radians. */
async function place(pose: { readonly position: readonly number[]; readonly ori: number }): Promise<void> {
  expect((await askChassis('POST', '/chassis/pose', pose)).status).toBe(201);
}

let robot: Robot;
let serve: Running | undefined;
/** The initial pose of the robot. */
let start: { readonly position: readonly number[]; readonly ori: number };

/**
 * The state is reset before each test: the robot is at its initial pose, a gateway runs, no stop is latched, and orders
 * pass.
 */
async function putInOrder(): Promise<void> {
  for (const { name, on } of robot.sim.faults()) if (on) await robot.fault(name, 'off');
  const isUp = serve !== undefined && serve.child.exitCode === null && serve.child.signalCode === null;
  if (isUp) await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren/lauf`, { method: 'DELETE' });
  await askChassis('PATCH', '/chassis/moves/current', { state: 'cancelled' });
  await until(
    async () => robot.sim.state().speedMS,
    (speedMS) => speedMS === 0,
    5_000,
  );
  await place(start);
  if (!isUp) serve = await startServe(robot.site);
  // While the robot does not stop, its stop cannot be cleared.
  await until(
    async () => (await json(`http://127.0.0.1:${robot.operatorPort}/api/stopp`)) as { standstill: { verdict: string } },
    ({ standstill }) => standstill.verdict !== 'drives-on',
    15_000,
  );
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  await clearStop(await openToolkit(robot.site), {}, context);
  await open();
}

/** A command that drives, once the robot is moving. */
async function driving(...words: string[]): Promise<Running> {
  const command = startGw([...words, '--site', robot.site, '--robot-will-move']);
  await drives();
  return command;
}

beforeAll(async () => {
  robot = await startRobot();
  const { xM, yM, yawRad } = robot.sim.state();
  start = { position: [xM, yM, 0], ori: yawRad };
});
afterAll(async () => {
  await serve?.[Symbol.asyncDispose]();
  await robot?.[Symbol.asyncDispose]();
});

describe('gw motion', () => {
  beforeEach(putInOrder);

  it('drives to a station and to the dock, stops, clears without any password, and sets the pose', async () => {
    // A short path each.
    await place({ position: [0.9, 0, 0], ori: 0.1 });
    const gone = await run('motion', 'go', 'A', '--robot-will-move');
    expect([gone.code, gone.stdout.split('\n')[0]]).toEqual([
      0,
      'The robot stands at A, according to its reported pose.',
    ]);
    await place({ position: [0, -1, 0], ori: 1.5 });
    const docked = await run('motion', 'dock', '--robot-will-move', '--json');
    expect(JSON.parse(docked.stdout)).toMatchObject({
      schema: 'gw/motion-dock/1',
      ok: true,
      data: { to: null, state: 'succeeded', end: { station: 'the dock' } },
    });

    const stopped = await run('motion', 'stop', '--reason', 'drill');
    expect([stopped.code, stopped.stdout.slice(0, 8)]).toEqual([0, 'STOPPED:']);
    const refused = await run('motion', 'go', 'A', '--robot-will-move');
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('drill')]);

    const stranger = await run('motion', 'clear', '--host', '127.0.0.1');
    expect([stranger.code, stranger.stderr]).toEqual([4, expect.stringContaining('--password-file')]);
    expect((await status()).stop.latched).toBe(true);
    const cleared = await run('motion', 'clear');
    expect([cleared.code, cleared.stdout]).toEqual([
      0,
      expect.stringMatching(/^CLEARED: .*Orders may pass\.\n.*drill/),
    ]);
    expect((await run('motion', 'clear')).stdout).toMatch(/^No stop was latched/);

    const posed = await run('motion', 'pose', '--at-dock', '--robot-stands-there');
    expect([posed.code, posed.stdout]).toEqual([0, expect.stringContaining('reports the pose that was set')]);
  });

  it('requires a person for every risk, and orders nothing without', async () => {
    const before = await moves();
    const risks = [
      ['motion', 'go', 'A'],
      ['motion', 'dock'],
      ['motion', 'pose', '--at-dock'],
      ['tour', 'run', 'demo'],
    ];
    for (const { code, stderr } of await Promise.all(risks.map((words) => run(...words)))) {
      expect([code, stderr]).toEqual([4, expect.stringMatching(/--robot-(will-move|stands-there)/)]);
    }
    expect(await moves()).toEqual(before);
  });
});

describe('an interrupted drive', () => {
  beforeEach(putInOrder);

  it.each([
    ['SIGINT', ['motion', 'go', 'A']],
    ['SIGHUP', ['motion', 'dock']],
    ['SIGINT', ['tour', 'run', 'demo']],
    ['SIGTERM', ['tour', 'run', 'demo']],
    ['SIGHUP', ['tour', 'run', 'demo']],
  ] as const)('is ended by %s to gw %j, without latching a stop', async (signal, words) => {
    const before = new Set((await moves()).map(({ id }) => id));
    await using command = await driving(...words);
    const { code } = await command.end(signal);
    expect(code).toBe(130);
    expect(command.stdout()).toMatch(/^Interrupted: .* was ended; the robot stands\./);
    const after = (await moves()).filter(({ id }) => !before.has(id));
    expect(after.map(({ state }) => state)).toEqual(['cancelled']);
    expect(await status()).toMatchObject({ stop: { latched: false }, gate: { open: true } });
  });

  it.each(['SIGINT', 'SIGHUP'] as const)('continues after %s with --leave-running', async (signal) => {
    await using command = await driving('tour', 'run', 'demo', '--leave-running');
    const { code } = await command.end(signal);
    expect(code).toBe(130);
    expect(command.stderr()).toContain('continues because of --leave-running');
    expect((await moves())[0]?.state).toBe('moving');
  });

  it.each([
    ['motion', 'go', 'C'],
    ['tour', 'run', 'demo'],
  ])('is cancelled by the gateway when gw %s %s %s was killed', async (...words) => {
    const before = (await moves()).length;
    await using command = await driving(...words);
    await command.end('SIGKILL');
    await until(moves, ([newest]) => newest?.state === 'cancelled', 10_000);
    expect((await moves()).length).toBe(before + 1);
    const { answer } = await until(status, ({ gate }) => gate.open, 20_000);
    expect(answer.stop.latched).toBe(false);
  });

  it('continues when its command was killed, with --leave-running', async () => {
    await using command = await driving('motion', 'go', 'C', '--leave-running');
    await command.end('SIGKILL');
    const ordered = robot.sim.state();
    await new Promise((resolve) => setTimeout(resolve, 4_500));
    expect((await moves())[0]?.state).not.toBe('cancelled');
    const { xM, yM } = robot.sim.state();
    expect(Math.hypot(xM - ordered.xM, yM - ordered.yM)).toBeGreaterThan(0.5);
  });

  it('is ended at once by the gateway when another robot answers at the address', async () => {
    await using command = await driving('motion', 'go', 'C');
    await robot.fault('wrong-serial', 'on');
    await until(
      async () => command.child.exitCode,
      (code) => code !== null,
      20_000,
    );
    expect(command.child.exitCode).toBe(1);
    expect(command.stdout().split('\n')[0]).toBe(
      'The drive to C failed, its end is not confirmed, but THE ROBOT MAY STILL BE MOVING: it was not seen to stand.',
    );
    expect(command.stdout()).toMatch(/Another chassis, \S+ answers at 127\.0\.0\.1/);
  });

  it('waits for its end, and a second Ctrl-C ends the command at once', async () => {
    await robot.fault('cancel-ignored', 'on');
    await using command = await driving('motion', 'go', 'C');
    command.child.kill('SIGINT');
    await until(
      async () => command.stderr(),
      (text) => text.includes('a second Ctrl-C exits at once'),
      5_000,
    );
    expect(command.child.exitCode).toBeNull();
    await command.end('SIGINT');
    expect(command.child.signalCode ?? command.child.exitCode).toMatch(/SIGINT|130/);
  });

  it('never reports as ended while the chassis continues to drive', async () => {
    await robot.fault('cancel-ignored', 'on');
    await using command = await driving('motion', 'go', 'C');
    const { code } = await command.end('SIGINT');
    expect(code).toBe(130);
    expect(command.stdout()).toMatch(
      /^Interrupted, and the end of the drive to C is not confirmed, but THE ROBOT IS STILL MOVING: press its emergency stop\./,
    );
    expect(command.stdout()).not.toContain('was ended');
  });

  it('reports that the robot may still be moving when the gateway has ended', async () => {
    await using command = await driving('motion', 'go', 'C');
    await serve?.end('SIGKILL');
    const { code } = await command.end('SIGINT');
    expect(code).toBe(130);
    expect(command.stderr()).toContain('THE ROBOT MAY STILL BE MOVING');
    expect(command.stderr()).toContain('emergency stop');
  });
});

describe('gw motion stop', () => {
  beforeEach(putInOrder);

  it('stops the robot without a site file, and reports it first', async () => {
    expect((await startTour()).status).toBe(202);
    await drives();
    const empty = mkdtempSync(join(tmpdir(), 'gw-nowhere-'));
    try {
      const place = ['--host', '127.0.0.3', '--operator-port', `${robot.operatorPort}`];
      const { code, stdout } = await runGw(['motion', 'stop', ...place], { cwd: empty });
      expect([code, stdout.split('\n')[0]]).toEqual([
        0,
        expect.stringMatching(/^STOPPED: latched.*no running move\.$/),
      ]);
    } finally {
      rmSync(empty, { recursive: true });
    }
    expect((await moves())[0]?.state).toBe('cancelled');
    expect((await status()).stop.latched).toBe(true);
  });

  it('is no green STOPPED while the robot drives on, nor while the chassis is disconnected', async () => {
    await robot.fault('cancel-ignored', 'on');
    expect((await startTour()).status).toBe(202);
    await drives();
    const driven = await run('motion', 'stop');
    expect([driven.code, driven.stdout]).toEqual([
      1,
      expect.stringMatching(/^STOP LATCHED, BUT THE ROBOT (DOES NOT STOP|IS STILL MOVING|COMPLETED ITS MOVE)/),
    ]);
    await robot.fault('cut', 'on');
    await until(status, ({ gate }) => gate.reasons.some((reason) => reason.startsWith('not connected')), 5_000);
    const away = await run('motion', 'stop');
    expect([away.code, away.stdout]).toEqual([
      1,
      expect.stringMatching(/^STOP LATCHED, BUT THE (MOVE STATE IS UNKNOWN|ROBOT DOES NOT STOP)/),
    ]);
  });

  it.each(['cancel-lies', 'coasting'] as const)(
    'is no green STOPPED of a robot that reports it and drives on: %s',
    async (fault) => {
      await robot.fault(fault, 'on');
      expect((await startTour()).status).toBe(202);
      await drives();
      const { code, stdout } = await run('motion', 'stop');
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(
          /^STOP LATCHED, BUT THE ROBOT (DOES NOT STOP|IS STILL MOVING): .*Press the emergency stop/,
        ),
      ]);
      expect((await status()).gate.open).toBe(false);
    },
  );

  it('is delivered by the local socket when the network listener is blocked', async () => {
    // A port without a listener represents a full or broken socket.
    const { code, stdout } = await run('motion', 'stop', '--operator-port', '1', '--json');
    expect(code).toBe(0);
    const { data } = JSON.parse(stdout);
    expect(data).toMatchObject({ delivered: true, move: expect.any(String) });
    expect(data.ways.find(({ way }: { way: string }) => way === 'local-socket')).toMatchObject({ answer: 'latched' });
    expect((await status()).stop.latched).toBe(true);
  });
});

describe.concurrent('gw motion stop without a gateway', () => {
  it('cancels at the chassis when the gateway was killed, and does not report that as stopped', async () => {
    await putInOrder();
    expect((await startTour()).status).toBe(202);
    await drives();
    await serve?.end('SIGKILL');
    const { code, stdout } = await run('motion', 'stop');
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^NOT STOPPED: CANCELLED AT THE CHASSIS, NOT LATCHED/)]);
    expect((await moves())[0]?.state).toBe('cancelled');
  });

  it('lists the attempts, and asks to press the emergency stop, when no gateway answers', async () => {
    await using other = await startRobot();
    const { code, stdout } = await runGw(['motion', 'stop', '--site', other.site]);
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /^NOT STOPPED: the stop could not be delivered\. Press the emergency stop of the robot now\./,
    );
    expect(stdout).toContain(`127.0.0.1:${other.operatorPort}`);
    expect(stdout).toContain('gw.sock');
  });
});

describe('after kill -9 in the middle of a move', () => {
  beforeEach(putInOrder);

  async function killInMove(): Promise<void> {
    expect((await startTour()).status).toBe(202);
    await drives();
    await serve?.end('SIGKILL');
  }

  it('the previous move is shown, keeps the gate closed, and is cancelled; then orders pass again', async () => {
    const before = new Set((await moves()).map(({ id }) => id));
    await killInMove();
    expect((await moves())[0]?.state).toBe('moving');
    serve = await startServe(robot.site);
    await until(moves, ([newest]) => newest?.state === 'cancelled', 10_000);
    expect(serve.stderr()).toContain('the robot was executing a move that gw did not order');
    await open();
    expect((await moves()).filter(({ id }) => !before.has(id))).toHaveLength(1);
    expect((await startTour()).status).toBe(202);
  });

  it('the previous move is not cancelled where the site file says so, and no order passes until it has ended', async () => {
    await killInMove();
    // The last test: the file remains so.
    appendFileSync(robot.site, 'motion: { unownedMove: leave }\n');
    serve = await startServe(robot.site);
    const { answer } = await until(status, ({ unownedMove }) => unownedMove !== null, 5_000);
    const [{ id } = { id: -1 }] = await moves();
    expect(answer).toMatchObject({ unownedMove: { moveId: id }, gate: { open: false } });
    const refused = await startTour();
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining(`move ${id}`)]);
    const health = (await json(`http://127.0.0.1:${robot.operatorPort}/api/health`)) as {
      services: { name: string; detail: string }[];
    };
    expect(health.services.find(({ name }) => name === 'motion')?.detail).toContain(`move ${id}`);
    expect(await (await fetch(`http://127.0.0.1:${robot.operatorPort}/`)).text()).toContain(`Nr. ${id}`);
    await until(moves, ([newest]) => newest?.state !== 'moving', 30_000);
    expect((await moves())[0]?.state).toBe('succeeded');
    await open();
  });
});
