import type { Clock } from '../../../src/lib/lifecycle/index.ts';
import type { FailedDrive } from '../../../src/lib/operator/view/failed-drive.ts';
import { createRunView } from '../../../src/lib/operator/view/run-view.ts';

/** No drive failed; `calls` are the ends of runs, each with its cause or null. */
export function standInFailedDrive(): FailedDrive & { readonly calls: (readonly [string, string | null])[] } {
  const calls: (readonly [string, string | null])[] = [];
  return {
    calls,
    now: () => null,
    start: async () => {},
    stop: async () => {},
    runs: () => {},
    ended: ({ id, failure }) => void calls.push([id, failure?.cause ?? null]),
    seen: async () => null,
    subscribe: () => ({ [Symbol.dispose]: () => {} }),
  };
}

/** The runs of a robot of which none failed before. */
export const runsOf = (clock: Pick<Clock, 'monotonicMs'>) => createRunView(clock, standInFailedDrive());
