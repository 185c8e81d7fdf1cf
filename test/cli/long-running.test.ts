import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { endingSignals } from '../../src/cli/long-running.ts';
import { startProcess } from '../process.ts';

const script = fileURLToPath(new URL('./long-running-child.ts', import.meta.url));

const numberOf = (name: string) => constants.signals[name as NodeJS.Signals];

/** Starts the command and calls `then` after its first event; resolves with its result. */
async function run(args: readonly string[], then: (child: ChildProcess) => void) {
  const started = startProcess(process.execPath, [script, ...args]);
  let isReady = false;
  started.child.stdout?.on('data', () => {
    if (isReady || !started.stdout().includes('ready')) return;
    isReady = true;
    then(started.child);
  });
  const { code, signal, stdout, stderr } = await started.closed;
  const lines = stdout.trim().split('\n');
  return { code, signal, lines, stderr };
}

describe.concurrent('a long-running command', () => {
  it.each(endingSignals)('ends cleanly on %s, with its last event printed last', async (signal) => {
    const { code, lines, stderr } = await run(['quiet'], (child) => child.kill(signal));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(lines[0]).toBe('ready');
    expect(lines.at(-1)).toBe('ended');
  });

  it('ends cleanly on every signal, except those of a fault and those that end no process', () => {
    const faults = ['SIGSEGV', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP'];
    const unstoppable = ['SIGKILL', 'SIGSTOP', 'SIGPROF'];
    const harmless = ['SIGCHLD', 'SIGCONT', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGWINCH'];
    const ignored = ['SIGUSR1', 'SIGPIPE', 'SIGXFSZ'];
    const others = new Set([...faults, ...unstoppable, ...harmless, ...ignored].map((name) => numberOf(name)));
    const all = new Set(Object.values(constants.signals));
    expect(new Set(endingSignals.map((name) => numberOf(name)))).toEqual(
      new Set([...all].filter((number) => !others.has(number))),
    );
  });

  it('takes signals of one moment as one request, as of a process group and its launcher', async () => {
    const { code, lines } = await run(['slow'], (child) => {
      child.kill('SIGQUIT');
      child.kill('SIGTERM');
    });
    expect([code, lines.at(-1)]).toEqual([0, 'ended']);
  });

  it('prints one JSON object per line with --json', async () => {
    const { code, lines } = await run(['quiet', '--json'], (child) => child.kill('SIGTERM'));
    expect(code).toBe(0);
    const events = lines.map((line) => JSON.parse(line) as { event: string });
    expect(events[0]).toEqual({ event: 'ready' });
    expect(events.at(-1)).toEqual({ event: 'ended' });
  });

  it('ends at once on a second signal of any kind', async () => {
    const { code, lines } = await run(['stuck'], (child) => {
      child.kill('SIGINT');
      const later = setInterval(() => child.kill('SIGTERM'), 300);
      child.once('exit', () => clearInterval(later));
    });
    // After 5 s it would end with 70.
    expect(code).toBe(130);
    expect(lines).not.toContain('ended');
  });

  it('is terminated with the code of an internal error when its shutdown takes longer than 5 seconds', async () => {
    const { code, stderr } = await run(['stuck'], (child) => child.kill('SIGTERM'));
    expect(code).toBe(70);
    expect(stderr).toMatch(/did not end within 4900 ms/);
  });

  it.each(['crash', 'reject'])(
    'ends cleanly after an uncaught error (%s), with the code of an internal error',
    async (how) => {
      const text = await run([how], () => {});
      expect(text.code).toBe(70);
      expect(text.lines.at(-1)).toBe('ended');
      expect(text.stderr).toMatch(/uncaught on purpose/);
      expect(text.stderr).not.toMatch(/at .*long-running-child/);

      const json = await run([how, '--json'], () => {});
      expect(json.code).toBe(70);
      const last = JSON.parse(json.lines.at(-1) ?? '') as object;
      expect(last).toMatchObject({ schema: 'gw/child/1', ok: false, data: null, error: { code: 'INTERNAL' } });
    },
  );

  it('ends when stdout is closed by its reader', async () => {
    const { code, signal } = await run(['quiet'], (child) => child.stdout?.destroy());
    expect({ code, signal }).toEqual({ code: 0, signal: null });
  });
});
