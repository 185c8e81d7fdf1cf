import { readFileSync } from 'node:fs';
import { HEARTBEAT_PORT } from '../site/index.ts';

/** Kernel counters of the sockets of this machine on the heartbeat port. */
export interface PortTable {
  /** Datagrams dropped because a receive buffer was full, since those sockets were opened. */
  readonly dropped: number;
  /** Sockets bound to 0.0.0.0: a unicast datagram reaches only the one bound last. */
  readonly openToAll: number;
}

/** null when not on Linux. @source proc(5), /proc/net/udp */
export function readPortTable(path = '/proc/net/udp'): PortTable | null {
  try {
    return portTableIn(readFileSync(path, 'utf8'), HEARTBEAT_PORT);
  } catch {
    return null;
  }
}

const LOCAL_ADDRESS = 1;
const ANY = '00000000';

/** Sums up the rows of this port; null when the table has no column `drops`. */
export function portTableIn(table: string, port: number): PortTable | null {
  const [head = '', ...rows] = table.split('\n');
  // Some header titles cover parts of one column, so columns are matched from the end.
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
