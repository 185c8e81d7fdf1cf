import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

/** The built binary. `npm test` builds it first. */
export const gwBinary = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly input?: string;
  readonly node?: readonly string[];
  /** Descriptors in place of the pipes that are read here. */
  readonly stdout?: number;
  readonly stderr?: number;
}

function start(args: readonly string[], options: RunOptions): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  return spawn(process.execPath, [...(options.node ?? []), gwBinary, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME, NO_COLOR: '1', ...options.env },
    stdio: ['pipe', options.stdout ?? 'pipe', options.stderr ?? 'pipe'],
  });
}

/** Runs gw to its end. Killed, and a failure of the test, after `limitMs`. */
export async function runGw(args: readonly string[], options: RunOptions & { limitMs?: number } = {}): Promise<Ended> {
  const child = start(args, options);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  child.stdin?.end(options.input ?? '');
  const timer = setTimeout(() => child.kill('SIGKILL'), options.limitMs ?? 30_000);
  const [code, signal] = await once(child, 'close');
  clearTimeout(timer);
  return { code, signal, stdout, stderr };
}

export interface Running extends AsyncDisposable {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when stdout holds this text; rejects when gw ends or `limitMs` passes before. */
  untilOutput(text: string, limitMs?: number): Promise<void>;
  /** Sends the signal and resolves when gw has ended. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; tookMs: number }>;
}

/** Starts gw as a long-running program; ended by its pid at the end of the scope. */
export function startGw(args: readonly string[], options: RunOptions = {}): Running {
  const child = start(args, options);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  const closed = once(child, 'close');
  const ended = () => child.exitCode !== null || child.signalCode !== null;

  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    async untilOutput(text, limitMs = 20_000) {
      const began = performance.now();
      while (!stdout.includes(text)) {
        if (ended()) throw new Error(`gw ${args.join(' ')} ended before saying '${text}':\n${stdout}\n${stderr}`);
        if (performance.now() - began > limitMs) throw new Error(`gw did not say '${text}':\n${stdout}\n${stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async end(signal = 'SIGTERM') {
      const began = performance.now();
      if (!ended()) child.kill(signal);
      await closed;
      return { code: child.exitCode, tookMs: performance.now() - began };
    },
    async [Symbol.asyncDispose]() {
      if (ended()) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 6_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** A port on 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
