import { readFileSync } from 'node:fs';
import { HEARTBEAT_PORT } from '../site/index.ts';

/** What the kernel says of the sockets of this machine that have the port of the heartbeat. */
export interface PortTable {
  /** Datagrams that it threw away because nobody took them off a socket in time, since those sockets were opened. */
  readonly dropped: number;
  /** Sockets that are open for every address: what is sent to one address reaches only the one that opened last. */
  readonly openToAll: number;
}

/** null where the kernel does not say (it is no Linux). @source proc(5), /proc/net/udp */
export function readPortTable(path = '/proc/net/udp'): PortTable | null {
  try {
    return portTableIn(readFileSync(path, 'utf8'), HEARTBEAT_PORT);
  } catch {
    return null;
  }
}

const LOCAL_ADDRESS = 1;
const ANY = '00000000';

/** Of every row of this port; null when the table has no column `drops`. */
export function portTableIn(table: string, port: number): PortTable | null {
  const [head = '', ...rows] = table.split('\n');
  // Two of the titles stand above parts of one column each: what is last in the head is last in a row.
  if (head.trim().split(/\s+/).at(-1) !== 'drops') return null;
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let dropped = 0;
  let openToAll = 0;
  for (const row of rows) {
    const cells = row.trim().split(/\s+/);
    const local = cells[LOCAL_ADDRESS];
    if (local?.endsWith(ending) !== true) continue;
    const drops = Number(cells.at(-1));
    if (Number.isSafeInteger(drops) && drops >= 0) dropped += drops;
    if (local === ANY + ending) openToAll += 1;
  }
  return { dropped, openToAll };
}
