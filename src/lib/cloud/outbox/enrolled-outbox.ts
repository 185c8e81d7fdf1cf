import { asGwError, GwError } from '../../error/index.ts';
import { createBackoff } from '../../lifecycle/index.ts';
import type { LinkView } from '../link/model.ts';
import type { Outbox, OutboxView } from './model.ts';
import { type OutboxOptions, openOutbox } from './outbox.ts';

const ENROLMENT_POLL_MS = 1_000;
const OUTBOX_RETRY = { firstMs: 1_000, maxMs: 60_000 };

export interface EnrolledOutboxOptions extends OutboxOptions {
  /** Whether this device is enrolled. */
  readonly identity: () => LinkView['identity'];
}

/**
 * The outbox of a device that may not be enrolled yet: nothing is kept before. While it is not open, `append` rejects with
 * OUTBOX_REFUSED. Disposing closes it.
 */
export interface EnrolledOutbox extends Pick<Outbox, 'append' | 'view'>, AsyncDisposable {
  /**
   * Opens it once this device is enrolled, tries again after a failure, and then uses it. Throws the reason of the signal,
   * and what `use` throws.
   */
  run(signal: AbortSignal, use: (open: Outbox) => Promise<unknown>): Promise<void>;
}

export function createEnrolledOutbox(options: EnrolledOutboxOptions): EnrolledOutbox {
  const { clock, log, maxBytes, identity } = options;
  let open: Outbox | null = null;
  let trouble: GwError | null = null;

  return {
    async append(message) {
      if (open === null) throw new GwError('OUTBOX_REFUSED', 'The outbox is not open.');
      return open.append(message);
    },

    async run(signal, use) {
      const backoff = createBackoff(OUTBOX_RETRY, clock);
      while (identity() !== 'enrolled') await clock.sleep(ENROLMENT_POLL_MS, signal);
      for (;;) {
        try {
          open = await openOutbox(options);
          trouble = null;
          break;
        } catch (error) {
          trouble = asGwError(error);
          log.error({ error: trouble.message }, 'the outbox cannot be opened');
          await clock.sleep(backoff.nextMs(), signal);
        }
      }
      signal.throwIfAborted();
      await use(open);
    },

    view(): OutboxView {
      if (open !== null) return open.view();
      return {
        status: trouble === null ? 'not-open' : 'failing',
        detail: trouble?.message ?? notOpenDetail(identity()),
        remedy: trouble?.remedy ?? null,
        kept: null,
        bytes: null,
        maxBytes,
        oldestAt: null,
        accepted: 0,
        acknowledged: 0,
        refused: 0,
        thinned: null,
      };
    },

    async [Symbol.asyncDispose]() {
      await open?.[Symbol.asyncDispose]();
      open = null;
    },
  };
}

function notOpenDetail(identity: LinkView['identity']): string {
  switch (identity) {
    case 'none':
      return 'Not open: nothing is kept before this device is enrolled.';
    case 'broken':
      return 'Not open: it waits until the identity of this device can be used.';
    default:
      return 'Not open yet.';
  }
}
