import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Config } from '@oclif/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { endingSignals } from '../../src/cli/long-running.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { startProcess } from '../process.ts';
import { until } from '../waiting.ts';
import { type Printed, printedBy, root } from './in-process.ts';
import { Child } from './long-running-child.ts';

const script = fileURLToPath(new URL('./long-running-child.ts', import.meta.url));
const events = [...endingSignals, 'uncaughtException', 'error'];
const numberOf = (name: string) => constants.signals[name as NodeJS.Signals];

describe('a long-running command, in this process', () => {
  let config: Config;
  beforeAll(async () => {
    config = await Config.load(root);
  });

  /** Runs it, and passes what an event of the process calls only there, since the listeners of the test runner stay out. */
  async function run(
    args: readonly string[],
    then: (world: {
      readonly exits: readonly unknown[];
      fire(event: string, value?: unknown): void;
      advance(ms: number): Promise<void>;
    }) => unknown,
  ): Promise<Printed & { exits: unknown[]; lines: string[] }> {
    const clock = createFakeClock();
    const stuck = Promise.withResolvers<void>();
    class Here extends Child {
      protected override readonly clock = clock;
      protected override unstuck = () => stuck.promise;
    }
    const emitters: readonly NodeJS.EventEmitter[] = [process, process.stdout, process.stderr];
    const listeners = () => emitters.flatMap((one) => events.flatMap((event) => one.listeners(event)));
    const before = new Set(listeners());
    const exits: unknown[] = [];
    const { exit } = process;
    process.exit = ((code: unknown) => void exits.push(code)) as never;
    try {
      const printed = await printedBy(async (soFar) => {
        const ended = Here.run([...args], config);
        await until(soFar, ({ stdout }) => stdout.includes('ready'));
        await then({
          exits,
          fire(event, value) {
            const emitter: NodeJS.EventEmitter = event === 'error' ? process.stdout : process;
            for (const listener of emitter.listeners(event))
              if (!before.has(listener)) (listener as (value: unknown) => void)(value);
          },
          advance: clock.advance,
        });
        stuck.resolve();
        await ended;
      });
      return { ...printed, exits, lines: printed.stdout.trim().split('\n') };
    } finally {
      process.exit = exit;
      for (const emitter of emitters)
        for (const event of events)
          for (const listener of emitter.listeners(event))
            if (!before.has(listener)) emitter.removeListener(event, listener as () => void);
    }
  }

  it.each(endingSignals)('ends cleanly on %s, with its last event printed last', async (signal) => {
    const { code, lines, stderr, exits } = await run(['quiet'], ({ fire }) => fire(signal));
    expect({ code, stderr, exits }).toEqual({ code: 0, stderr: '', exits: [] });
    expect([lines[0], lines.at(-1)]).toEqual(['ready', 'ended']);
  });

  it('takes signals of one moment as one request, as of a process group and its launcher', async () => {
    const { exits, lines } = await run(['stuck'], async ({ fire, advance }) => {
      fire('SIGQUIT');
      await advance(250);
      fire('SIGTERM');
    });
    expect([exits, lines.at(-1)]).toEqual([[], 'ended']);
  });

  it('ends at once on a second signal of any kind', async () => {
    const { exits } = await run(['stuck'], async ({ fire, advance }) => {
      fire('SIGINT');
      await advance(251);
      fire('SIGTERM');
    });
    expect(exits).toEqual([130]);
  });

  it('is terminated with the code of an internal error when its shutdown takes longer than 5 seconds', async () => {
    const { exits, stderr } = await run(['stuck'], async (world) => {
      world.fire('SIGTERM');
      await world.advance(4_899);
      expect(world.exits).toEqual([]);
      await world.advance(1);
    });
    expect(exits).toEqual([70]);
    expect(stderr).toMatch(/did not end within 4900 ms/);
  });

  it('ends in order after an uncaught error, and at once at a second one', async () => {
    const error = new Error('uncaught on purpose');
    const text = await run(['quiet'], ({ fire }) => fire('uncaughtException', error));
    expect([text.code, text.lines.at(-1), text.exits]).toEqual([70, 'ended', []]);
    expect(text.stderr).toMatch(/uncaught on purpose/);
    expect(text.stderr).not.toMatch(/at .*long-running/);
    const twice = await run(['stuck'], ({ fire }) => {
      for (const _ of [1, 2]) fire('uncaughtException', error);
    });
    expect(twice.exits).toEqual([70]);
  });

  it('prints one JSON object per line with --json', async () => {
    const { code, lines } = await run(['quiet', '--json'], ({ fire }) => fire('SIGTERM'));
    const printed = lines.map((line) => JSON.parse(line) as { event: string });
    expect([code, printed[0], printed.at(-1)]).toEqual([0, { event: 'ready' }, { event: 'ended' }]);
  });

  it('prints nothing more once its reader is gone, and ends', async () => {
    const { code, lines } = await run(['quiet'], ({ fire }) => fire('error', new Error('EPIPE')));
    expect([code, lines.at(-1)]).toEqual([0, expect.not.stringContaining('ended')]);
  });
});

it('every signal ends a long-running command in order, except those of a fault and those that end no process', () => {
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

describe.concurrent('a long-running program', () => {
  /** Starts it and calls `then` after its first event; resolves with its result. */
  async function run(args: readonly string[], then: (child: ChildProcess) => void = () => {}) {
    await using started = startProcess(process.execPath, [script, ...args]);
    await started.untilOutput('ready');
    then(started.child);
    const { stdout, ...ended } = await started.closed;
    return { ...ended, lines: stdout.trim().split('\n') };
  }

  const whole = { tags: 'large' } as const;
  it('ends cleanly after an uncaught error, with the code of an internal error', async () => {
    const { code, lines } = await run(['crash', '--json']);
    expect(code).toBe(70);
    const last = JSON.parse(lines.at(-1) ?? '') as object;
    expect(last).toMatchObject({ schema: 'gw/child/1', ok: false, data: null, error: { code: 'INTERNAL' } });
  });

  it('ends cleanly after a rejection that nobody handles', whole, async () => {
    const { code, lines, stderr } = await run(['reject']);
    expect([code, lines.at(-1)]).toEqual([70, 'ended']);
    expect(stderr).toMatch(/uncaught on purpose/);
  });

  it.each(endingSignals)('ends cleanly on %s', whole, async (signal) => {
    const { code, stderr, lines } = await run(['quiet'], (child) => child.kill(signal));
    expect({ code, stderr, last: lines.at(-1) }).toEqual({ code: 0, stderr: '', last: 'ended' });
  });

  it('is terminated when its shutdown hangs', whole, async () => {
    expect((await run(['stuck'], (child) => child.kill('SIGTERM'))).code).toBe(70);
  });

  it('ends when stdout is closed by its reader', whole, async () => {
    const { code, signal } = await run(['quiet'], (child) => child.stdout?.destroy());
    expect({ code, signal }).toEqual({ code: 0, signal: null });
  });
});
