import type { PageState } from '../src/lib/pages/model.ts';
import type { Actions } from '../src/lib/pages/ui.ts';
import { send } from './orders.ts';

const ORDER_MS = 5_000;
/** The gateway counts only while a page says so every 2.5 s; a state arrives each second. */
const SAY_MS = 800;

/** What a person does to deliveries besides the question, and the word of this page that it shows a countdown. */
export function deliveries(state: () => PageState) {
  let saidAt = Number.NEGATIVE_INFINITY;
  const post = (path: string, body: object) => void send('POST', `/api/lieferung/${path}`, body, ORDER_MS);
  return {
    acts: {
      arrivalOver: (arrival) => post('weiter', { arrival, seen: state().id }),
      removeQueued: (id) => post('warteschlange/entfernen', { id }),
      endCountdown: (id) => post('ansage/ende', { id }),
      release: () => post('automatik', { seen: state().id }),
    } satisfies Partial<Actions>,
    /** A hidden page does not show it. */
    painted(isSilent: boolean): void {
      const countdown = state().delivery?.countdown;
      const now = performance.now();
      if (countdown == null || isSilent || document.visibilityState !== 'visible' || now - saidAt < SAY_MS) return;
      if (document.querySelector('.countdown') === null) return;
      saidAt = now;
      post('ansage', { id: countdown.id });
    },
  };
}
