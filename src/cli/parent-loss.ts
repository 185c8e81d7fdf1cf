import { type Clock, systemClock } from '../lib/lifecycle/index.ts';

/** Polling interval of the parent process. Project decision. */
const CHECK_INTERVAL_MS = 250;

/**
 * Calls back once when the parent process has ended, whichever it is: a shell, a script, or the gateway.
 */
export function onParentLoss(onLoss: () => void, clock: Pick<Clock, 'every'> = systemClock): Disposable {
  const parent = process.ppid;
  const looking = clock.every(CHECK_INTERVAL_MS, () => {
    if (process.ppid === parent) return;
    looking[Symbol.dispose]();
    onLoss();
  });
  return looking;
}
