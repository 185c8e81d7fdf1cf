import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface InsideOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Empty by default. */
  readonly input?: string;
  /** Node by default. */
  readonly program?: string;
}

/** Runs node inside a namespace; ended by its pid at the end of the scope. */
export function inside(side: string, args: readonly string[], options: InsideOptions = {}) {
  const child = spawn('ip', ['netns', 'exec', side, options.program ?? process.execPath, ...args], {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const closed = once(child, 'close');
  return {
    closed,
    output: () => stdout,
    errors: () => stderr,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    async untilOutput(text: string) {
      const began = performance.now();
      while (!stdout.includes(text)) {
        if (child.exitCode !== null || performance.now() - began > 20_000)
          throw new Error(`never '${text}': ${stdout}\n${stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 6_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Runs node inside a namespace to its end. */
export async function run(side: string, args: readonly string[], options: InsideOptions = {}) {
  const began = performance.now();
  await using child = inside(side, args, options);
  const [code, signal] = (await child.closed) as [number, NodeJS.Signals | null];
  return { code, signal, stdout: child.output(), stderr: child.errors(), tookMs: performance.now() - began };
}
