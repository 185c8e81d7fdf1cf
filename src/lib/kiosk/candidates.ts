import type { Neighbour } from '../net/index.ts';
import type { PortState } from './lock.ts';

/** An address at which something answered on the ADB port. It may be the tablet, or not. */
export interface Candidate {
  readonly address: string;
  readonly port: PortState;
  /** As the neighbour table had it after the answer; null: not visible. */
  readonly mac: string | null;
  /** Whether a looked-for MAC address has this address. */
  readonly hasMac: boolean;
}

/**
 * The candidates, those with a looked-for MAC address first. A MAC address points to a device and does not identify it:
 * an entry can be old, and a MAC address can be set. Silent addresses are none.
 */
export function byHardware(
  answers: readonly { readonly address: string; readonly port: PortState }[],
  table: readonly Neighbour[],
  macs: readonly string[],
): Candidate[] {
  const macOf = new Map(table.map(({ address, mac }) => [address, mac]));
  return answers
    .filter(({ port }) => port !== 'silent')
    .map(({ address, port }) => {
      const mac = macOf.get(address) ?? null;
      return { address, port, mac, hasMac: mac !== null && macs.includes(mac) };
    })
    .sort((a, b) => Number(b.hasMac) - Number(a.hasMac));
}
