import type { PageState } from '../src/lib/pages/model.ts';
import type { Actions, Interaction } from '../src/lib/pages/ui.ts';
import { send } from './orders.ts';

const ORDER_MS = 5_000;
/** The gateway counts only while a page says so every 2.5 s; a state arrives each second. */
const SAY_MS = 800;

/** What a person does to deliveries besides the question, and the word of this page that it shows a countdown. */
export function deliveries(state: () => PageState, show: (change: Partial<Interaction>) => void) {
  let saidAt = Number.NEGATIVE_INFINITY;
  /** Of the countdown that a person has touched; and while the gateway has not answered that. */
  let touched: string | null = null;
  let owed: string | null = null;
  let isEnding = false;

  /** Sent again with each state until it is answered, also when the drive has begun meanwhile: it ends that one too. */
  async function end(id: string): Promise<void> {
    [touched, owed] = [id, id];
    if (isEnding) return;
    isEnding = true;
    const answer = await send('POST', '/api/lieferung/ansage/ende', { id }, ORDER_MS);
    isEnding = false;
    if (answer?.ok === true && owed === id) owed = null;
  }

  async function ask(path: string, body: object): Promise<void> {
    show({ deliveryRefused: null });
    const answer = await send('POST', `/api/lieferung/${path}`, body, ORDER_MS);
    if (answer?.ok === true) return;
    const { error } = (answer?.body ?? {}) as { readonly error?: { readonly code?: string } };
    show({ deliveryRefused: error?.code ?? 'NO_ANSWER' });
  }

  return {
    acts: {
      arrivalOver: (arrival) => void ask('weiter', { arrival, seen: state().id }),
      removeQueued: (id) => void ask('warteschlange/entfernen', { id }),
      endCountdown: (id) => void end(id),
      release: () => void ask('automatik', { seen: state().id }),
    } satisfies Partial<Actions>,
    /** A page that is hidden, on which the touch would not be felt, or that a person has touched, does not show it. */
    painted(isSilent: boolean): void {
      if (owed !== null) return void end(owed);
      const countdown = state().delivery?.countdown;
      const now = performance.now();
      if (countdown == null || isSilent || document.visibilityState !== 'visible' || now - saidAt < SAY_MS) return;
      if (touched === countdown.id || !isTouchable(document.querySelector('.countdown button'))) return;
      saidAt = now;
      void send('POST', '/api/lieferung/ansage', { id: countdown.id, seen: state().id }, ORDER_MS);
    },
  };
}

/** Whether its middle is on the screen, with nothing over it. */
function isTouchable(button: Element | null): boolean {
  if (button === null) return false;
  const { left, right, top, bottom } = button.getBoundingClientRect();
  return button.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
}
