import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Running, startGw } from './gw.ts';
import { startRobot, until } from './robot.ts';

/** A pipe whose reader stalls: full from the start, so that the amount of log output does not matter. */
function stalledPipe() {
  const dir = mkdtempSync(join(tmpdir(), 'gw-stalled-'));
  const path = join(dir, 'pipe');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const filling = Buffer.alloc(4_096, '.');
  try {
    for (;;) writeSync(fd, filling);
  } catch {
    // Full.
  }
  // The descriptor of a child blocks, as the pipes of a shell do.
  const theirs = openSync(path, constants.O_WRONLY);
  return {
    theirs,
    /** Reads available data, without the initial filling. */
    read(): string {
      const buffer = Buffer.alloc(1 << 20);
      let text = '';
      try {
        for (let bytes = readSync(fd, buffer); bytes > 0; bytes = readSync(fd, buffer))
          text += buffer.toString('utf8', 0, bytes);
      } catch {
        // Empty.
      }
      return text.replace(/^\.+/, '');
    },
    [Symbol.dispose]() {
      closeSync(theirs);
      closeSync(fd);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

interface Health {
  readonly status: string;
  readonly log: { readonly status: string; readonly droppedLines: number | null };
}

const at = (port: number, path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);

/** null while nothing listens. */
async function health(port: number): Promise<Health | null> {
  try {
    return (await (await at(port, '/api/health')).json()) as Health;
  } catch {
    return null;
  }
}

async function isUp(port: number, as: (found: Health) => boolean = () => true): Promise<Health | null> {
  return await until(
    () => health(port),
    (found) => found !== null && as(found),
  );
}

/** On `exit`: `close` waits for pipes that this test holds. */
async function exitOf({ child }: Running): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

const stop = (port: number) =>
  at(port, '/api/stopp', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"reason":"test"}',
  });

describe('gw serve with unread output', () => {
  it.each([['text'], ['json']])('starts, answers, stops the robot and ends cleanly (%s)', async (how) => {
    await using robot = await startRobot();
    using stdout = stalledPipe();
    using stderr = stalledPipe();
    const args = ['serve', '--site', robot.site, ...(how === 'json' ? ['--json'] : [])];
    await using serve = startGw(args, { stdout: stdout.theirs, stderr: stderr.theirs });
    expect(await isUp(robot.operatorPort, ({ log }) => log.status === 'unread')).toMatchObject({
      log: { status: 'unread', droppedLines: 0 },
    });
    for (let n = 0; n < 300; n += 1) expect((await stop(robot.operatorPort)).status).toBe(200);
    expect(await health(robot.operatorPort)).toMatchObject({ log: { status: 'unread' } });
    serve.child.kill('SIGTERM');
    expect(await exitOf(serve)).toBe(0);
  });

  it.each([
    ['is read', true],
    ['stalls', false],
  ])('ends with 70 after an uncaught error, with its last line written where the log %s', async (_how, isRead) => {
    await using robot = await startRobot();
    using stderr = stalledPipe();
    const crash = join(robot.dir, 'crash.mjs');
    writeFileSync(crash, "process.on('SIGUSR2', () => { throw new Error('uncaught on purpose'); });");
    await using serve = startGw(['serve', '--site', robot.site], {
      stderr: stderr.theirs,
      node: ['--import', crash],
    });
    await serve.untilOutput('ready');
    if (isRead) stderr.read();
    serve.child.kill('SIGUSR2');
    expect(await exitOf(serve)).toBe(70);
    expect(stderr.read().includes('uncaught on purpose')).toBe(isRead);
  });
});
