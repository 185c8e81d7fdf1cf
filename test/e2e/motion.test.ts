import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { childrenOf, isAlive, olderNode, type Running, type RunOptions, runGw, startGw } from './gw.ts';
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
const open = () => until(status, ({ gate }) => gate.open);
const drives = () => until(moves, ([newest]) => newest?.state === 'moving');
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
  );
  await place(start);
  if (!isUp) serve = await startServe(robot.site);
  // While the robot does not stop, its stop cannot be cleared.
  await until(
    async () => (await json(`http://127.0.0.1:${robot.operatorPort}/api/stopp`)) as { standstill: { verdict: string } },
    ({ standstill }) => standstill.verdict !== 'drives-on',
  );
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  await clearStop(await openToolkit(robot.site), {}, context);
  await open();
}

/**
 * A command whose robot drives. Where this machine stalls for longer than the gateway waits for a keepalive, the gateway
 * has ended the drive; then another one is ordered.
 */
async function driving(words: readonly string[], options?: RunOptions): Promise<Running> {
  for (;;) {
    const command = startGw([...words, '--site', robot.site, '--robot-will-move'], options);
    const { child } = command;
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    const [newest] = await until(moves, ([move]) => move?.state === 'moving' || hasEnded());
    if (newest?.state === 'moving') return command;
    expect(command.stdout() + command.stderr()).toContain('no keepalive');
  }
}

beforeAll(async () => {
  // A drive is still under way when a command has started on a busy machine.
  robot = await startRobot({ speedMS: 0.3 });
  const { xM, yM, yawRad } = robot.sim.state();
  start = { position: [xM, yM, 0], ori: yawRad };
});
afterAll(async () => {
  await serve?.[Symbol.asyncDispose]();
  await robot?.[Symbol.asyncDispose]();
});

describe('gw motion', () => {
  beforeEach(putInOrder);

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

/** Kills the first of two processes of gw, and waits for the end of both; then the robot stands, short of its goal. */
async function killLauncher(gw: Running): Promise<Awaited<ReturnType<Running['end']>>> {
  const [child = 0, ...others] = childrenOf(gw.child);
  expect([child > 0, others]).toEqual([true, []]);
  // Resolves when no process has its output open any more.
  const ended = await gw.end('SIGKILL');
  await until(
    async () => isAlive(child),
    (is) => !is,
  );
  await until(
    async () => robot.sim.state(),
    ({ speedMS, moving }) => speedMS === 0 && !moving,
  );
  expect((await moves())[0]?.state).toBe('cancelled');
  return ended;
}

/** Flags with which a command gets a second Ctrl-C as soon as it has said what that does: by then it waits, however slow this machine is. */
const pressesAgain = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text, ...more) => {
      const press = () => process.kill(process.pid, 'SIGINT');
      // After the turn in which the first one is handled.
      if (String(text).includes('a second Ctrl-C exits at once')) setImmediate(() => setImmediate(press));
      return write(text, ...more);
    };
  `)}`,
];

describe('an interrupted drive', () => {
  beforeEach(putInOrder);

  it.each([
    ['SIGINT', ['motion', 'go', 'A']],
    ['SIGTERM', ['motion', 'dock']],
    ['SIGHUP', ['tour', 'run', 'demo']],
  ] as const)('is ended by %s to gw %j, without latching a stop', async (signal, words) => {
    const before = new Set((await moves()).map(({ id }) => id));
    await using command = await driving(words);
    const { code } = await command.end(signal);
    expect(code).toBe(130);
    expect(command.stdout()).toMatch(/^Interrupted: .* was ended; the robot stands\./);
    const after = (await moves()).filter(({ id }) => !before.has(id));
    expect([...new Set(after.map(({ state }) => state))]).toEqual(['cancelled']);
    expect(await status()).toMatchObject({ stop: { latched: false }, gate: { open: true } });
  });

  it.each([
    ['motion', 'go', 'C'],
    ['tour', 'run', 'demo'],
  ])('is cancelled by the gateway when gw %s %s %s was killed', async (...words) => {
    await using command = await driving(words);
    const before = (await moves()).length;
    await command.end('SIGKILL');
    await until(moves, ([newest]) => newest?.state === 'cancelled');
    expect((await moves()).length).toBe(before);
    const answer = await until(status, ({ gate }) => gate.open);
    expect(answer.stop.latched).toBe(false);
  });

  it.each([
    ['motion', 'go', 'C'],
    ['tour', 'run', 'demo'],
  ])('is ended when the older Node.js that has started gw %s %s %s again was killed', async (...words) => {
    await using command = await driving(words, { node: olderNode });
    const { signal, stdout } = await killLauncher(command);
    expect([signal, stdout]).toEqual([
      'SIGKILL',
      expect.stringMatching(/^Interrupted: .* was ended; the robot stands\./),
    ]);
    expect(await status()).toMatchObject({ stop: { latched: false }, gate: { open: true } });
  });

  it('waits for its end, and a second Ctrl-C ends the command at once', async () => {
    await robot.fault('cancel-ignored', 'on');
    await using command = await driving(['motion', 'go', 'C'], { node: pressesAgain });
    const { signal, stdout } = await command.end('SIGINT');
    expect([signal, stdout]).toEqual(['SIGINT', '']);
  });

  it('reports that the robot may still be moving when the gateway has ended', async () => {
    await using command = await driving(['motion', 'go', 'C']);
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
});

describe.concurrent('gw motion stop without a gateway', () => {
  it('cancels at the chassis when the gateway was killed, and does not report that as stopped', async () => {
    await putInOrder();
    expect((await startTour()).status).toBe(202);
    await drives();
    await serve?.end('SIGKILL');
    const { code, stdout } = await run('motion', 'stop', '--timeout', '5');
    expect([code, stdout]).toEqual([3, expect.stringMatching(/^NOT STOPPED: CANCELLED AT THE CHASSIS, NOT LATCHED/)]);
    expect((await moves())[0]?.state).toBe('cancelled');
  });

  it('lists the attempts, and asks to press the emergency stop, when no gateway answers', async () => {
    await using other = await startRobot();
    const { code, stdout } = await runGw(['motion', 'stop', '--site', other.site, '--timeout', '2']);
    expect(code).toBe(3);
    expect(stdout).toMatch(
      /^NOT STOPPED: the stop could not be delivered\. Press the emergency stop of the robot now\./,
    );
    expect(stdout).toContain(`127.0.0.1:${other.operatorPort}`);
    expect(stdout).toContain('gw.sock');
  });
});

describe('gw motion stop while the gateway is away', () => {
  beforeEach(putInOrder);

  it.each([10, 40])(
    'is latched by the gateway that comes back after %d s, and says each second that it is not yet',
    async (seconds) => {
      expect((await startTour()).status).toBe(202);
      await drives();
      await serve?.end('SIGKILL');
      await using stop = startGw(['motion', 'stop', '--site', robot.site, '--json']);
      const left = () => [
        ...stop.stderr().matchAll(/NOT STOPPED yet, trying for (\d+) s more\. Press the emergency stop/g),
      ];
      await until(
        async () => left(),
        (found) => Number(found.at(-1)?.[1] ?? 60) <= 60 - seconds,
      );
      expect(stop.stderr()).toContain(`network 127.0.0.1:${robot.operatorPort}: not connected`);
      expect(stop.child.exitCode).toBeNull();
      serve = await startServe(robot.site);
      const { stdout } = await stop.closed;
      expect(JSON.parse(stdout)).toMatchObject({ data: { delivered: true, cancelledAtChassis: true, saved: true } });
      expect((await status()).stop.latched).toBe(true);
      expect((await moves())[0]?.state).toBe('cancelled');
    },
  );
});

describe('after kill -9 in the middle of a move', () => {
  beforeEach(putInOrder);

  it('of the older Node.js that has started gw serve again, the gateway ends in order and cancels the move', async () => {
    await serve?.end();
    serve = await startServe(robot.site, { node: olderNode });
    await open();
    expect((await startTour()).status).toBe(202);
    await drives();
    const { stdout } = await killLauncher(serve);
    expect(stdout.trim().split('\n').at(-1)).toContain('"event":"ended"');
  });

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
    await until(moves, ([newest]) => newest?.state === 'cancelled');
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
    const answer = await until(status, ({ unownedMove }) => unownedMove !== null);
    const [{ id } = { id: -1 }] = await moves();
    expect(answer).toMatchObject({ unownedMove: { moveId: id }, gate: { open: false } });
    const refused = await startTour();
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining(`move ${id}`)]);
    const health = (await json(`http://127.0.0.1:${robot.operatorPort}/api/health`)) as {
      services: { name: string; detail: string }[];
    };
    expect(health.services.find(({ name }) => name === 'motion')?.detail).toContain(`move ${id}`);
    expect(await (await fetch(`http://127.0.0.1:${robot.operatorPort}/`)).text()).toContain(`Nr. ${id}`);
    await until(moves, ([newest]) => newest?.state !== 'moving');
    expect((await moves())[0]?.state).toBe('succeeded');
    await open();
  });
});
