import { BlockList, isIP } from 'node:net';
import { type Clock, systemClock } from '../lifecycle/index.ts';
import { DialError, type Dialer, type DialFailure, type DialOptions, type Endpoint } from './dialer.ts';

export type Reach =
  | {
      readonly reached: true;
      readonly tookMs: number;
      /** Local address of the connection; null when the dialer does not expose it. */
      readonly localAddress: string | null;
    }
  | { readonly reached: false; readonly failure: DialFailure; readonly tookMs: number };

/** Opens a TCP connection and closes it again. Throws what is not a DialError, such as the reason of the signal. */
export async function reachEndpoint(
  dialer: Dialer,
  endpoint: Endpoint,
  options: DialOptions & { readonly clock?: Clock },
): Promise<Reach> {
  const { clock = systemClock, ...limits } = options;
  const began = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - began);
  try {
    const stream = await dialer.dial(endpoint, limits);
    stream.on('error', () => {});
    const { localAddress = null } = stream as { readonly localAddress?: string };
    stream.destroy();
    return { reached: true, tookMs: tookMs(), localAddress };
  } catch (error) {
    if (error instanceof DialError) return { reached: false, failure: error.failure, tookMs: tookMs() };
    throw error;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an address is a loopback address (`127.0.0.0/8`, `::1`, also IPv4-mapped). */
export function isLoopback(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
