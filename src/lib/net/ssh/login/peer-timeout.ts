import type { Clock } from '../../../lifecycle/index.ts';

/** A timeout for the peer that is paused while the user is asked. */
export interface PeerTimeout extends Disposable {
  /** Runs work that waits for the user; afterwards the timeout starts anew. */
  pausedDuring<T>(work: () => Promise<T>): Promise<T>;
}

export function createPeerTimeout(clock: Clock, ms: number, onEnd: () => void): PeerTimeout {
  let timer: Disposable | undefined = clock.after(ms, onEnd);
  let asking = 0;
  let isOver = false;
  const stop = () => {
    timer?.[Symbol.dispose]();
    timer = undefined;
  };
  return {
    async pausedDuring(work) {
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
