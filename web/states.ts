import type { PageState, Posed } from '../src/lib/pages/model.ts';

/** The gateway sends a state at least once a second. */
const SILENT_MS = 2_500;
const CHECK_MS = 250;
/** A refused stream does not reconnect by itself. */
const RETRY_MS = 2_000;

export interface StatesOptions {
  readonly onState: (state: PageState) => void;
  /** Nothing else of the state before it has changed. */
  readonly onPose: (posed: Posed) => void;
  /** No state has arrived for a while, or the stream has ended. */
  readonly onSilence: () => void;
}

/** Follows the states of the gateway for as long as the page is open. */
export function followStates({ onState, onPose, onSilence }: StatesOptions): void {
  let receivedAt = now();

  function follow(): void {
    const source = new EventSource('/api/events');
    source.addEventListener('state', (event) => {
      receivedAt = now();
      document.body.setAttribute('data-follows', '');
      document.body.removeAttribute('data-silent');
      onState(JSON.parse(event.data) as PageState);
    });
    // Says nothing of the rest: only a state ends a silence.
    source.addEventListener('pose', (event) => onPose(JSON.parse(event.data) as Posed));
    source.addEventListener('error', () => {
      silence();
      if (source.readyState === EventSource.CLOSED) setTimeout(follow, RETRY_MS);
    });
  }

  function silence(): void {
    document.body.setAttribute('data-silent', '');
    onSilence();
  }

  function check(): void {
    if (silentForMs(receivedAt) > SILENT_MS) silence();
  }

  follow();
  setInterval(check, CHECK_MS);
  // A tablet shows outdated values after sleep, until a timer runs again.
  document.addEventListener('visibilitychange', check);
  window.addEventListener('pageshow', check);
}

interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

function now(): Moment {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** The monotonic clock of a browser stands while its device sleeps, and the other one may be set; the larger span counts. */
function silentForMs(since: Moment): number {
  const { monotonicMs, wallMs } = now();
  return Math.max(monotonicMs - since.monotonicMs, wallMs - since.wallMs);
}
