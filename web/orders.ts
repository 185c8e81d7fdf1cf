import type { PageState } from '../src/lib/pages/model.ts';
import type { Actions, Interaction, StopProgress } from '../src/lib/pages/ui.ts';

/** A stop is sent again this often while nothing answers. */
const STOP_TRIES = 5;
const STOP_TRY_MS = 2_000;
const ORDER_MS = 5_000;

export interface OrdersOptions {
  readonly state: () => PageState;
  readonly ui: () => Interaction;
  readonly show: (change: Partial<Interaction>) => void;
}

/** The stop of a page, and the ends of a run: none is asked about, and none is refused. */
export function orders({ state, ui, show }: OrdersOptions) {
  let pressedAt = 0;
  const sincePressed = () => performance.now() - pressedAt;

  async function stop(): Promise<void> {
    pressedAt = performance.now();
    const began: StopProgress = {
      acknowledgedAfterMs: null,
      saved: 'pending',
      standingAfterMs: null,
      isUnanswered: false,
    };
    show({ stop: began, choice: null });
    for (let tries = 0; tries < STOP_TRIES; tries += 1) {
      const answer = await send('POST', '/api/stopp', { reason: 'STOPP' }, STOP_TRY_MS);
      const latch = (answer?.body as { readonly stop?: PageState['stop'] } | undefined)?.stop;
      if (answer?.ok && latch?.latched === true) {
        show({ stop: { ...began, acknowledgedAfterMs: sincePressed(), saved: latch.saved } });
        return;
      }
      show({ stop: { ...began, isUnanswered: true } });
    }
  }

  return {
    stop: () => void stop(),
    endRun: () => void send('POST', '/api/fahrt/ende', {}, ORDER_MS),
    pauseTour: () => void send('POST', '/api/touren/lauf/pause', {}, ORDER_MS),
    /** What a new state says of the stop that was pressed here: acknowledged is a word, standing a deed. */
    progress(): Partial<Interaction> {
      const { stop: pressed } = ui();
      const { stop: latch } = state();
      if (pressed === null || pressed.acknowledgedAfterMs === null) return {};
      if (!latch.latched) return { stop: null };
      const stands = latch.state === 'stopped' ? (pressed.standingAfterMs ?? sincePressed()) : null;
      return { stop: { ...pressed, saved: latch.saved, standingAfterMs: stands } };
    },
  } satisfies Partial<Actions> & { progress(): Partial<Interaction> };
}

/** The answer of the gateway; null: none within this time. */
export async function send(method: string, path: string, body: object, limitMs: number) {
  const late = new AbortController();
  const limit = setTimeout(() => late.abort(), limitMs);
  try {
    const reply = await fetch(path, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: late.signal,
    });
    return { ok: reply.ok, body: (await reply.json()) as unknown };
  } catch {
    return null;
  } finally {
    clearTimeout(limit);
  }
}
