/** Phases of a release, in order; each is durable before its work begins. */
export const releasePhases = [
  /** The document was accepted; the package is downloaded. */
  'downloading',
  /** Size, hash, signature and minimum version of the package are right; it is unpacked. */
  'unpacking',
  /** The new version is complete beside the old one; the robot is awaited at rest. */
  'ready',
  /** The new version is the current one; its start and health are awaited. */
  'switched',
  /** The old version is being restored. */
  'rolling-back',
  /** End: the new version runs. */
  'confirmed',
  /** End: the old version runs again. */
  'rolled-back',
  /** End: nothing was switched. */
  'rejected',
] as const;
export type ReleasePhase = (typeof releasePhases)[number];

/** A release under way, or the last one. */
export interface ReleaseRun {
  readonly jobId: string;
  readonly executionNumber: number;
  readonly phase: ReleasePhase;
  readonly fromVersion: string;
  readonly toVersion: string;
  /** Rollout stage, passed through; null: none given. */
  readonly stage: number | null;
  /** JSON text as reported to the cloud, passed through; null: none given. */
  readonly documentParameters: string | null;
  /** UTC, for people. */
  readonly since: string;
  /** One sentence: what it waits for, or why it ended as it did. */
  readonly detail: string | null;
  /** How often the new version was started without being confirmed. */
  readonly starts: number;
  /** Whether the cloud has acknowledged the final status. */
  readonly isReported: boolean;
  /** Whether the job had ended in the cloud before (cancelled, timed out, removed), so that it takes no final status. */
  readonly hasJobEnded: boolean;
}

export interface ReleaseView {
  /** 'not-configured': the site file has no cloud.release. 'unmanaged': gw does not run from the release folder's launcher. */
  readonly status: 'ready' | 'not-configured' | 'unmanaged' | 'failing';
  readonly detail: string;
  readonly remedy: string | null;
  readonly runningVersion: string;
  /** Versions in the release folder. */
  readonly installed: readonly string[];
  /** The version that a rollback would restore; null: none. */
  readonly previous: string | null;
  readonly run: ReleaseRun | null;
}

/** The parts of the gateway that a new release must show before it is confirmed. */
export interface ReleaseHealth {
  readonly isHealthy: boolean;
  /** What is missing, one sentence; null when healthy. */
  readonly missing: string | null;
}
