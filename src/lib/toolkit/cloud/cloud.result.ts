import { z } from 'zod';
import { cloudViewSchema } from '../../cloud/index.ts';
import type { DeepReadonly } from '../../json/index.ts';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';

/** `gw cloud status --json` */
export { cloudViewSchema } from '../../cloud/index.ts';

const { status, outbox, uploads } = cloudViewSchema.shape;
const received = cloudViewSchema.shape.received.unwrap();

/** The cloud link as other results show it. */
export const cloudHeadSchema = cloudViewSchema.pick({ status: true, detail: true, remedy: true });

/** `gw cloud discarded --json` */
export const cloudDiscardedSchema = z.strictObject({
  link: cloudHeadSchema,
  total: z.int().nullable().describe('Since the start of gw; null: nothing was received, so nothing was judged.'),
  byReason: received.shape.discarded.nullable(),
  accepted: received
    .pick({ releases: true, stops: true, stopsOfKnownContent: true, tunnelNotifications: true, answers: true })
    .nullable()
    .describe('What was not discarded.'),
  last: received.shape.lastDiscarded.describe('Newest first, without payloads.'),
});
export type CloudDiscarded = DeepReadonly<z.infer<typeof cloudDiscardedSchema>>;

/** The check 'cloud link' of a checklist. */
export const cloudLinkSchema = z.strictObject({
  verdict: checkVerdictSchema,
  status,
  path: z.enum(['direct', 'fallback']).nullable().describe('null while not connected.'),
  host: z.string().nullable(),
  port: z.int().nullable(),
  tls: z.string().nullable(),
  fingerprintSha256: z.string().nullable().describe('Of the certificate that the link uses.'),
  waitedMs: z.number(),
  findings: z.array(findingSchema),
});
export type CloudLinkCheck = z.infer<typeof cloudLinkSchema>;

/** `gw cloud outbox --json` */
export const cloudOutboxSchema = z.strictObject({
  link: cloudHeadSchema,
  outbox: outbox.describe('null: the gateway has none, or it has not been read yet.'),
});
export type CloudOutbox = DeepReadonly<z.infer<typeof cloudOutboxSchema>>;

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
  releasedMs: z
    .number()
    .nullable()
    .describe('From that request to a confirmed and reported release; null: none, so nothing was measured.'),
  findings,
});
export type ReleaseRehearsal = z.infer<typeof releaseRehearsalSchema>;

/** `gw cloud upload --json` */
export const cloudUploadSchema = z.strictObject({
  file: z.string(),
  complete: z.boolean().describe('Whether the backup has every map of its chassis with all files.'),
  isNew: z.boolean().describe('false: the same archive was added before.'),
  upload: uploads.element.describe('As the gateway reports it, or as it was added.'),
  link: cloudHeadSchema.omit({ remedy: true }),
  waitedMs: z.number().nullable().describe('With --wait: for how long; null without it.'),
});
export type CloudUpload = z.infer<typeof cloudUploadSchema>;

const at = z.string().describe('UTC of this machine, for people.');

/** One line of `gw cloud watch --json`. */
export const cloudWatchSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('state'),
    at,
    status,
    detail: z.string(),
    kept: z.int().nullable().describe('Messages in the outbox; null: unknown.'),
    discarded: z.int().nullable().describe('Since the start of gw; null: unknown.'),
  }),
  z.strictObject({
    event: z.literal('change'),
    at,
    part: z.enum(['link', 'outbox', 'stop', 'tunnel', 'discarded', 'release', 'upload']),
    detail: z.string(),
  }),
  z.strictObject({ event: z.literal('unreachable'), at, detail: z.string() }),
  z.strictObject({
    event: z.literal('ended'),
    watchedMs: z.number(),
    status: status.nullable().describe('State at the end; null: the gateway did not answer.'),
  }),
]);
export type CloudWatchEvent = z.infer<typeof cloudWatchSchema>;
