import { readdir, readFile } from 'node:fs/promises';
import { readOpenSockets } from '../../net/probe/index.ts';

const PID = /^\d+$/;
/** Between the gateway and its proxy: none, or a newer runtime that gw has started itself on. */
const MAX_ANCESTORS = 4;

/**
 * Process ids of the tunnel proxies of the gateway that listens on `port` of this machine. Null where that process cannot
 * be seen: it belongs to another user.
 */
export async function readProxyProcesses(port: number): Promise<readonly number[] | null> {
  const sockets = await readOpenSockets().catch(() => []);
  const gateways = sockets
    .filter((socket) => socket.protocol === 'tcp' && socket.port === port)
    .flatMap(({ owners }) => owners.map(({ pid }) => pid));
  if (gateways.length === 0) return null;
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((name) => PID.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => ((await isProxy(pid)) && (await descendsFrom(pid, gateways)) ? [pid] : [])),
  );
  return found.flat();
}

/** An ended process that was not awaited yet has an empty command line. */
async function isProxy(pid: number): Promise<boolean> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  return words.some((word, at) => word === 'tunnel' && words[at + 1] === 'proxy');
}

async function descendsFrom(pid: number, ancestors: readonly number[]): Promise<boolean> {
  let at = pid;
  for (let n = 0; n < MAX_ANCESTORS; n += 1) {
    const parent = await parentOf(at);
    if (parent === null) return false;
    if (ancestors.includes(parent)) return true;
    at = parent;
  }
  return false;
}

/** The name of the program is in parentheses and may contain anything. */
async function parentOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const parent = /^ \S (\d+) /.exec(stat.slice(stat.lastIndexOf(')') + 1))?.[1];
  return parent === undefined ? null : Number(parent);
}
