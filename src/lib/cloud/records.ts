import { asGwError } from '../error/index.ts';
import { type Clock, createWakeup, type Log, onAbort, untilAborted } from '../lifecycle/index.ts';
import type { Outbox, OutgoingMessage } from './outbox/model.ts';

/** Records that wait in memory; beyond that new ones are lost. Project decision. */
export const MAX_WAITING = 100;
const RETRY_MS = 5_000;

export interface Records {
  /** Keeps a record for the cloud. Never throws: what it is about has happened already. */
  add(body: OutgoingMessage['body']): void;
  /** Gives the records to this outbox, in order, until the signal is aborted. */
  run(outbox: Pick<Outbox, 'append'>, signal: AbortSignal): Promise<void>;
}

/**
 * Records for the cloud, in memory until the outbox takes them: a stop that the broker has kept arrives before the outbox
 * is open, and stops also while the disk fails.
 */
export function createRecords(options: { readonly topic: string; readonly clock: Clock; readonly log: Log }): Records {
  const { topic, clock, log } = options;
  const waiting: OutgoingMessage['body'][] = [];
  const wakeup = createWakeup();
  let lost = 0;
  let isFailing = false;

  return {
    add(body) {
      if (waiting.length >= MAX_WAITING) {
        lost += 1;
        log.error({ kind: body.kind, lost }, 'a record for the cloud is lost: too many wait for the outbox');
        return;
      }
      waiting.push(body);
      wakeup.wake();
    },

    async run(outbox, signal) {
      using _aborted = onAbort(signal, wakeup.wake);
      while (!signal.aborted) {
        const [body] = waiting;
        if (body === undefined) {
          await wakeup.wait();
          continue;
        }
        try {
          // A disk that does not answer must not hide at the end which records wait.
          await untilAborted(signal, outbox.append({ class: 'record', topic, body }));
          waiting.shift();
          isFailing = false;
        } catch (error) {
          if (signal.aborted) break;
          if (!isFailing) log.error({ error: asGwError(error).message }, 'a record for the cloud waits for the outbox');
          isFailing = true;
          await clock.sleep(RETRY_MS, signal).catch(() => {});
        }
      }
      if (waiting.length > 0) log.error({ records: waiting }, 'records for the cloud may not have been kept');
    },
  };
}
