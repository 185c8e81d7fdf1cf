import type { Clock } from '../lifecycle/index.ts';
import type { SimEvent } from './sim.result.ts';

/** What a start waits for now. */
export interface Stages extends Disposable {
  enter(what: string): void;
}

/** A start takes less than a second; on a slow machine it says so often what it waits for. */
const SAY_MS = 5_000;

export function createStages(
  clock: Pick<Clock, 'monotonicMs' | 'every'>,
  onEvent: (event: SimEvent) => void,
  first: string,
): Stages {
  let what = first;
  let sinceMs = clock.monotonicMs();
  const saying = clock.every(SAY_MS, () => {
    onEvent({ event: 'waiting', what, ms: Math.round(clock.monotonicMs() - sinceMs) });
  });
  return {
    enter(next) {
      [what, sinceMs] = [next, clock.monotonicMs()];
    },
    [Symbol.dispose]: () => saying[Symbol.dispose](),
  };
}
