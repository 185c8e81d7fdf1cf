import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs node inside a namespace; ended by its pid at the end of the scope. */
export function inside(side: string, args: readonly string[]) {
  const child = spawn('ip', ['netns', 'exec', side, process.execPath, ...args], {
    env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const closed = once(child, 'close');
  return {
    closed,
    output: () => stdout,
    async says(text: string) {
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
export async function run(side: string, args: readonly string[]) {
  const began = performance.now();
  await using child = inside(side, args);
  const [code] = (await child.closed) as [number];
  return { code, stdout: child.output(), tookMs: performance.now() - began };
}
