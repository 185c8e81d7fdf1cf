import { asGwError } from '../error/index.ts';
import { aborted, firstOf, type Log } from '../lifecycle/index.ts';
import type { CloudLink, Connection } from './link/model.ts';
import type { Outbox } from './outbox/model.ts';

/** Publishes the kept messages over each connection of the link until it ends. Never rejects. */
export async function drainOverLink(
  outbox: Pick<Outbox, 'drain'>,
  link: Pick<CloudLink, 'connection' | 'subscribe'>,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  let current: { readonly connection: Connection; readonly done: Promise<void> } | null = null;
  const over = (connection: Connection | null) => {
    if (connection === null || current?.connection === connection) return;
    const before = current?.done;
    const done = (async () => {
      await before;
      await outbox.drain(connection, firstOf(signal, connection.ended));
    })().catch((error: unknown) => {
      if (!connection.ended.aborted && !signal.aborted) {
        log.error({ error: asGwError(error).message }, 'publishing from the outbox failed');
      }
    });
    current = { connection, done };
  };
  using _each = link.subscribe(over);
  over(link.connection());
  await aborted(signal);
  await (current as { readonly done: Promise<void> } | null)?.done;
}
