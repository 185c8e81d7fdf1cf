import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

const MOST_BYTES = 64 * 1024;
/** After whoever waits has given up, so that being late is not taken for not being known. */
const KILL_AFTER_MS = 50;

/** The addresses in what `getent ahosts NAME` prints, each once, in its order. Other words are left out. */
export function parseAddresses(text: string): string[] {
  const addresses = text.split('\n').map((line) => line.trim().split(/\s+/)[0] ?? '');
  return [...new Set(addresses.filter((address) => isIP(address) !== 0))];
}

/**
 * Asks the resolver of this machine, as every program here does, by `getent` of the C library. Node's own call cannot be
 * given up: without a name server it would hold the end of the process, and four of them would hold every file.
 * Rejects when the name is not known.
 */
export async function lookUpName(host: string, timeoutMs: number): Promise<{ readonly address: string }[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' },
    timeout: Math.ceil(timeoutMs + KILL_AFTER_MS),
    killSignal: 'SIGKILL',
    maxBuffer: MOST_BYTES,
    encoding: 'utf8',
  } as const;
  execFile('getent', ['ahosts', '--', host], options, (error, stdout) =>
    error === null ? resolve(stdout) : reject(error),
  );
  try {
    return parseAddresses(await promise).map((address) => ({ address }));
  } catch (error) {
    // A machine without that program.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return lookup(host, { all: true });
    throw error;
  }
}
