import type { PageState } from '../src/lib/pages/model.ts';
import { needsLight, SHIFT_MS, shiftAt } from '../src/lib/pages/surface/dimming.ts';
import type { Interaction } from '../src/lib/pages/ui.ts';

/** The touch that wakes, and what follows it so soon, presses nothing. */
const WAKING_MS = 500;
/** The page does not move under a finger. */
const UNTOUCHED_MS = 10_000;

const beginnings: readonly string[] = ['pointerdown', 'mousedown', 'touchstart', 'keydown', 'wheel'];
const all = [...beginnings, 'pointerup', 'mouseup', 'touchend', 'keyup', 'click', 'dblclick'];

export interface DimmingOptions {
  readonly state: () => PageState;
  readonly ui: () => Interaction;
  /** A question without an answer is not left open in the dark. */
  readonly onDim: () => void;
}

/** Dims the tablet while it is not used, and moves the page against burn-in; returns what to call after each change. */
export function createDimming({ state, ui, onDim }: DimmingOptions): () => void {
  const { body, documentElement: root } = document;
  let usedAt = performance.now();
  let wokenAt = Number.NEGATIVE_INFINITY;
  let isDimmed = false;
  let isSwallowing = false;
  let steps = 0;

  function wake(): void {
    if (!isDimmed) return;
    isDimmed = false;
    wokenAt = performance.now();
    root.removeAttribute('data-dimmed');
  }

  function check(): void {
    if (needsLight(state(), ui())) usedAt = performance.now();
    const { dimAfterMs } = state().screen;
    const isUnused = dimAfterMs !== null && performance.now() - usedAt >= dimAfterMs;
    if (!isUnused || ui().isSilent) wake();
    else if (!isDimmed) {
      isDimmed = true;
      onDim();
      root.setAttribute('data-dimmed', '');
    }
  }

  /** STOPP works at any time; any other touch on a dimmed page only wakes it. */
  function onInput(event: Event): void {
    const now = performance.now();
    const isBeginning = beginnings.includes(event.type);
    if (isBeginning) usedAt = now;
    const isStop = event.target instanceof Element && event.target.closest('.stop-button') !== null;
    if (!isStop && (isBeginning || isDimmed)) isSwallowing = isDimmed || now - wokenAt < WAKING_MS;
    wake();
    if (isStop || !isSwallowing) return;
    event.stopImmediatePropagation();
    if (event.cancelable) event.preventDefault();
  }

  function shift(): void {
    const { shifts } = state().screen;
    if (shifts && performance.now() - usedAt < UNTOUCHED_MS) return;
    body.toggleAttribute('data-shifts', shifts);
    const { x, y } = shiftAt(steps);
    steps += 1;
    body.style.setProperty('--shift-x', `${x}px`);
    body.style.setProperty('--shift-y', `${y}px`);
  }

  for (const type of all) window.addEventListener(type, onInput, { capture: true, passive: false });
  body.toggleAttribute('data-shifts', state().screen.shifts);
  setInterval(shift, SHIFT_MS);
  return check;
}
