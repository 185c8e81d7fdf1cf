import { join } from 'node:path';
import { asGwError } from '../../error/index.ts';
import { aborted, type Clock, type Log } from '../../lifecycle/index.ts';
import type { Answer, OwnRequest } from '../gate/model.ts';
import type { CloudOptions } from '../model.ts';
import type { Outbox } from '../outbox/model.ts';
import type { Topics } from '../topics.ts';
import { createFaultReports } from './faults.ts';
import type { ReportingView, TelemetryView } from './model.ts';
import { createShadowReports } from './shadow.ts';

/** How often faults and shadow are compared with what was reported. */
const CHECK_MS = 1_000;

export interface ReportingOptions extends Pick<CloudOptions, 'site' | 'telemetry' | 'faults' | 'shadow'> {
  readonly topics: Topics;
  readonly outbox: Pick<Outbox, 'append' | 'view'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Reporting {
  /** Reports until the signal is aborted. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** The shadow update with this client token, for the gate; null: none of this gateway. */
  requestOf(clientToken: string): OwnRequest | null;
  /** Takes an answer to a shadow update that the gate matched. */
  onAnswer(clientToken: string, answer: Answer): void;
  view(): ReportingView;
}

/** What the gateway publishes by itself: telemetry, faults, and the reported state of the shadow. */
export function createReporting(options: ReportingOptions): Reporting {
  const { site, topics, outbox, clock, log } = options;
  const parts = { outbox, clock, log };
  const telemetry = createTelemetryReports({
    ...parts,
    topic: topics.telemetry,
    intervalS: site.cloud.telemetryS,
    values: options.telemetry,
  });
  const faults = createFaultReports({
    ...parts,
    topic: topics.faults,
    path: join(site.stateDir, 'cloud-faults.json'),
    faults: options.faults,
  });
  const shadow = createShadowReports({
    ...parts,
    topic: `${topics.shadow}/update`,
    path: join(site.stateDir, 'cloud-shadow.json'),
    state: options.shadow,
  });

  return {
    async run(signal) {
      const reporting = telemetry.run(signal);
      // Neither waits for the other, nor telemetry for the disk.
      void faults.load();
      void shadow.load();
      using _checking = clock.every(CHECK_MS, () => {
        void faults.tick();
        void shadow.tick();
      });
      await aborted(signal);
      await reporting;
    },
    requestOf: shadow.requestOf,
    onAnswer: shadow.onAnswer,
    view: () => ({ telemetry: telemetry.view(), faults: faults.view(), shadow: shadow.view() }),
  };
}

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
