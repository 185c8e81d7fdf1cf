import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

const factHere = { fact: z.string(), serial: z.string(), software: z.string() };

const folder = z.strictObject({
  path: z.string(),
  status: z.enum(['ok', 'low', 'unusable', 'not-checked']).describe('low: less than disk.reserveMb is free.'),
  freeBytes: z.number().nullable(),
  totalBytes: z.number().nullable(),
  detail: z.string(),
  remedy: z.string().nullable(),
});

/** Health as the running gateway reports it. */
export const gatewayHealthSchema = z.strictObject({
  status: z.enum(['ok', 'degraded']),
  version: z.string(),
  upForMs: z.number(),
  services: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(['waiting', 'starting', 'running', 'restarting', 'stopping', 'stopped']),
      restarts: z.int(),
      lastError: z.string().nullable(),
      remedy: z.string().nullable().describe('What to do; null while it runs.'),
      detail: z.string(),
    }),
  ),
  evidence: z
    .strictObject({
      status: z.enum(['as-read', 'revoked', 'unreadable']),
      detail: z.string(),
      revoked: z
        .array(z.strictObject({ ...factHere, how: z.enum(['contradicted', 'gone']) }))
        .describe('Withdrawn since the start of the gateway; no order relies on these until it is restarted.'),
      waiting: z.array(z.strictObject(factHere)).describe('New evidence, which takes effect after a restart.'),
    })
    .describe('The evidence file compared with its state at the start of the gateway.'),
  disk: z.strictObject({
    state: folder.describe('stateDir, where the stop latch is.'),
    media: folder.describe('operator.mediaDir.'),
  }),
  cloud: z
    .strictObject({
      status: z.enum(['connected', 'not-connected', 'not-enrolled', 'not-configured', 'not-checked']),
      detail: z.string(),
    })
    .describe('Cloud link. Configured, enrolled and not connected for a minute: degraded.'),
  support: z
    .strictObject({
      status: z.enum(['not-configured', 'waiting', 'running', 'not-checked']),
      records: z.enum(['ok', 'failing', 'not-checked']).describe('failing: no session can start, degraded.'),
      detail: z.string(),
    })
    .describe('Remote support.'),
  fleet: z
    .strictObject({ status: z.enum(['ok', 'conflict', 'not-checked']), detail: z.string() })
    .optional()
    .describe(
      'Heartbeats of the other robots. conflict: two devices send with one serial number, degraded. Absent: a gateway that does not report it.',
    ),
  log: z
    .strictObject({
      status: z
        .enum(['writing', 'unread', 'failing', 'discarded', 'not-checked'])
        .describe(
          'unread: its reader is not reading. failing: writes fail, for example on a full disk. discarded: it goes to /dev/null.',
        ),
      droppedLines: z.int().nullable().describe('Log lines lost since the start; null: unknown.'),
      detail: z.string(),
    })
    .describe('State of the log output. Not part of status.'),
});
export type GatewayHealth = z.infer<typeof gatewayHealthSchema>;

/** `gw health --json` */
export const judgedHealthSchema = gatewayHealthSchema.extend({
  verdict: z
    .enum(['ok', 'wrong', 'not-checked'])
    .describe('wrong: degraded. not-checked: a part that the site file configures was not checked.'),
});
export type JudgedHealth = z.infer<typeof judgedHealthSchema>;

/** Results of the checks that only checklists run and that need the device password. */

const findings = z.array(findingSchema);

/** 'operator sign-in' */
export const signInCheckSchema = z.strictObject({ findings });
export type SignInCheck = z.infer<typeof signInCheckSchema>;

/** 'operator media' */
export const mediaCheckSchema = z.strictObject({
  bytes: z.int().describe('Size of the file that was stored.'),
  uploadMs: z.number().nullable().describe('null when it was not stored.'),
  downloadMs: z.number().nullable(),
  findings,
});
export type MediaCheck = z.infer<typeof mediaCheckSchema>;

const poseSchema = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** 'pose read-back' */
export const poseCheckSchema = z.strictObject({
  before: poseSchema.describe('As reported before, and as restored at the end.'),
  set: poseSchema.describe('The same place with another heading.'),
  reported: poseSchema.nullable().describe('As reported afterwards; null when no pose was received.'),
  findings,
});
export type PoseCheck = z.infer<typeof poseCheckSchema>;

/** 'measured stop' */
export const stopCheckSchema = z.strictObject({
  tour: z.string(),
  answeredMs: z
    .number()
    .nullable()
    .describe('Time from sending the stop to its answer; null when it was not answered.'),
  standstillMs: z
    .number()
    .nullable()
    .describe('Time from sending the stop to the first pose at rest; null when rest was not observed.'),
  distanceM: z.number().nullable().describe('Distance from the position at the time of the stop to the rest position.'),
  findings,
});
export type StopCheck = z.infer<typeof stopCheckSchema>;

const fields = z.record(z.string(), z.unknown());
const time = z.string().describe('UTC, by the wall clock of the gateway.');

const entrySchema = z.strictObject({
  time: time.describe('Of the first event in it.'),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  fields: fields.describe('Of the first event in it.'),
  count: z.int().min(1).describe('Number of events in this entry; repeated events share one.'),
  lastTime: time.describe('Of the last event in it.'),
  lastFields: fields.nullable().describe('Of the last event in it; null: as those of the first.'),
});

/** `gw log --json`, which is the answer of `GET /api/protokolle`. */
export const gatewayLogSchema = z.strictObject({
  entries: z.array(entrySchema).describe('The last events of every kind, oldest first.'),
  audit: z.array(entrySchema).describe('The last acts of people and failed services of each kind, oldest first.'),
  clientAborts: z.int().min(0).describe('Requests aborted by their clients since the start.'),
});
export type GatewayLog = z.infer<typeof gatewayLogSchema>;
