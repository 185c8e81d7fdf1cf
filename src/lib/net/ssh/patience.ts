import type { Clock } from '../../lifecycle/index.ts';

/** A limit on waiting for the other side, which stands still while a person is asked. */
export interface Patience extends Disposable {
  /** Runs what waits for a person; afterwards the other side has the whole time again. */
  without<T>(work: () => Promise<T>): Promise<T>;
}

export function createPatience(clock: Clock, ms: number, onEnd: () => void): Patience {
  let timer: Disposable | undefined = clock.after(ms, onEnd);
  let asking = 0;
  let isOver = false;
  const stop = () => {
    timer?.[Symbol.dispose]();
    timer = undefined;
  };
  return {
    async without(work) {
      asking += 1;
      stop();
      try {
        return await work();
      } finally {
        asking -= 1;
        if (asking === 0 && !isOver) timer = clock.after(ms, onEnd);
      }
    },
    [Symbol.dispose]() {
      isOver = true;
      stop();
    },
  };
}
