import { readFile } from 'node:fs/promises';
import { GwError } from '../error/index.ts';

/** One entry of the machine's ARP table: the hardware address of an IPv4 address. */
export interface Neighbour {
  readonly address: string;
  /** Lower case with colons; null for an incomplete entry. */
  readonly mac: string | null;
  /** Name of the network interface. */
  readonly device: string;
}

const ipv4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const hardware = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;
/** ATF_COM: the entry is complete. */
const COMPLETE = 0x2;

/**
 * Parses /proc/net/arp. Invalid lines are skipped: a line that cannot be parsed proves nothing about the chassis.
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

/** The ARP table of this machine. Read-only, sends nothing. Throws FILE_UNREADABLE. */
export async function readNeighbourTable(path = '/proc/net/arp'): Promise<Neighbour[]> {
  try {
    return parseNeighbourTable(await readFile(path, 'utf8'));
  } catch (cause) {
    throw new GwError('FILE_UNREADABLE', `The ARP table ${path} cannot be read.`, {
      remedy: 'Run this on Linux, on a machine in the robot segment.',
      cause,
    });
  }
}
