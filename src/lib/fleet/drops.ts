import { readFileSync } from 'node:fs';
import { HEARTBEAT_PORT } from './wire.ts';

/**
 * Datagrams that the kernel threw away because nobody on this machine took them off the port in time, since its
 * sockets were opened; null where the kernel does not say (it is no Linux). @source proc(5), /proc/net/udp
 */
export function droppedDatagrams(path = '/proc/net/udp'): number | null {
  try {
    return dropsIn(readFileSync(path, 'utf8'), HEARTBEAT_PORT);
  } catch {
    return null;
  }
}

const LOCAL_ADDRESS = 1;

/** The column `drops` of every socket of this port; null when the table has no such column. */
export function dropsIn(table: string, port: number): number | null {
  const [head = '', ...rows] = table.split('\n');
  // Two of the titles stand above parts of one column each: what is last in the head is last in a row.
  if (head.trim().split(/\s+/).at(-1) !== 'drops') return null;
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let sum = 0;
  for (const row of rows) {
    const cells = row.trim().split(/\s+/);
    if (cells[LOCAL_ADDRESS]?.endsWith(ending) !== true) continue;
    const drops = Number(cells.at(-1));
    if (Number.isSafeInteger(drops) && drops >= 0) sum += drops;
  }
  return sum;
}
