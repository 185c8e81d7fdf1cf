import { readFile } from 'node:fs/promises';
import { addressOfHex } from '../listening-sockets.ts';

/** An open TCP connection of this machine with its kernel queues. */
export interface ConnectionQueues {
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
  /** Bytes written that the peer has not acknowledged. */
  readonly sendQueueBytes: number;
  /** Bytes received that the local program has not read. */
  readonly receiveQueueBytes: number;
}

const ESTABLISHED = '01';
const place = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/i;
const queues = /^([0-9A-F]{8}):([0-9A-F]{8})$/i;

/**
 * Parses /proc/net/tcp or /proc/net/tcp6: the established connections. Other lines are skipped.
 * @source proc(5)
 */
export function parseConnectionQueues(text: string): ConnectionQueues[] {
  const found: ConnectionQueues[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, here = '', there = '', state, held = ''] = line.trim().split(/\s+/);
    const [local, remote] = [placeOf(here), placeOf(there)];
    const [, send = '', receive = ''] = queues.exec(held) ?? [];
    if (state !== ESTABLISHED || local === null || remote === null || send === '') continue;
    found.push({
      local,
      remote,
      sendQueueBytes: Number.parseInt(send, 16),
      receiveQueueBytes: Number.parseInt(receive, 16),
    });
  }
  return found;
}

function placeOf(text: string): { readonly address: string; readonly port: number } | null {
  const [, address = '', port = ''] = place.exec(text) ?? [];
  return address === '' ? null : { address: addressOfHex(address), port: Number.parseInt(port, 16) };
}

/** The open TCP connections of this machine; empty when the kernel's tables cannot be read. */
export async function readConnectionQueues(
  paths: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'],
): Promise<ConnectionQueues[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => '')));
  return texts.flatMap(parseConnectionQueues);
}
