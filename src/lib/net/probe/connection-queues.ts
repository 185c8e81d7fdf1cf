import { readFile } from 'node:fs/promises';
import { parseSocketTable, readSocketTables, type SocketPlace } from '../listening-sockets.ts';

/** An open TCP connection of this machine with its kernel queues. */
export interface ConnectionQueues {
  readonly local: SocketPlace;
  readonly remote: SocketPlace;
  /** Bytes written that the peer has not acknowledged. */
  readonly sendQueueBytes: number;
  /** Bytes received that the local program has not read. */
  readonly receiveQueueBytes: number;
}

const ESTABLISHED = '01';

/** Parses /proc/net/tcp or /proc/net/tcp6: the established connections. Other lines are skipped. */
export function parseConnectionQueues(text: string): ConnectionQueues[] {
  return parseSocketTable(text).flatMap(({ local, remote, state, queues }) => {
    if (state !== ESTABLISHED || remote === null || queues === null) return [];
    return [{ local, remote, sendQueueBytes: queues[0], receiveQueueBytes: queues[1] }];
  });
}

/** What `parse` finds in the TCP tables of the kernel. Throws FILE_UNREADABLE. */
export function readTcpTables<T>(parse: (text: string) => readonly T[]): Promise<T[]> {
  return readSocketTables(['/proc/net/tcp', '/proc/net/tcp6'], 'open', parse);
}

/** The open TCP connections of this machine; empty when the kernel's tables cannot be read. */
export async function readConnectionQueues(
  paths: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'],
): Promise<ConnectionQueues[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => '')));
  return texts.flatMap(parseConnectionQueues);
}
