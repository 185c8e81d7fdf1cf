import type { Clock } from '../../../lifecycle/index.ts';

/** The clock of the service: monotonic milliseconds, which a fault can stop. */
export function createServiceTime(clock: Pick<Clock, 'monotonicMs'>) {
  let stoppedAtMs: number | null = null;
  let lostMs = 0;
  return {
    ms: () => (stoppedAtMs ?? clock.monotonicMs()) - lostMs,
    isStopped: () => stoppedAtMs !== null,
    setStopped(isStopped: boolean): void {
      if (isStopped === (stoppedAtMs !== null)) return;
      if (isStopped) stoppedAtMs = clock.monotonicMs();
      else if (stoppedAtMs !== null) {
        lostMs += clock.monotonicMs() - stoppedAtMs;
        stoppedAtMs = null;
      }
    },
  };
}
