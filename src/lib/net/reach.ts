import { BlockList, isIP } from 'node:net';
import { type Clock, systemClock } from '../lifecycle/index.ts';
import { DialError, type Dialer, type DialFailure, type Endpoint, type Lookup, systemLookup } from './dialer.ts';

/** The result of a name resolution. */
export type Resolution =
  /** The host is an address literal. */
  | { readonly kind: 'literal'; readonly addresses: readonly [string] }
  | { readonly kind: 'resolved'; readonly addresses: readonly string[]; readonly tookMs: number }
  /** No address: the name does not exist, or no name server could be asked. */
  | { readonly kind: 'unknown'; readonly tookMs: number }
  | { readonly kind: 'no-answer'; readonly tookMs: number };

/** Queries the machine's resolver, for at most `timeoutMs`. Never throws: an unknown name is a result. */
export async function resolveHost(
  host: string,
  options: { readonly timeoutMs: number; readonly clock?: Clock; readonly lookup?: Lookup },
): Promise<Resolution> {
  if (isIP(host) !== 0) return { kind: 'literal', addresses: [host] };
  const { clock = systemClock, lookup: query = systemLookup } = options;
  const began = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - began);
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  using _timer = clock.after(options.timeoutMs, () => resolve('late'));
  try {
    const answer = await Promise.race([query(host), late]);
    if (answer === 'late') return { kind: 'no-answer', tookMs: tookMs() };
    const addresses = [...new Set(answer.map((entry) => entry.address))];
    return addresses.length > 0
      ? { kind: 'resolved', addresses, tookMs: tookMs() }
      : { kind: 'unknown', tookMs: tookMs() };
  } catch {
    return { kind: 'unknown', tookMs: tookMs() };
  }
}

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
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal; readonly clock?: Clock },
): Promise<Reach> {
  const { clock = systemClock, timeoutMs, signal } = options;
  const began = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - began);
  try {
    const stream = await dialer.dial(endpoint, { timeoutMs, ...(signal && { signal }) });
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
