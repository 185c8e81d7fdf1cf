import type { PageState } from '../src/lib/pages/model.ts';
import { situationOf } from '../src/lib/pages/surface/situation.ts';
import { type Actions, type Interaction, isStopOpen } from '../src/lib/pages/ui.ts';
import { type Choice, orderPath } from '../src/lib/pages/viewer.ts';
import { send } from './orders.ts';

/** Project decisions: a second touch so soon answers nothing, and a question without an answer closes. */
const DEAD_MS = 500;
const OPEN_MS = 20_000;
const ORDER_MS = 5_000;
/** A finger is no point. */
const FINGER_PX = 24;

export interface QuestionOptions {
  readonly state: () => PageState;
  readonly ui: () => Interaction;
  readonly show: (change: Partial<Interaction>) => void;
}

/** The question before a drive. It is about what the person saw: it closes when that changes, and is answered once. */
export function createQuestion({ state, ui, show }: QuestionOptions) {
  let asked = '';
  let openedAt = 0;
  let isSending = false;
  let press: { readonly at: number; readonly finger: { readonly x: number; readonly y: number } | null } | null = null;
  let timers: number[] = [];
  /** The choice whose place on the screen was found. */
  let placed: Choice | null = null;
  /** What had the focus when it was asked. */
  let asker: Element | null = null;

  function wait(): void {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
  }

  function close(closed: Interaction['closed'] = null): void {
    wait();
    // Whoever comes after a question without an answer sees all stations.
    show({
      choice: null,
      order: null,
      isArmed: false,
      closed,
      ...(closed === 'late' && { query: '', isPadOpen: false }),
    });
    if (closed !== null) timers = [setTimeout(() => show({ closed: null }), OPEN_MS)];
  }

  function closeLater(): void {
    wait();
    timers = [setTimeout(() => close('late'), OPEN_MS)];
    const armsMs = openedAt + DEAD_MS - performance.now();
    if (armsMs > 0) timers.push(setTimeout(() => show({ isArmed: true }), armsMs));
  }

  function choose(choice: Choice | null): void {
    // Its answer belongs to the question that was confirmed.
    if (isSending) return;
    if (choice === null || isStopOpen(ui().stop)) {
      close();
      return;
    }
    if (ui().choice === null) asker = document.activeElement;
    openedAt = performance.now();
    asked = situationOf(state(), choice);
    show({ choice, order: null, isArmed: false, closed: null });
    closeLater();
  }

  /** A press that began before the question was there for a while does not answer it. */
  function isMeant(): boolean {
    const isEarly = press !== null && press.at >= openedAt && press.at < openedAt + DEAD_MS;
    return ui().isArmed && !isEarly;
  }

  /** The answer of a person to the question, once. */
  async function answered(choice: Choice, path: string, body: object): Promise<void> {
    if (isSending || ui().order !== null || !isMeant() || situationOf(state(), choice) !== asked) return;
    isSending = true;
    wait();
    show({ order: { state: 'sending' } });
    const answer = await send('POST', path, { ...body, seen: state().id }, ORDER_MS);
    isSending = false;
    // The page has lost its gateway meanwhile, and says so.
    if (ui().choice === null) return;
    if (answer?.ok) {
      close();
      show({ query: '' });
    } else {
      const code = (answer?.body as { readonly error?: { readonly code?: string } } | undefined)?.error?.code;
      show({ order: { state: 'refused', code: code ?? 'NO_ANSWER' } });
      closeLater();
    }
  }

  function confirm(choice: Choice, although: string | null): void {
    void answered(choice, orderPath(choice), { ...targetOf(choice), ...(although !== null && { although }) });
  }

  function enqueue(station: string): void {
    const { choice } = ui();
    if (choice !== null) void answered(choice, '/api/lieferung/warteschlange', { station });
  }

  /** Never under the finger that asked: at the lower end, or where that would be so, at the upper one. */
  function painted(): void {
    const { choice } = ui();
    if (choice === placed) return;
    placed = choice;
    if (choice === null) giveFocusBack();
    const sheet = document.querySelector<HTMLElement>('[role=alertdialog]');
    if (sheet === null) return;
    const finger = press?.finger ?? null;
    const isUnder = () => {
      const go = sheet.querySelector('.go')?.getBoundingClientRect();
      if (go === undefined || finger === null) return false;
      const [x, y] = [finger.x, finger.y];
      const isBeside = x < go.left - FINGER_PX || x > go.right + FINGER_PX;
      return !isBeside && y > go.top - FINGER_PX && y < go.bottom + FINGER_PX;
    };
    sheet.removeAttribute('data-upper');
    if (isUnder()) sheet.setAttribute('data-upper', '');
    sheet.querySelector<HTMLElement>('h2')?.focus({ preventScroll: true });
  }

  /** The question had it, so nothing has it now; what asked may be gone from the list. */
  function giveFocusBack(): void {
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) return;
    const isThere = asker?.isConnected === true && asker !== document.body;
    const back = isThere ? asker : document.querySelector('#orders-title');
    (back as HTMLElement | SVGElement | null)?.focus({ preventScroll: true });
  }

  const began = (event: PointerEvent | KeyboardEvent) => {
    if (event instanceof KeyboardEvent && event.repeat) return;
    const finger = event instanceof PointerEvent ? { x: event.clientX, y: event.clientY } : null;
    press = { at: performance.now(), finger };
  };
  window.addEventListener('pointerdown', began, { capture: true });
  window.addEventListener('keydown', began, { capture: true });
  window.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && ui().choice !== null) choose(null);
  });
  // A person who types is there.
  window.addEventListener('input', ({ target }) => {
    if (target instanceof Element && target.closest('.sheet') !== null && ui().order === null) closeLater();
  });

  return {
    acts: { choose, confirm, enqueue } satisfies Partial<Actions>,
    painted,
    close: () => close(),
    onState(): void {
      const { choice, order } = ui();
      if (choice !== null && order === null && situationOf(state(), choice) !== asked) close('changed');
    },
  };
}

function targetOf(choice: Choice): object {
  switch (choice.kind) {
    case 'dock':
      return { dock: true };
    case 'station':
      return { station: choice.name };
    case 'next':
      return { arrival: choice.arrival, next: choice.id };
    default:
      return { tour: choice.name };
  }
}
