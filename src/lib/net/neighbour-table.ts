import { readFile } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

/** One line of the machine's neighbour table: which hardware address answered for which IPv4 address. */
export interface Neighbour {
  readonly address: string;
  /** Lower case with colons; null while the machine has asked and nobody has answered. */
  readonly mac: string | null;
  /** Name of the network interface. */
  readonly device: string;
}

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const hardware = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;
/** Flag of a completed entry; without it the hardware address is not known. */
const COMPLETE = 0x2;

/**
 * Reads the text of /proc/net/arp. Lines that are none are left out: the table belongs to the kernel, and a line
 * that we do not understand proves nothing about the chassis.
 */
export function parseNeighbourTable(text: string): Neighbour[] {
  const neighbours: Neighbour[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [address, , flags, mac, , device] = line.trim().split(/\s+/);
    if (address === undefined || flags === undefined || mac === undefined || device === undefined) continue;
    if (!ipv4.test(address) || !/^0x[0-9a-f]+$/i.test(flags)) continue;
    const lower = mac.toLowerCase();
    const complete = (Number.parseInt(flags, 16) & COMPLETE) !== 0 && hardware.test(lower);
    neighbours.push({ address, mac: complete && lower !== '00:00:00:00:00:00' ? lower : null, device });
  }
  return neighbours;
}

/** The neighbour table of this machine. Only reads; nothing is sent. Throws FILE_UNWRITABLE where there is none. */
export async function readNeighbourTable(path = '/proc/net/arp'): Promise<Neighbour[]> {
  try {
    return parseNeighbourTable(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new GwError('FILE_UNWRITABLE', `The neighbour table ${path} cannot be read.`, {
      remedy: 'Run this on Linux, on a machine in the robot segment.',
      cause,
    });
  }
}
