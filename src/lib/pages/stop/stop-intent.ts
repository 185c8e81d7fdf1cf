import type { PageState } from '../model.ts';
import type { StopProgress } from '../ui.ts';

/**
 * A stop that a person has pressed: it is sent again and again until the gateway has answered that it is latched, or the
 * person gives up, whatever becomes of the gateway and of the page meanwhile.
 */
export interface StopIntent {
  /** For this robot; null: for that of the gateway, on a page that shows none. While a stop is open, the next attempt. */
  press(robot: string | null): void;
  /** Goes on with a stop that was pressed before the page was loaded anew. */
  resume(kept: KeptStop): void;
  giveUp(): void;
  /** What a new state says of the stop that was pressed here: acknowledged is a word, standing a deed. */
  onState(state: Pick<PageState, 'stop'>): void;
}

/** What a gateway has answered to a stop. */
export interface StopAnswer {
  readonly latched: boolean;
  readonly saved: PageState['stop']['saved'];
  /** Serial number of its robot; null: it does not name it. */
  readonly robot: string | null;
}

/** A stop that is not answered yet, as it outlives a reload. */
export interface KeptStop {
  readonly pressedForMs: number;
  /** Serial number of the robot that it is for; null: that of the gateway. */
  readonly robot: string | null;
}

/** What the browser does for it; times by its monotonic clock. */
export interface StopPorts {
  /** Sends one stop; null: no answer in time, or a refusal. */
  readonly send: () => Promise<StopAnswer | null>;
  readonly nowMs: () => number;
  /** Returns a function that cancels it. */
  readonly after: (ms: number, fn: () => void) => () => void;
  /** null: no stop is open. */
  readonly keep: (kept: KeptStop | null) => void;
  readonly show: (progress: StopProgress | null) => void;
}

/** From one attempt to the next while they fail at once. */
const AGAIN_MS = 500;
/** How often a person sees for how long the stop has not been answered; the first time this long after it was pressed. */
const SHOWN_EVERY_MS = 1_000;
/** A state from before the stop arrives within this time. */
const STALE_STATE_MS = 2_000;

const sent: StopProgress = {
  ...{ acknowledgedAfterMs: null, saved: 'pending', standingAfterMs: null, unansweredForMs: null },
};

export function createStopIntent({ send, nowMs, after, keep, show }: StopPorts): StopIntent {
  let open: { readonly sinceMs: number; readonly robot: string | null; hasFailed: boolean } | null = null;
  /** `isSeen`: a state has shown it. */
  let answered: { readonly sinceMs: number; readonly atMs: number; isSeen: boolean; progress: StopProgress } | null =
    null;
  let wake = () => {};

  function begin({ robot, pressedForMs }: KeptStop): void {
    const intent = { sinceMs: nowMs() - pressedForMs, robot, hasFailed: false };
    [open, answered] = [intent, null];
    keep({ robot, pressedForMs });
    showOpen(intent);
    const tick = () => {
      if (open !== intent) return;
      showOpen(intent);
      after(SHOWN_EVERY_MS, tick);
    };
    after(SHOWN_EVERY_MS, tick);
    void pursue(intent);
  }

  function showOpen({ sinceMs, hasFailed }: NonNullable<typeof open>): void {
    const forMs = nowMs() - sinceMs;
    show({ ...sent, unansweredForMs: hasFailed || forMs >= SHOWN_EVERY_MS ? forMs : null });
  }

  async function pursue(intent: NonNullable<typeof open>): Promise<void> {
    const { sinceMs, robot } = intent;
    for (;;) {
      const nextMs = nowMs() + AGAIN_MS;
      const answer = await send();
      if (open !== intent) return;
      if (answer?.latched && (robot ?? answer.robot) === (answer.robot ?? robot)) {
        const atMs = nowMs();
        const progress = { ...sent, acknowledgedAfterMs: atMs - sinceMs, saved: answer.saved };
        [open, answered] = [null, { sinceMs, atMs, isSeen: false, progress }];
        keep(null);
        show(progress);
        return;
      }
      intent.hasFailed = true;
      showOpen(intent);
      const { promise, resolve } = Promise.withResolvers<void>();
      const cancel = after(Math.max(0, nextMs - nowMs()), resolve);
      wake = resolve;
      await promise;
      cancel();
    }
  }

  return {
    press(robot) {
      if (open === null) begin({ robot, pressedForMs: 0 });
      else wake();
    },
    resume: begin,
    giveUp() {
      open = null;
      keep(null);
      show(null);
      wake();
    },
    onState({ stop: latch }) {
      if (answered === null) return;
      const { sinceMs, atMs, isSeen, progress } = answered;
      if (latch.latched) {
        const stands = latch.state === 'stopped' ? (progress.standingAfterMs ?? nowMs() - sinceMs) : null;
        answered.isSeen = true;
        answered.progress = { ...progress, saved: latch.saved, standingAfterMs: stands };
        show(answered.progress);
      } else if (isSeen || nowMs() - atMs >= STALE_STATE_MS) {
        answered = null;
        show(null);
      }
    },
  };
}
