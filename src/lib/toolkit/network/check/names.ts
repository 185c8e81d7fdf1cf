import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { runSystemProgram } from '../../child-process.ts';

/** Grace period after the caller's timeout, so that a late answer is not reported as an unknown name. */
const KILL_AFTER_MS = 50;

/** The distinct addresses in the output of `getent ahosts NAME`, in its order. Other text is skipped. */
export function parseAddresses(text: string): string[] {
  const addresses = text.split('\n').map((line) => line.trim().split(/\s+/)[0] ?? '');
  return [...new Set(addresses.filter((address) => isIP(address) !== 0))];
}

/**
 * Queries the resolver of this machine by `getent`. Node's own call cannot be cancelled: without a name server it would
 * delay the exit of the process, and four of them would block the thread pool. Rejects when the name is unknown.
 */
export async function lookUpName(host: string, timeoutMs: number): Promise<{ readonly address: string }[]> {
  try {
    const output = await runSystemProgram('getent', ['ahosts', '--', host], timeoutMs + KILL_AFTER_MS);
    return parseAddresses(output).map((address) => ({ address }));
  } catch (error) {
    // A machine without getent.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return lookup(host, { all: true });
    throw error;
  }
}
