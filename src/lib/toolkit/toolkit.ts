import type { Clock } from '../lifecycle/index.ts';
import { systemClock } from '../lifecycle/index.ts';
import { type Dialer, directDialer, type Ssh } from '../net/index.ts';
import type { Site } from '../site/index.ts';

/** What every check of the technician's life stands on, opened once: the site, the way to dial, and time. */
export interface Toolkit {
  readonly site: Site;
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** The machine that `dialer` goes through, on which programs can be run; absent when it goes straight. */
  readonly ssh?: Ssh | undefined;
}

/** What a check is told while it runs. */
export interface CheckContext {
  readonly signal: AbortSignal;
  /** One line for a person about what happens now; goes to stderr. */
  readonly onProgress: (text: string) => void;
}

/** `ssh`: everything of the robot is reached through it. */
export async function openToolkit(sitePath: string, ssh?: Ssh): Promise<Toolkit> {
  const { loadSite } = await import('../site/index.ts');
  return { site: await loadSite(sitePath), dialer: ssh?.dialer ?? directDialer, clock: systemClock, ssh };
}
