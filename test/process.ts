import { type ChildProcess, spawn } from 'node:child_process';
import { HANG_MS, until } from './waiting.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly cwd?: string | undefined;
  /** The whole environment of the child; by default that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Written to stdin, which is closed then; null leaves it open. By default there is no stdin. */
  readonly input?: string | null | undefined;
  /** Descriptors in place of the pipes that are read here. */
  readonly stdout?: number | undefined;
  readonly stderr?: number | undefined;
  /** In a process group of its own. */
  readonly detached?: boolean | undefined;
}

export interface Started extends AsyncDisposable {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  hasEnded(): boolean;
  /** Its end, with everything that it printed. Rejects when it could not be started. */
  readonly closed: Promise<Ended>;
  /** Resolves when stdout contains this text; rejects when the program ends before. */
  untilOutput(text: string): Promise<void>;
}

/** More than the five seconds in which gw ends in order. */
const KILL_AFTER_MS = 60_000;

/** Starts a program; at the end of the scope it is ended by its process id. */
export function startProcess(program: string, args: readonly string[], options: StartOptions = {}): Started {
  const { cwd, env, input, detached = false } = options;
  const child = spawn(program, args, {
    cwd,
    env: env as NodeJS.ProcessEnv | undefined,
    detached,
    stdio: [input === undefined ? 'ignore' : 'pipe', options.stdout ?? 'pipe', options.stderr ?? 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // Not every program reads its input to the end.
  child.stdin?.on('error', () => {});
  if (typeof input === 'string') child.stdin?.end(input);
  const { promise: closed, resolve, reject } = Promise.withResolvers<Ended>();
  child.once('error', reject);
  child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  closed.catch(() => {});

  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    hasEnded: () => hasEnded(child),
    closed,
    async untilOutput(text) {
      await until(
        () => stdout.includes(text) || hasEnded(child),
        (is) => is,
      );
      // What it printed last may still be in the pipe.
      if (!stdout.includes(text) && !(await closed).stdout.includes(text)) {
        throw new Error(`${program} ${args.join(' ')} ended without '${text}':\n${stdout}\n${stderr}`);
      }
    },
    async [Symbol.asyncDispose]() {
      await endProcess(child);
      if (child.pid !== undefined) await closed;
    },
  };
}

/** Runs a program to its end; one that hangs is killed. */
export async function runProcess(
  program: string,
  args: readonly string[],
  { hangMs = HANG_MS, ...options }: StartOptions & { readonly hangMs?: number } = {},
): Promise<Ended> {
  const { child, closed } = startProcess(program, args, options);
  const timer = setTimeout(() => child.kill('SIGKILL'), hangMs);
  try {
    return await closed;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a child process by its process id: SIGTERM, and SIGKILL where it hangs. Resolves when it has exited. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  await exited;
  clearTimeout(timer);
}

function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}
