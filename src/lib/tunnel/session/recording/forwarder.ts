import { asGwError } from '../../../error/index.ts';
import { type Clock, createBackoff, type Log, onAbort, untilAborted, type Wakeup } from '../../../lifecycle/index.ts';
import type { SupportOptions } from '../../model.ts';
import type { Records } from '../../records/index.ts';

const RETRY = { firstMs: 1_000, maxMs: 60_000 };

export interface ForwarderOptions {
  readonly records: Pick<Records, 'unsent' | 'markSent'>;
  readonly sendRecord: SupportOptions['sendRecord'];
  readonly clock: Clock;
  readonly log: Log;
  /** Woken when a record was written. */
  readonly wakeup: Wakeup;
}

/**
 * Hands the records to the outbox, in order, until the signal is aborted. One that was handed over just before a crash is
 * handed over again after it.
 */
export async function forwardRecords(options: ForwarderOptions, signal: AbortSignal): Promise<void> {
  const { records, sendRecord, clock, log, wakeup } = options;
  const backoff = createBackoff(RETRY, clock);
  // While the pointer cannot be saved, a record must not be sent again and again.
  let handedOver = 0;
  let isFailing = false;
  using _aborted = onAbort(signal, wakeup.wake);
  while (!signal.aborted) {
    try {
      const batch = await untilAborted(signal, records.unsent());
      for (const record of batch) {
        if (record.seq > handedOver) await untilAborted(signal, sendRecord({ kind: 'support-session', record }));
        handedOver = Math.max(handedOver, record.seq);
        await untilAborted(signal, records.markSent(record.seq));
      }
      backoff.reset();
      isFailing = false;
      if (batch.length === 0) await wakeup.wait();
    } catch (error) {
      if (signal.aborted) return;
      if (!isFailing) log.warn({ error: asGwError(error).message }, 'session records wait for the outbox of the cloud');
      isFailing = true;
      await clock.sleep(backoff.nextMs(), signal).catch(() => {});
    }
  }
}
