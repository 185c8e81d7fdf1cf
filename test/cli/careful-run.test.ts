import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProcess } from '../process.ts';

const hasScript = spawnSync('sh', ['-c', 'command -v script']).status === 0;

const script = fileURLToPath(new URL('./careful-run-child.ts', import.meta.url));

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-careful-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Starts the work, calls `then` once it has begun, and returns its result. */
async function run(args: readonly string[], then: (child: ChildProcess) => void) {
  count += 1;
  const file = join(dir, `${count}.json`);
  const started = startProcess(process.execPath, [script, file, ...args]);
  let begun = false;
  started.child.stderr?.on('data', () => {
    if (!begun && started.stderr().includes('before.tar.gz')) {
      begun = true;
      setTimeout(() => then(started.child), 50);
    }
  });
  const { code, signal, stdout, stderr } = await started.closed;
  const left = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : null;
  return { code, signal, stdout, stderr, left };
}

describe.concurrent('work that changes a robot', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'completes after %s and reports the interruption',
    async (signal) => {
      const { code, left, stdout, stderr } = await run([], (child) => child.kill(signal));
      expect(code).toBe(130);
      expect(left).toMatchObject({ finished: true });
      expect(stdout).toBe('finished: true\n');
      expect(stderr).toContain('Backup of the present state: before.tar.gz');
      expect(stderr).toContain('Interrupted. Completing and verifying the started write');
    },
  );

  it('names the backup of the state also with --json, where no other progress is printed', async () => {
    const { code, stdout, stderr } = await run(['--json'], (child) => child.kill('SIGINT'));
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, data: { finished: true } });
    expect(stderr.split('\n').filter(Boolean)).toEqual([
      'Backup of the present state: before.tar.gz',
      expect.stringContaining('Interrupted.'),
    ]);
  });

  it('completes when its output has no reader, also without a signal', async () => {
    const { left } = await run([], (child) => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      setTimeout(() => child.kill('SIGHUP'), 50);
    });
    expect(left).toMatchObject({ finished: true });
  });

  it('ends at once on a second Ctrl-C', async () => {
    const began = performance.now();
    const { signal, left } = await run([], (child) => {
      child.kill('SIGINT');
      setTimeout(() => child.kill('SIGINT'), 100);
    });
    expect(signal).toBe('SIGINT');
    expect(left).toBeNull();
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

// A progress line installs a signal listener, which tests without a terminal do not cover.
describe.skipIf(!hasScript)('work that changes a robot, at a terminal (script of util-linux)', () => {
  /** Sends Ctrl-C as the keyboard does, each time that the next of these texts is shown. */
  async function press(at: readonly string[], endingMs = 300) {
    count += 1;
    const file = join(dir, `${count}.json`);
    const line = `stty cols 80; exec '${process.execPath}' '${script}' '${file}' ${endingMs}`;
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
    return { shown, left: existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : null };
  }

  it('completes after Ctrl-C and reports the interruption', async () => {
    const { shown, left } = await press(['writing']);
    expect(left).toMatchObject({ finished: true });
    expect(shown).toContain('Interrupted. Completing and verifying the started write');
    expect(shown).toContain('finished: true');
  });

  it('ends at once on a second Ctrl-C', async () => {
    const { shown, left } = await press(['writing', 'Interrupted.'], 30_000);
    expect(shown).toContain('Interrupted.');
    expect(left).toBeNull();
  });
});
