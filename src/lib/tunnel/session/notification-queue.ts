import { asGwError } from '../../error/index.ts';
import type { Log } from '../../lifecycle/index.ts';
import type { EndCause } from './session.ts';
import type { Notified } from './state.ts';

/** Notifications that wait for those before them; more are refused. Project decision. */
export const MAX_WAITING_NOTIFICATIONS = 16;

export interface Waiting {
  readonly notified: Notified;
  /** The gate of the cloud has received its token before. */
  readonly isRepeated: boolean;
  /** Set when a person ends support before this notification was handled. */
  cause: EndCause | null;
}

/** Notifications that wait. They are handled one after the other, so that there is never a second proxy. */
export function createNotificationQueue(handle: (item: Waiting) => Promise<void>, log: Log) {
  const waiting: Waiting[] = [];
  let handling: Promise<void> = Promise.resolve();
  let handled: Waiting | null = null;

  function next(): void {
    handling = handling.then(async () => {
      handled = waiting.shift() ?? null;
      if (handled === null) return;
      await handle(handled).catch((error: unknown) => {
        log.error({ error: asGwError(error).message }, 'a tunnel notification could not be handled');
      });
      handled = null;
    });
  }

  return {
    /** False: too many wait, and this one is not handled. */
    add(notified: Notified, isRepeated: boolean): boolean {
      if (waiting.length >= MAX_WAITING_NOTIFICATIONS) return false;
      waiting.push({ notified, isRepeated, cause: null });
      next();
      return true;
    },

    /** Whether none waits and none is being handled. */
    isIdle: () => handled === null && waiting.length === 0,

    /** Resolves when those that are here now are handled. Never rejects. */
    allHandled: () => handling,

    /** Sessions of those that are here now end at once; the first cause counts. */
    endAll(cause: EndCause): void {
      for (const item of handled === null ? waiting : [handled, ...waiting]) item.cause ??= cause;
    },
  };
}
