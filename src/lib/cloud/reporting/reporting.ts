import { join } from 'node:path';
import { aborted, type Clock, type Log } from '../../lifecycle/index.ts';
import type { Answer, OwnRequest } from '../gate/model.ts';
import type { CloudOptions } from '../model.ts';
import type { Outbox } from '../outbox/model.ts';
import type { Topics } from '../topics.ts';
import { createFaultReports } from './faults.ts';
import type { ReportingView } from './model.ts';
import { createShadowReports } from './shadow.ts';
import { createTelemetryReports } from './telemetry.ts';

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
