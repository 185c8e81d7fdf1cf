import { asGwError, GwError } from '../error/index.ts';
import { type Clock, createWakeup, type Log, onAbort, untilAborted } from '../lifecycle/index.ts';
import type { Outbox, OutgoingMessage } from './outbox/model.ts';

/** Records that wait in memory; beyond that new ones are refused. Project decision. */
export const MAX_WAITING = 100;
const RETRY_MS = 5_000;

interface Records {
  /** Keeps a record for the cloud; resolves when it is in the outbox. Rejects with OUTBOX_REFUSED when too many wait. */
  add(body: OutgoingMessage['body']): Promise<void>;
  /** Gives the records to this outbox, in order, until the signal is aborted. */
  run(outbox: Pick<Outbox, 'append'>, signal: AbortSignal): Promise<void>;
}

/**
 * Records for the cloud, in memory until the outbox takes them: a stop that the broker has kept arrives before the outbox
 * is open, and stops also while the disk fails.
 */
export function createRecords(options: { readonly topic: string; readonly clock: Clock; readonly log: Log }): Records {
  const { topic, clock, log } = options;
  const waiting: { readonly body: OutgoingMessage['body']; readonly accepted: () => void }[] = [];
  const wakeup = createWakeup();
  let lost = 0;
  let isFailing = false;

  return {
    add(body) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (waiting.length >= MAX_WAITING) {
        lost += 1;
        log.error({ kind: body.kind, lost }, 'a record for the cloud is not kept: too many wait for the outbox');
        reject(new GwError('OUTBOX_REFUSED', `${MAX_WAITING} records wait for the outbox already.`));
      } else {
        waiting.push({ body, accepted: resolve });
        wakeup.wake();
      }
      return promise;
    },

    async run(outbox, signal) {
      using _aborted = onAbort(signal, wakeup.wake);
      while (!signal.aborted) {
        const [next] = waiting;
        if (next === undefined) {
          await wakeup.wait();
          continue;
        }
        try {
          // A disk that does not answer must not hide at the end which records wait.
          await untilAborted(signal, outbox.append({ class: 'record', topic, body: next.body }));
          waiting.shift();
          next.accepted();
          isFailing = false;
        } catch (error) {
          if (signal.aborted) break;
          if (!isFailing) log.error({ error: asGwError(error).message }, 'a record for the cloud waits for the outbox');
          isFailing = true;
          await clock.sleep(RETRY_MS, signal).catch(() => {});
        }
      }
      if (waiting.length > 0) {
        log.error({ records: waiting.map(({ body }) => body) }, 'records for the cloud may not have been kept');
      }
    },
  };
}
