import type { Clock } from '../lifecycle/index.ts';
import { systemClock } from '../lifecycle/index.ts';
import { type Dialer, directDialer } from '../net/index.ts';
import type { Site } from '../site/index.ts';

/** What every check of the technician's life stands on, opened once: the site, the way to dial, and time. */
export interface Toolkit {
  readonly site: Site;
  readonly dialer: Dialer;
  readonly clock: Clock;
}

/** What a check is told while it runs. */
export interface CheckContext {
  readonly signal: AbortSignal;
  /** One line for a person about what happens now; goes to stderr. */
  readonly onProgress: (text: string) => void;
}

export async function openToolkit(sitePath: string): Promise<Toolkit> {
  const { loadSite } = await import('../site/index.ts');
  return { site: await loadSite(sitePath), dialer: directDialer, clock: systemClock };
}
