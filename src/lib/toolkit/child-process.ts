import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../lifecycle/index.ts';

const MAX_OUTPUT_BYTES = 64 * 1024;
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };

/**
 * Runs a program of the operating system and returns its stdout; nothing of the caller's environment reaches it. SIGKILL
 * after `timeoutMs`. Rejects with the error of `execFile` on another exit code than 0, a signal, more than 64 KiB of
 * output, or a missing program (`ENOENT`).
 */
export function runSystemProgram(program: string, args: readonly string[], timeoutMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    env: ENVIRONMENT,
    timeout: Math.ceil(timeoutMs),
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    encoding: 'utf8',
  } as const;
  execFile(program, args, options, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  return promise;
}

/** Sends the signal unless the child has ended: its process id may belong to another process then. */
export function signalChild(child: ChildProcess, signal: NodeJS.Signals): void {
  if (isRunning(child)) child.kill(signal);
}

/** The same for a child in a session of its own, with all programs that it has started. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined || !isRunning(child)) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended meanwhile.
  }
}

/** Sends SIGTERM, and SIGKILL after `withinMs`; resolves when the child has exited. */
export async function endChild(child: ChildProcess, clock: Pick<Clock, 'after'>, withinMs: number): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  using _limit = clock.after(withinMs, () => signalChild(child, 'SIGKILL'));
  await exited;
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
