import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** Results of the checks with which a person at the cloud account rehearses a stop and a release. */

const findings = z.array(findingSchema);
const waitedMs = z.number().describe('From the request to the person at the cloud account to the end of the wait.');

/** 'cloud stop' */
export const cloudStopSchema = z.strictObject({
  serial: z.string(),
  by: z.string().nullable().describe('Who stopped the robot, by the latch; null when it was not stopped.'),
  reason: z.string().nullable(),
  waitedMs,
  findings,
});
export type CloudStopCheck = z.infer<typeof cloudStopSchema>;

/** 'release rehearsal' */
export const releaseRehearsalSchema = z.strictObject({
  serial: z.string(),
  jobId: z.string().nullable().describe('Job of the release that began during the check; null: none began.'),
  fromVersion: z.string().nullable(),
  toVersion: z.string().nullable(),
  runningVersion: z.string().nullable().describe('Version that runs at the end; null: unknown.'),
  waitedMs,
  findings,
});
export type ReleaseRehearsal = z.infer<typeof releaseRehearsalSchema>;
