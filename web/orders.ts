import type { Actions } from '../src/lib/pages/ui.ts';

const ORDER_MS = 5_000;

/** The ends of a run: none is asked about, and none is refused. None waits for a connection to be sent later. */
export function orders() {
  return {
    endRun: () => void send('POST', '/api/fahrt/ende', {}, ORDER_MS),
    runSeen: (id) => void send('POST', '/api/fahrt/gesehen', { id }, ORDER_MS),
    pauseTour: () => void send('POST', '/api/touren/lauf/pause', {}, ORDER_MS),
  } satisfies Partial<Actions>;
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
