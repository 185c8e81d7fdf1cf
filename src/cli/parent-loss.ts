import { type Clock, systemClock } from '../lib/lifecycle/index.ts';

/** Polling interval of the parent process. Project decision. */
const CHECK_INTERVAL_MS = 250;

/**
 * Calls back once when the parent process has ended. On an older Node the parent is `gw` itself, whose SIGKILL does not
 * reach this process.
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
