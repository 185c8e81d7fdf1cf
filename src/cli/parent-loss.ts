/** Polling interval of the parent process. Project decision. */
const CHECK_INTERVAL_MS = 250;

/**
 * Calls back once when the parent process has ended. On an older Node the parent is `gw` itself, whose SIGKILL does not
 * reach this process.
 */
export function onParentLoss(onLoss: () => void): Disposable {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    onLoss();
  }, CHECK_INTERVAL_MS);
  looking.unref();
  return { [Symbol.dispose]: () => clearInterval(looking) };
}
