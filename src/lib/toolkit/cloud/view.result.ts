import { z } from 'zod';
import { discardReasons, linkTroubleKinds, messageClasses, releasePhases } from '../../cloud/index.ts';

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
      unsavedStops: z.int().describe('Executed and not acknowledged, since stop latch or record is not on the disk.'),
      tunnelNotifications: z.int(),
      answers: z.int(),
      discarded: discardCountsSchema,
      lastDiscarded: z.array(discardedMessageSchema).describe('Newest first.'),
    })
    .nullable()
    .describe('Since the start of gw.'),
  seen: seenSchema.nullable().describe('Whether the ids of accepted stops and notifications would survive a restart.'),
  reporting: reportingSchema.nullable().describe('Telemetry, faults and shadow of this robot.'),
  release: releaseSchema.nullable(),
  uploads: z.array(uploadViewSchema),
});
export type CloudStatus = z.infer<typeof cloudViewSchema>;
