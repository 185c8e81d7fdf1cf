import { render } from 'preact';
import type { PageState } from '../src/lib/pages/model.ts';
import { NotStopped } from '../src/lib/pages/stop/not-stopped.tsx';
import {
  createStopIntent,
  type KeptStop,
  type StopAnswer,
  type StopIntent,
} from '../src/lib/pages/stop/stop-intent.ts';
import { textsOf } from '../src/lib/pages/texts/catalogue.ts';
import type { StopProgress } from '../src/lib/pages/ui.ts';
import type { Viewer } from '../src/lib/pages/viewer.ts';
import { send } from './orders.ts';

/** A gateway that does not answer for so long is asked again. */
const ATTEMPT_MS = 2_000;
const KEPT = 'gw-stop';

/** The stop of a page, with what covers it while the stop is not answered; goes on with one from before a reload. */
export function startStop(
  root: HTMLElement,
  viewer: Viewer,
  onProgress: (stop: StopProgress | null) => void,
): StopIntent {
  const { t, f } = textsOf(viewer.language, 'UTC');
  const cover = document.body.appendChild(document.createElement('div'));
  function show(stop: StopProgress | null): void {
    const isOpen = stop !== null && stop.unansweredForMs !== null;
    document.body.toggleAttribute('data-not-stopped', isOpen);
    for (const part of root.querySelectorAll<HTMLElement>('header, main')) part.inert = isOpen;
    render(<NotStopped stop={stop} giveUp={intent.giveUp} t={t} f={f} />, cover);
    onProgress(stop);
  }
  const intent = createStopIntent({
    send: sendStop,
    nowMs: () => performance.now(),
    after(ms, fn) {
      const timer = setTimeout(fn, ms);
      return () => clearTimeout(timer);
    },
    keep,
    show,
  });
  const kept = readKept();
  if (kept !== null) intent.resume(kept);
  return intent;
}

/** For a page whose STOPP is a form alone: the answer leads where that of the form would. */
export function startStopForm(root: HTMLElement, viewer: Viewer, onPress = () => {}): void {
  const intent = startStop(root, viewer, (stop) => {
    if (stop !== null && stop.acknowledgedAfterMs !== null) location.assign('/');
  });
  root.querySelector('form.stop')?.addEventListener('submit', (event) => {
    event.preventDefault();
    onPress();
    intent.press(null);
  });
}

async function sendStop(): Promise<StopAnswer | null> {
  const answer = await send('POST', '/api/stopp', { reason: 'STOPP' }, ATTEMPT_MS);
  if (!answer?.ok) return null;
  const { stop, robot } = (answer.body ?? {}) as { readonly stop?: PageState['stop']; readonly robot?: unknown };
  return {
    latched: stop?.latched === true,
    saved: stop?.saved ?? 'pending',
    robot: typeof robot === 'string' ? robot : null,
  };
}

/** By the wall clock, which goes on while a page is loaded. A browser may refuse to keep anything. */
function keep(kept: KeptStop | null): void {
  try {
    if (kept === null) sessionStorage.removeItem(KEPT);
    else sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, at: Date.now() }));
  } catch {
    // It then lasts as long as the page.
  }
}

function readKept(): KeptStop | null {
  try {
    const { pressedForMs, robot, at } = JSON.parse(sessionStorage.getItem(KEPT) ?? '') as KeptStop & { at: number };
    return { pressedForMs: pressedForMs + Math.max(0, Date.now() - at), robot };
  } catch {
    return null;
  }
}
