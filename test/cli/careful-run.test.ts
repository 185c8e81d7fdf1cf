import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCarefully } from '../../src/cli/careful-run.ts';
import { startProcess } from '../process.ts';
import { until } from '../waiting.ts';
import { printedBy } from './in-process.ts';

const hasScript = spawnSync('sh', ['-c', 'command -v script']).status === 0;
const script = fileURLToPath(new URL('./careful-run-child.ts', import.meta.url));
const whole = { tags: 'large' } as const;
const BACKUP = 'Backup of the present state: before.tar.gz';
const INTERRUPTED = 'Interrupted. Completing and verifying the started write';

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-careful-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A file for the result of a program, and what it left there. */
function resultFile() {
  count += 1;
  const file = join(dir, `${count}.json`);
  return { file, left: () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : null) };
}

describe('work that changes a robot, in this process', () => {
  const streams = [process.stdout, process.stderr];
  const signs: readonly (readonly [string, (own: AbortController) => void])[] = [
    ['Ctrl-C', (own) => own.abort()],
    ['the end of its terminal', () => void (process.listeners('SIGHUP').at(-1) as () => void)()],
    ['the end of the reader of its output', () => void process.stdout.emit('error', new Error('EPIPE'))],
    ['the end of the reader of its progress', () => void process.stderr.emit('error', new Error('EIO'))],
  ];

  it.each(signs)(
    'completes after %s, says once that it was interrupted, and always names the backup',
    async (_, sign) => {
      const listeners = streams.map((stream) => stream.listeners('error'));
      const before = process.listeners('SIGHUP');
      const own = new AbortController();
      try {
        const { stderr } = await printedBy(async () => {
          const done = await runCarefully({ quiet: true, signal: own.signal }, async (careful) => {
            careful.onSafetyBackup('before.tar.gz');
            careful.onProgress('writing');
            for (const _ of [1, 2]) sign(own);
            careful.onProgress('reading back');
            return careful.signal.aborted;
          });
          expect(done).toBe(true);
        });
        expect(stderr.split('\n')).toEqual([BACKUP, expect.stringContaining(INTERRUPTED), '']);
        expect(process.listeners('SIGHUP')).toEqual(before);
      } finally {
        for (const [at, stream] of streams.entries()) {
          stream.removeAllListeners('error');
          for (const listener of listeners[at] ?? []) stream.on('error', listener as () => void);
        }
      }
    },
  );
});

describe.concurrent('work that changes a robot', () => {
  /** Starts the work, calls `then` once it writes, and returns its result. */
  async function run(args: readonly string[], then: (child: ChildProcess, stderr: () => string) => unknown) {
    const { file, left } = resultFile();
    await using started = startProcess(process.execPath, [script, file, ...args]);
    await until(started.stderr, (text) => text.includes(BACKUP));
    await then(started.child, started.stderr);
    return { ...(await started.closed), left: left() };
  }

  it('completes after SIGINT and reports the interruption', whole, async () => {
    const { code, left, stdout, stderr } = await run([], (child) => child.kill('SIGINT'));
    expect([code, left, stdout]).toEqual([130, { finished: true }, 'finished: true\n']);
    for (const text of [BACKUP, 'writing', INTERRUPTED]) expect(stderr).toContain(text);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('completes after %s', whole, async (signal) => {
    const { code, left } = await run([], (child) => child.kill(signal));
    expect([code, left]).toEqual([130, { finished: true }]);
  });

  it('names the backup of the state also with --json, where no other progress is printed', whole, async () => {
    const { code, stdout, stderr } = await run(['--json'], (child) => child.kill('SIGINT'));
    expect([code, JSON.parse(stdout)]).toMatchObject([130, { ok: false, data: { finished: true } }]);
    expect(stderr.trim().split('\n')).toEqual([BACKUP, expect.stringContaining(INTERRUPTED)]);
  });

  it('completes when its output has no reader', whole, async () => {
    const { left } = await run([], (child) => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.kill('SIGHUP');
    });
    expect(left).toMatchObject({ finished: true });
  });

  it('ends at once on a second Ctrl-C', whole, async () => {
    const { signal, left } = await run(['stuck'], async (child, stderr) => {
      child.kill('SIGINT');
      await until(stderr, (text) => text.includes(INTERRUPTED));
      await until(
        () => [child.kill('SIGINT'), child.signalCode],
        ([, ended]) => ended === 'SIGINT',
      );
    });
    expect([signal, left]).toEqual(['SIGINT', null]);
  });
});

// A progress line installs a signal listener, which tests without a terminal do not cover.
describe.skipIf(!hasScript)('work that changes a robot, at a terminal (script of util-linux)', () => {
  /** Sends Ctrl-C as the keyboard does, each time that the next of these texts is shown. */
  async function press(at: readonly string[], how = 'ends') {
    const { file, left } = resultFile();
    const line = `stty cols 80; exec '${process.execPath}' '${script}' '${file}' ${how}`;
    // As at an interactive terminal: where CI is set no progress line is shown.
    const { CI: _, ...env } = process.env;
    const terminal = spawn('script', ['-qefc', line, '/dev/null'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...env, TERM: 'xterm' },
    });
    let shown = '';
    const texts = [...at];
    terminal.stdout.on('data', (chunk) => {
      shown += String(chunk);
      if (texts[0] === undefined || !shown.includes(texts[0])) return;
      texts.shift();
      terminal.stdin.write('\x03');
    });
    await once(terminal, 'close');
    return { shown, left: left() };
  }

  it('completes after Ctrl-C and reports the interruption', { tags: 'large' }, async () => {
    const { shown, left } = await press(['writing']);
    expect(left).toMatchObject({ finished: true });
    for (const text of [INTERRUPTED, 'finished: true']) expect(shown).toContain(text);
  });

  it('ends at once on a second Ctrl-C', whole, async () => {
    const { shown, left } = await press(['writing', 'Interrupted.'], 'stuck');
    expect(shown).toContain('Interrupted.');
    expect(left).toBeNull();
  });
});
