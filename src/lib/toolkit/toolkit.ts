import type { Clock } from '../lifecycle/index.ts';
import { systemClock } from '../lifecycle/index.ts';
import { type Dialer, directDialer, type Ssh } from '../net/index.ts';
import type { Site } from '../site/index.ts';

/** The dependencies of every check: site, dialer and clock. */
export interface Toolkit {
  readonly site: Site;
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** The SSH connection of `dialer`, which can run programs on the remote host; absent for direct connections. */
  readonly ssh?: Ssh | undefined;
}

/** Abort signal and progress of a running check. */
export interface CheckContext {
  readonly signal: AbortSignal;
  /** Receives one line on the current step, for stderr. */
  readonly onProgress: (text: string) => void;
}

/** Reads again and again until `isDone` or until `withinMs` has passed; the last value, and how long that took. */
export async function poll<T>(
  { clock }: Pick<Toolkit, 'clock'>,
  { signal }: Pick<CheckContext, 'signal'>,
  { everyMs, withinMs }: { readonly everyMs: number; readonly withinMs: number },
  read: () => Promise<T>,
  isDone: (value: T) => boolean,
): Promise<{ readonly value: T; readonly waitedMs: number }> {
  const beganMs = clock.monotonicMs();
  for (;;) {
    const value = await read();
    const waitedMs = Math.round(clock.monotonicMs() - beganMs);
    if (isDone(value) || waitedMs >= withinMs) return { value, waitedMs };
    await clock.sleep(everyMs, signal);
  }
}

/** `ssh`: all connections to the robot go through it. */
export async function openToolkit(sitePath: string, ssh?: Ssh, clock: Clock = systemClock): Promise<Toolkit> {
  const { loadSite } = await import('../site/index.ts');
  return { site: await loadSite(sitePath), dialer: ssh?.dialer ?? directDialer, clock, ssh };
}
