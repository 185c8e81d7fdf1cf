import type { Clock } from '../../lifecycle/index.ts';

export interface ActivityOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'every'>;
  /** What runs now, where a line is redrawn. */
  readonly onProgress: (text: string) => void;
  /** The same where lines follow each other, so less often. */
  readonly onWaiting: (text: string) => void;
}

/** What runs now. While it lasts, it says for how long it has been waited for, and for what. */
export interface Activity extends Disposable {
  /** `waitsFor`: what is known of the wait, read whenever it is said. */
  begin(what: string, waitsFor?: () => string): void;
  /** What a check says of itself. */
  readonly detail: (text: string) => void;
}

/** A shorter wait needs no words. */
const LONG_MS = 10_000;
const TICK_MS = 1_000;
/** Between two lines of one wait, twice as long each time up to this. */
const MAX_PAUSE_MS = 60_000;

export function createActivity({ clock, onProgress, onWaiting }: ActivityOptions): Activity {
  let what = '';
  let waitsFor: (() => string) | undefined;
  let detail = '';
  let beganMs = clock.monotonicMs();
  let nextLineMs = LONG_MS;
  const text = (waitedMs: number) => {
    const isLong = waitedMs >= LONG_MS;
    const more = [detail, isLong ? waitsFor?.() : ''].filter(Boolean).join('; ');
    const head = isLong ? `${what}: ${Math.floor(waitedMs / 1_000)} s` : what;
    return more === '' ? head : `${head}${isLong ? '; ' : ': '}${more}`;
  };
  const tick = () => {
    const waitedMs = clock.monotonicMs() - beganMs;
    if (what === '' || waitedMs < LONG_MS) return;
    onProgress(text(waitedMs));
    if (waitedMs < nextLineMs) return;
    nextLineMs = waitedMs + Math.min(waitedMs, MAX_PAUSE_MS);
    onWaiting(text(waitedMs));
  };
  const ticking = clock.every(TICK_MS, tick);
  return {
    begin(next, of) {
      [what, waitsFor, detail, beganMs, nextLineMs] = [next, of, '', clock.monotonicMs(), LONG_MS];
      onProgress(what);
    },
    detail(next) {
      detail = next;
      onProgress(text(clock.monotonicMs() - beganMs));
    },
    [Symbol.dispose]: () => ticking[Symbol.dispose](),
  };
}
