import { asGwError } from '../../error/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Outbox } from '../outbox/model.ts';
import type { TelemetryView } from './model.ts';

/**
 * Publishes the values of the robot at a fixed interval. A message whose time has passed is skipped and not made up for;
 * while the outbox has not answered about one message, no other is made.
 */
export function createTelemetryReports(options: {
  readonly topic: string;
  readonly intervalS: number;
  readonly values: () => Readonly<Record<string, unknown>>;
  readonly outbox: Pick<Outbox, 'append'>;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { topic, intervalS, values, outbox, clock, log } = options;
  const intervalMs = intervalS * 1_000;
  let accepted = 0;
  let skipped = 0;
  let trouble: string | null = null;
  let isPending = false;

  function skip(count: number, why: string): void {
    skipped += count;
    if (trouble === null) log.warn({ reason: why }, 'telemetry skipped');
    trouble = why;
  }

  async function report(): Promise<void> {
    isPending = true;
    try {
      await outbox.append({ class: 'telemetry', topic, body: values() });
      accepted += 1;
      if (trouble !== null) log.info({ skipped }, 'telemetry is accepted again');
      trouble = null;
    } catch (error) {
      skip(1, asGwError(error).message);
    } finally {
      isPending = false;
    }
  }

  return {
    /** Ends when the signal is aborted. */
    async run(signal: AbortSignal): Promise<void> {
      let dueMs = clock.monotonicMs();
      while (!signal.aborted) {
        if (isPending) skip(1, 'The outbox has not answered about the last message.');
        else void report();
        dueMs += intervalMs;
        const missed = Math.floor((clock.monotonicMs() - dueMs) / intervalMs) + 1;
        if (missed > 0) {
          skip(missed, 'gw was busy or suspended.');
          dueMs += missed * intervalMs;
        }
        await clock.sleep(dueMs - clock.monotonicMs(), signal).catch(() => {});
      }
    },

    view: (): TelemetryView => ({ intervalS, accepted, skipped, trouble }),
  };
}
