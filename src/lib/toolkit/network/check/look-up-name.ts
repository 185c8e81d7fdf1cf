import { isIP } from 'node:net';
import { systemLookup } from '../../../net/index.ts';
import type { NameLookup } from '../../../net/path/index.ts';
import { runSystemProgram } from '../../child-process.ts';

/** Grace period after the caller's timeout, so that a late answer is not reported as an unknown name. */
const KILL_AFTER_MS = 50;

/**
 * Queries the resolver of this machine by `getent`. Node's own call cannot be cancelled: without a name server it would
 * delay the exit of the process, and four of them would block the thread pool. Rejects when the name is unknown.
 */
export async function lookUpName(...[host, record, timeoutMs]: Parameters<NameLookup>): ReturnType<NameLookup> {
  if (record === 'AAAA') return await systemLookup(host, record);
  try {
    const database = record === 'A' ? 'ahostsv4' : 'ahosts';
    const output = await runSystemProgram('getent', [database, '--', host], timeoutMs + KILL_AFTER_MS);
    return parseAddresses(output).map((address) => ({ address }));
  } catch (error) {
    // A machine without getent.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return await systemLookup(host, record);
    throw error;
  }
}

/** The distinct addresses in the output of `getent ahosts NAME`, in its order. Other text is skipped. */
export function parseAddresses(text: string): string[] {
  const addresses = text.split('\n').map((line) => line.trim().split(/\s+/)[0] ?? '');
  return [...new Set(addresses.filter((address) => isIP(address) !== 0))];
}
