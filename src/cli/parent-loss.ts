/** How often is looked whether whoever started this program is still there. Project decision. */
const CHECK_INTERVAL_MS = 250;

/**
 * Tells once when the program that started this one has ended: on an older Node that is the first half of `gw` itself,
 * and a `kill -9` there reaches nothing here. Also the end of a shell that was not waited for.
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
