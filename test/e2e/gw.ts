import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Ended, runProcess, type Started, type StartOptions, startProcess } from '../process.ts';

/** The built binary. `npm test` builds it first. */
export const gwBinary = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

const oldVersions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })`;
/** Flags with which the first process is an older Node.js, which starts gw again on the runtime that came along. */
export const olderNode = ['--import', `data:text/javascript,${encodeURIComponent(oldVersions)}`];

/** The process ids of what this process has started. */
export function childrenOf({ pid = 0 }: ChildProcess): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** false also for one that has ended and that no parent has asked about: it has no command line any more. */
export function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

export interface RunOptions extends Pick<StartOptions, 'cwd' | 'stdout' | 'stderr'> {
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
