import { asGwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { type Dialer, resolveHost } from '../net/index.ts';
import type { ClockAnswer } from '../net/path/index.ts';
import { type Site, type TimeEndpoint, timeEndpoints } from '../site/index.ts';

/** Asks each endpoint of the site file for its time once, side by side; null where the site file has no `time`. */
export function createClockReader(
  site: Pick<Site, 'time' | 'enrolment' | 'cloud'>,
  { clock, dialer }: { readonly clock: Clock; readonly dialer: Dialer },
): ((signal: AbortSignal) => Promise<readonly ClockAnswer[]>) | null {
  const endpoints = timeEndpoints(site);
  if (endpoints.length === 0) return null;
  return async (signal) => {
    // The daemon loads it only if used.
    const { readClock, readSiteCa } = await import('../net/path/index.ts');
    const ask = async ({ host, port, ca }: TimeEndpoint): Promise<ClockAnswer> => {
      try {
        const trusted = (await readSiteCa(ca.path, ca.key))?.pem ?? 'system';
        const plan = { host, port, trusted, credentials: null, alpn: null, application: 'https' } as const;
        const resolve = (name: string, timeoutMs: number) => resolveHost(name, { timeoutMs, clock });
        return await readClock(plan, { dialer, clock, signal, resolve });
      } catch (error) {
        signal.throwIfAborted();
        return { kind: 'not-read', why: 'other', detail: `${host}: ${asGwError(error).message}` };
      }
    };
    return await Promise.all(endpoints.map(ask));
  };
}
