import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../lifecycle/index.ts';

/** Project decisions: resident memory from which the engine prefers memory, and speed again. Idle it is 100 to 125 MB. */
const MEMORY_ABOVE_BYTES = 170_000_000;
const SPEED_BELOW_BYTES = 140_000_000;
const CHECK_MS = 5_000;

/**
 * The engine keeps the pages of its heap that a burst has freed. While it prefers memory to speed it returns them within
 * seconds, for a tenth of its speed, so it does only after a burst.
 */
export function preferMemoryAfterBursts(
  clock: Pick<Clock, 'every'>,
  residentBytes: () => number = process.memoryUsage.rss,
  setFlag: (flag: string) => void = setFlagsFromString,
): Disposable {
  let prefersMemory = false;
  return clock.every(CHECK_MS, () => {
    const bytes = residentBytes();
    if (prefersMemory ? bytes >= SPEED_BELOW_BYTES : bytes <= MEMORY_ABOVE_BYTES) return;
    prefersMemory = !prefersMemory;
    setFlag(prefersMemory ? '--optimize-for-size' : '--no-optimize-for-size');
  });
}
