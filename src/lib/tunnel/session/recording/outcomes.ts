import type { Clock, Log } from '../../../lifecycle/index.ts';
import type { RecordBody } from '../../records/schema.ts';
import type { SupportView } from '../../view.ts';
import type { Refused } from '../state.ts';
import { createRecordLimit } from './record-limit.ts';
import type { RecordWriter } from './record-writer.ts';

export interface OutcomesOptions {
  readonly writer: Pick<RecordWriter, 'keep'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What became of notifications and sessions: it goes to the writer, and the last of each kind is shown. */
export function createOutcomes({ writer, clock, log }: OutcomesOptions) {
  const refusals = createRecordLimit(clock);
  let lastRefused: SupportView['lastRefused'] = null;
  let lastEnded: SupportView['lastEnded'] = null;
  return {
    keepRefusal({ record }: Refused): void {
      const { reason, detail } = record;
      lastRefused = { reason, at: clock.wall().toISOString(), detail };
      log.warn({ audit: true, ...record }, 'tunnel notification refused');
      const skipped = refusals.admit();
      if (skipped === null) return;
      const more = skipped === 0 ? '' : ` ${skipped} refusals before it are not recorded: there were too many.`;
      writer.keep({ ...record, detail: `${detail}${more}` });
    },

    keepEnd(record: RecordBody): void {
      if (record.kind === 'end') {
        const { session: id, reason } = record;
        // The state is readable without sign-in, also through a tunnel: the record alone names the person and the address.
        const detail = reason === 'ended-on-site' ? 'Ended on site.' : record.detail;
        lastEnded = { session: id, reason, at: clock.wall().toISOString(), detail };
      }
      writer.keep(record);
    },

    /** Since the start of gw; null: none. */
    last: (): Pick<SupportView, 'lastRefused' | 'lastEnded'> => ({ lastRefused, lastEnded }),
  };
}

export type Outcomes = ReturnType<typeof createOutcomes>;
