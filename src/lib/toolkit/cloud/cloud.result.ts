import { z } from 'zod';
import { discardReasons, linkTroubleKinds, messageClasses, releasePhases } from '../../cloud/index.ts';
import { findingSchema } from '../finding.result.ts';

const failedAttempt = z
  .strictObject({
    path: z.enum(['direct', 'fallback']),
    host: z.string(),
    port: z.int(),
    step: z.enum(['name', 'tcp', 'tls', 'alpn', 'mqtt', 'subscribe']),
    outcome: z.strictObject({
      verdict: z.enum(['ok', 'wrong', 'not-checked']),
      detail: z.string(),
      remedy: z.string().optional(),
      ask: z.string().optional().describe("What to ask the customer's IT."),
    }),
    at: z.string().describe('UTC of the gateway, for people.'),
    tookMs: z.number(),
  })
  .nullable();

const linkSchema = z.strictObject({
  status: z.enum(['connected', 'connecting', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
  ask: z.string().nullable().describe("What to ask the customer's IT; null: nothing."),
  connection: z
    .strictObject({
      path: z.enum(['direct', 'fallback']).describe('direct: cloud.mqtt.port. fallback: the other port, with ALPN.'),
      host: z.string(),
      port: z.int(),
      alpn: z.string().nullable(),
      tls: z.string(),
      sessionPresent: z.boolean(),
      filters: z.array(z.string()).describe('Topic filters that the broker has acknowledged.'),
      withQos0: z
        .array(z.string())
        .describe('Those that it granted with QoS 0: a message sent there while the gateway is not connected is lost.'),
      since: z.string().describe('UTC of the gateway, for people.'),
      forMs: z.number(),
      lastPacketAgoMs: z.number().describe('Since the last packet of the broker.'),
      certificate: z.strictObject({ fingerprintSha256: z.string(), notAfter: z.string() }),
    })
    .nullable()
    .describe('null while not connected.'),
  failures: z
    .strictObject({ direct: failedAttempt, fallback: failedAttempt })
    .describe('The last failure of each path since the last connection on it.'),
  connects: z.int(),
  losses: z.int(),
  retryInMs: z.number().nullable().describe('Until the next attempt; null while connected or connecting.'),
  directRetryInMs: z
    .number()
    .nullable()
    .describe('While the fallback is in use: until the direct path is tried again; otherwise null.'),
  hostDifference: z
    .strictObject({ site: z.string(), enrolment: z.string() })
    .nullable()
    .describe('Hosts of the broker by the site file and by the enrolment when they differ.'),
  regionDifference: z
    .strictObject({ host: z.string(), region: z.string(), expected: z.string() })
    .nullable()
    .describe('The region in the host name of the broker when it is not cloud.region.'),
  identity: z.enum(['enrolled', 'none', 'broken', 'not-checked']),
  renewalFailure: failedAttempt.describe('Why the installed certificate is not the one in use.'),
  troubles: z
    .array(
      z.strictObject({
        kind: z.enum(linkTroubleKinds),
        detail: z.string(),
        remedy: z.string().nullable(),
        ask: z.string().nullable().describe("What to ask the customer's IT; null: nothing."),
      }),
    )
    .describe('What is wrong with the link beside a missing connection.'),
});

const kept = z.record(z.enum(messageClasses), z.int());

export const outboxViewSchema = z.strictObject({
  status: z.enum(['open', 'failing', 'not-open']).describe('failing: messages are refused, the disk is unwritable.'),
  detail: z.string(),
  remedy: z.string().nullable(),
  kept: kept.nullable().describe('Messages that the broker has not acknowledged; null: unknown.'),
  bytes: z.number().nullable(),
  maxBytes: z.number(),
  oldestAt: z.string().nullable().describe('UTC of the gateway; null without a kept message.'),
  accepted: z.int().describe('Since the start of gw.'),
  acknowledged: z.int(),
  refused: z.int(),
  thinned: z.int().nullable().describe('Telemetry removed for lack of space; null: unknown.'),
});

export const discardedMessageSchema = z.strictObject({
  reason: z.enum(discardReasons),
  topic: z.string(),
  bytes: z.number(),
  at: z.string().describe('UTC of the gateway, for people.'),
});

export const discardCountsSchema = z.record(z.enum(discardReasons), z.int());

const releaseSchema = z.strictObject({
  status: z.enum(['ready', 'not-configured', 'unmanaged', 'failing']),
  detail: z.string(),
  remedy: z.string().nullable(),
  runningVersion: z.string(),
  installed: z.array(z.string()),
  previous: z.string().nullable().describe('The version that a rollback would restore.'),
  run: z
    .strictObject({
      jobId: z.string(),
      executionNumber: z.int(),
      phase: z.enum(releasePhases),
      fromVersion: z.string(),
      toVersion: z.string(),
      stage: z.number().nullable().describe('Rollout stage, passed through.'),
      documentParameters: z
        .string()
        .nullable()
        .describe('Of the job document as JSON text, passed through; nothing is substituted by them.'),
      since: z.string(),
      detail: z.string().nullable(),
      starts: z.int(),
      isReported: z.boolean().describe('Whether the cloud has acknowledged the final status.'),
      hasJobEnded: z.boolean().describe('Whether the job had ended in the cloud before, and took no final status.'),
    })
    .nullable(),
});

const seenSchema = z.strictObject({
  status: z.enum(['saved', 'saving', 'failing', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
});

const reportingSchema = z.strictObject({
  telemetry: z.strictObject({
    intervalS: z.number(),
    accepted: z.int().describe('Messages that the outbox accepted since the start of gw.'),
    skipped: z.int().describe('Messages that were not made or were refused since the start of gw.'),
    trouble: z.string().nullable().describe('Why the last one was skipped; null: it was not.'),
  }),
  faults: z.strictObject({
    raised: z
      .array(
        z.strictObject({
          key: z.string(),
          text: z.string(),
          number: z.number().nullable().describe('Number of the chassis, passed through.'),
          mark: z.enum(['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN']),
          faultId: z.string(),
          state: z.enum(['present', 'gone', 'not-checked']),
          occurrences: z.int().describe('How often it appeared since it was raised.'),
        }),
      )
      .describe('Faults that the cloud has as raised, or will have.'),
    unreported: z.int().describe('Present faults that are not reported, because too many are raised.'),
    trouble: z.string().nullable().describe('Why something could not be reported or saved; null: nothing.'),
  }),
  shadow: z.strictObject({
    status: z.enum(['accepted', 'not-answered', 'rejected', 'not-sent']).describe('Of the last update.'),
    detail: z.string(),
    version: z.int().nullable().describe('Of the newest accepted state; null: none since the start of gw.'),
    rejected: z
      .strictObject({ code: z.union([z.string(), z.number()]), message: z.string(), at: z.string() })
      .nullable()
      .describe('The last rejection since the last accepted state.'),
  }),
});

export const uploadViewSchema = z.strictObject({
  name: z.string(),
  bytes: z.number(),
  sha256: z.string(),
  state: z.enum(['waiting', 'uploading', 'uploaded', 'refused']),
  sentBytes: z.number(),
  addedAt: z.string().describe('UTC of the gateway, for people.'),
  detail: z.string().nullable(),
});

export const cloudStatusWord = z.enum(['connected', 'not-connected', 'not-enrolled', 'not-configured', 'not-checked']);

/** `GET /api/cloud`: the state of the cloud module of a running gateway. */
export const cloudViewSchema = z.strictObject({
  status: cloudStatusWord.describe('connected: the broker has accepted the device and all subscriptions.'),
  detail: z.string(),
  remedy: z.string().nullable(),
  link: linkSchema.nullable(),
  outbox: outboxViewSchema.nullable(),
  received: z
    .strictObject({
      releases: z.int(),
      stops: z.int(),
      stopsOfKnownContent: z
        .int()
        .describe('Of these, with the content of an earlier stop: as retained messages not distinguished.'),
      unsavedStops: z.int().describe('Executed and not acknowledged, since stop latch or record is not on the disk.'),
      tunnelNotifications: z.int(),
      answers: z.int(),
      discarded: discardCountsSchema,
      lastDiscarded: z.array(discardedMessageSchema).describe('Newest first.'),
    })
    .nullable()
    .describe('Since the start of gw.'),
  seen: seenSchema.nullable().describe('Whether the accepted stops and notifications are recognised after a restart.'),
  reporting: reportingSchema.nullable().describe('Telemetry, faults and shadow of this robot.'),
  release: releaseSchema.nullable(),
  uploads: z.array(uploadViewSchema),
});
export type CloudStatus = z.infer<typeof cloudViewSchema>;

/** `gw cloud discarded --json` */
export const cloudDiscardedSchema = z.strictObject({
  link: z.strictObject({ status: cloudStatusWord, detail: z.string(), remedy: z.string().nullable() }),
  total: z.int().nullable().describe('Since the start of gw; null: nothing was received, so nothing was judged.'),
  byReason: discardCountsSchema.nullable(),
  accepted: z
    .strictObject({
      releases: z.int(),
      stops: z.int(),
      stopsOfKnownContent: z.int(),
      tunnelNotifications: z.int(),
      answers: z.int(),
    })
    .nullable()
    .describe('What was not discarded.'),
  last: z.array(discardedMessageSchema).describe('Newest first, without payloads.'),
});
export type CloudDiscarded = z.infer<typeof cloudDiscardedSchema>;

/** The check 'cloud link' of a checklist. */
export const cloudLinkSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong']).describe('wrong when a finding is, or when it is not connected.'),
  status: cloudStatusWord,
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
  link: z.strictObject({ status: cloudStatusWord, detail: z.string(), remedy: z.string().nullable() }),
  outbox: outboxViewSchema.nullable().describe('null: the gateway has none, or it has not been read yet.'),
});
export type CloudOutbox = z.infer<typeof cloudOutboxSchema>;

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

/** `gw cloud upload --json` */
export const cloudUploadSchema = z.strictObject({
  file: z.string(),
  isNew: z.boolean().describe('false: the same archive was added before.'),
  upload: uploadViewSchema.describe('As the gateway reports it, or as it was added.'),
  link: z.strictObject({ status: cloudStatusWord, detail: z.string() }),
  waitedMs: z.number().nullable().describe('With --wait: for how long; null without it.'),
});
export type CloudUpload = z.infer<typeof cloudUploadSchema>;

const at = z.string().describe('UTC of this machine, for people.');

/** One line of `gw cloud watch --json`. */
export const cloudWatchSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('state'),
    at,
    status: cloudStatusWord,
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
    status: cloudStatusWord.nullable().describe('State at the end; null: the gateway did not answer.'),
  }),
]);
export type CloudWatchEvent = z.infer<typeof cloudWatchSchema>;
