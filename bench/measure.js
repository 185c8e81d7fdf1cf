// Shared by the benchmarks: medians, alternating timings of whole processes, child processes with a ready line.
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { endProcess } from '../test/process.ts';

export const gw = fileURLToPath(new URL('../bin/run.js', import.meta.url));

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[Math.floor(middle)];
}

/** Runs the commands in turn (A B A B …) after one warm-up each; milliseconds per run. */
export function timeInTurn(commands, runs) {
  const samples = commands.map(() => []);
  for (let run = -1; run < runs; run += 1) {
    for (const [index, argv] of commands.entries()) {
      const began = performance.now();
      const child = spawnSync(process.execPath, argv, { stdio: 'ignore' });
      const took = performance.now() - began;
      if (child.status !== 0) throw new Error(`${argv.join(' ')} ended with ${child.status}`);
      if (run >= 0) samples[index].push(took);
    }
  }
  return samples;
}

/** Starts a program and resolves when `isReady` accepts a line of its stdout. Ended by its pid on dispose. */
export async function startChild(command, argv, isReady, deadlineMs = 20_000, options = {}) {
  const began = performance.now();
  const child = spawn(command, argv, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  let loggedBytes = 0;
  const ready = await new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`${argv.join(' ')} was not ready within ${deadlineMs} ms: ${output}`)),
      deadlineMs,
    );
    let rest = '';
    child.stdout.on('data', (chunk) => {
      rest += chunk;
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (isReady(line)) {
          clearTimeout(timer);
          resolve(performance.now() - began);
        }
      }
    });
    child.stderr?.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-2000);
      loggedBytes += chunk.length;
    });
    child.on('exit', (code) => reject(new Error(`${argv.join(' ')} ended with ${code}: ${output}`)));
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const result = () => ({ code: child.exitCode, signal: child.signalCode });
  /** SIGTERM, then SIGKILL after a deadline. */
  async function end() {
    const began = performance.now();
    if (isOver()) return { tookMs: 0, wasRequested: false, ...result() };
    await endProcess(child);
    return { tookMs: performance.now() - began, wasRequested: true, ...result() };
  }
  return {
    pid: child.pid,
    readyMs: ready,
    isOver,
    /** Bytes received on its stderr, if it is read here. */
    loggedBytes: () => loggedBytes,
    /** @returns {Promise<{tookMs: number, wasRequested: boolean, code: number | null, signal: string | null}>} */
    end,
    async [Symbol.asyncDispose]() {
      await end();
    },
  };
}

export const isJsonReady = (line) => line.includes('"ready"');

/** Resident memory of a process in MB, of a million bytes each (Linux). */
export function residentMb(pid) {
  return memoryMb(pid, 'VmRSS');
}

/** Peak resident memory since the start of the process in MB. */
export function peakResidentMb(pid) {
  return memoryMb(pid, 'VmHWM');
}

function memoryMb(pid, key) {
  const match = new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(match[1]) * 1024) / 1e6;
}

/** Bytes that a process has written to disk (Linux). */
export function diskBytes(pid) {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
}

/**
 * Milliseconds that the main thread of a process ran, that it was runnable without a core, and that the other threads
 * ran (Linux).
 */
export function threadMs(pid) {
  const sum = { ran: 0, queued: 0, others: 0 };
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ran, queued] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    if (Number(thread) !== pid) sum.others += ran / 1e6;
    else Object.assign(sum, { ran: ran / 1e6, queued: queued / 1e6 });
  }
  return sum;
}
