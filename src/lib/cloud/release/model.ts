import { z } from 'zod';
import type { DeepReadonly } from '../../json/index.ts';

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
export const releaseRunSchema = z.strictObject({
  jobId: z.string(),
  executionNumber: z.int(),
  phase: z.enum(releasePhases),
  fromVersion: z.string(),
  toVersion: z.string(),
  stage: z.int().nullable().describe('Rollout stage, passed through; null: none given.'),
  documentParameters: z
    .string()
    .nullable()
    .describe('Of the job document as JSON text, passed through; nothing is substituted by them. null: none given.'),
  since: z.string().describe('UTC of the gateway, for people.'),
  detail: z.string().nullable().describe('What it waits for, or why it ended as it did.'),
  starts: z.int().describe('Starts of the new version without a confirmation.'),
  isReported: z.boolean().describe('Whether the cloud has acknowledged the final status.'),
  hasJobEnded: z
    .boolean()
    .describe(
      'Whether the job had ended in the cloud before (cancelled, timed out, removed), so that it takes no final status.',
    ),
});
export type ReleaseRun = Readonly<z.infer<typeof releaseRunSchema>>;

export const releaseViewSchema = z.strictObject({
  status: z
    .enum(['ready', 'not-configured', 'unmanaged', 'failing'])
    .describe(
      'not-configured: the site file has no cloud.release. unmanaged: gw was not started by the launcher of the release folder.',
    ),
  detail: z.string(),
  remedy: z.string().nullable(),
  runningVersion: z.string(),
  installed: z.array(z.string()).describe('Versions in the release folder.'),
  previous: z.string().nullable().describe('The version that a rollback would restore; null: none.'),
  run: releaseRunSchema.nullable().describe('The release in progress, or the last one.'),
});
export type ReleaseView = DeepReadonly<z.infer<typeof releaseViewSchema>>;

/** An installation as a person on site sees it. */
export const installedVersionSchema = z.strictObject({
  folder: z.string().nullable().describe('In the release folder; null: the base installation.'),
  version: z
    .string()
    .nullable()
    .describe(
      'null: the base installation, which may have been updated since the release folder recorded its version.',
    ),
  problem: z
    .string()
    .nullable()
    .describe(
      'Why it must not be started; null: signature and every file were verified, or it is the base installation.',
    ),
  signedBy: z
    .string()
    .nullable()
    .describe('SHA-256 of the public key that verified it; null: not verified, as the base installation.'),
});
export type InstalledVersion = Readonly<z.infer<typeof installedVersionSchema>>;

/** The parts of the gateway that a new release must show before it is confirmed. */
export interface ReleaseHealth {
  readonly isHealthy: boolean;
  /** What is missing, one sentence; null when healthy. */
  readonly missing: string | null;
}
