import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Ended, runProcess, type Started, type StartOptions, startProcess } from '../process.ts';

/** The built binary. `npm test` builds it first. */
export const gwBinary = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

interface RunOptions extends Pick<StartOptions, 'cwd' | 'stdout' | 'stderr'> {
  readonly env?: Record<string, string>;
  readonly input?: string;
  readonly node?: readonly string[];
}

function commandOf(args: readonly string[], { node = [], env, ...options }: RunOptions) {
  const { PATH = '', HOME = '' } = process.env;
  return {
    args: [...node, gwBinary, ...args],
    options: { ...options, env: { PATH, HOME, NO_COLOR: '1', ...env } },
  };
}

/** Runs gw to its end. */
export async function runGw(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const command = commandOf(args, options);
  return await runProcess(process.execPath, command.args, { input: '', ...command.options });
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout holds this text; rejects when gw ends before. */
  untilOutput(text: string): Promise<void>;
  /** Sends the signal and resolves when gw has ended. */
  end(signal?: NodeJS.Signals): Promise<Ended>;
}

/** Starts gw as a long-running program; ended by its pid at the end of the scope. */
export function startGw(args: readonly string[], options: RunOptions = {}): Running & Pick<Started, 'closed'> {
  const command = commandOf(args, options);
  const started = startProcess(process.execPath, command.args, { input: null, ...command.options });
  return {
    ...started,
    async end(signal = 'SIGTERM') {
      if (!started.hasEnded()) started.child.kill(signal);
      return await started.closed;
    },
  };
}
