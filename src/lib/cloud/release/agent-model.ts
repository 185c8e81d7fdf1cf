import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import type { Requester } from '../gate/model.ts';
import type { DownloadTarget, TransferOptions } from '../storage/model.ts';
import type { Topics } from '../topics.ts';
import type { JobExecutionWire } from '../wire.ts';
import type { ReleaseHealth, ReleaseView } from './model.ts';

/** Completed steps of a release; a run that is killed after any of them is continued after the next start. */
export const releaseSteps = [
  'accepted',
  'job-started',
  'space-checked',
  'downloaded',
  'verified',
  'phase-unpacking',
  'file-unpacked',
  'all-unpacked',
  'unpacked',
  'phase-ready',
  'package-removed',
  'at-rest',
  'switch-announced',
  'phase-switched',
  'link-switched',
  'new-version-started',
  'healthy',
  'phase-confirmed',
  'pruned',
  'phase-rolling-back',
  'link-restored',
  'phase-rolled-back',
  'phase-rejected',
  'reported',
  'report-recorded',
] as const;
export type ReleaseStep = (typeof releaseSteps)[number];

export interface ReleaseAgentOptions {
  /** `cloud.release` of the site file; undefined: every release is rejected. */
  readonly release: NonNullable<Site['cloud']>['release'] | undefined;
  /**
   * PEM of the CA certificates to trust for the object storage; undefined: those of Node and the operating system. Throws
   * STORAGE_NOT_REACHABLE while they cannot be used: a download waits for them, and no other phase asks.
   */
  readonly storageTrust: () => string | undefined;
  /** Version of gw that runs. */
  readonly version: string;
  /** What the launcher started; null: gw was not started by the launcher, so that a switch would have no effect. */
  readonly launched: { readonly dir: string; readonly folder: string | null } | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly requester: Requester;
  readonly topics: Pick<Topics, 'jobs'>;
  /** Whether the robot moves; null: not known. */
  readonly isMoving: () => boolean | null;
  readonly health: () => ReleaseHealth;
  /** Ends gw in order, so that the launcher starts the current version. */
  readonly restart: (reason: string) => void;
  readonly download: (target: DownloadTarget, options: TransferOptions) => Promise<void>;
  /** Free space that stays on the disk of the release folder. */
  readonly reserveBytes: number;
  readonly onStep?: ((step: ReleaseStep) => Promise<void> | void) | undefined;
  readonly limits?: ReleaseLimits | undefined;
}

export interface ReleaseLimits {
  /** How long the new version must be healthy without a gap. */
  readonly healthyForMs: number;
  readonly pollMs: number;
  /** Backoff of a download while the storage is not reachable, and of a state file that cannot be written. */
  readonly retry: { readonly firstMs: number; readonly maxMs: number };
  /** Free bytes of the file system of a folder. */
  readonly freeBytes: (dir: string) => Promise<number>;
}

export interface ReleaseAgent {
  /** A release from the gate. */
  offer(execution: JobExecutionWire): void;
  /** Asks the job service for the next job; called for each new connection, because a notification may be lost. */
  checkQueue(): void;
  /** Works until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
  view(): ReleaseView;
}
