import { z } from 'zod';
import { evidenceSchema } from '../finding.result.ts';
import { robotConditionSchema } from './chassis.result.ts';

const tried = z.strictObject({
  address: z.string(),
  port: z.int().optional(),
  via: z.string().optional(),
  slowLink: z.strictObject({ medianMs: z.number(), longestMs: z.number() }).optional(),
  action: z.string().optional(),
  forMs: z.number().optional(),
});

const linkSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('connecting'), tried }),
  z.strictObject({
    kind: z.literal('not-connected'),
    failure: z.enum([
      'refused',
      'no-route',
      'no-answer',
      'unknown-name',
      'cut',
      'other',
      'bad-answer',
      'wrong-device',
      'silent',
    ]),
    detail: z.string(),
    tried,
    foundSerial: z.string().optional().describe("Only with failure 'wrong-device'."),
  }),
  z.strictObject({
    kind: z.literal('booting'),
    progress: z.number().nullable().describe('0 to 1.'),
    step: z.string().nullable(),
    tried,
  }),
  z.strictObject({ kind: z.literal('connected'), tried }),
]);

const rejectedMoving = z.literal(true).optional().describe('Only /planning_state: a rejected message reports a move.');

function live<T extends z.ZodType>(value: T) {
  return z.discriminatedUnion('status', [
    z.strictObject({
      status: z.literal('not-received'),
      rejected: z.string().optional().describe('Every message was rejected: the fault of the last one.'),
      rejectedMoving,
    }),
    z.strictObject({
      status: z.literal('received'),
      value,
      ...evidenceSchema.shape,
      ageMs: z.number(),
      stale: z.boolean(),
      staleReason: z.enum(['no-connection', 'not-received-since-reconnect', 'too-old', 'newer-rejected']).optional(),
      rejected: z.string().optional().describe('Fault of the newest message, where it was rejected.'),
      rejectedMoving,
      parts: z.record(z.string(), evidenceSchema).optional().describe('Where parts have different marks.'),
    }),
  ]);
}

const nullableVersion = z.int().nullable();

/** One line of `gw chassis watch --json`. */
export const chassisWatchSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('state'),
    at: z.string().describe('UTC of this machine, for people.'),
    link: linkSchema,
    linkForMs: z.number(),
    identity: z
      .strictObject({
        serial: z.string(),
        model: z.string().nullable(),
        software: z.string().nullable(),
        capabilities: z.record(z.string(), z.boolean()),
      })
      .nullable(),
    values: z.strictObject({
      pose: live(z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() })),
      planning: live(
        z.strictObject({
          actionId: z.int(),
          actionType: z.string(),
          moveState: z.string(),
          failReason: z.int(),
          failReasonText: z.string(),
          remainingDistanceM: z.number().nullable(),
          raw: z.record(z.string(), z.unknown()),
        }),
      ),
      battery: live(
        z.strictObject({
          percent: z.number(),
          orPercent: z.number().optional().describe('While the scale is not decided: if the chassis counts to 100.'),
          status: z.string(),
        }),
      ),
      wheels: live(
        z.strictObject({
          controlMode: z.string(),
          emergencyStopPressed: z.boolean(),
          wheelsReleased: z.boolean().nullable().optional(),
        }),
      ),
      positioning: live(
        z.strictObject({ state: z.string(), reliable: z.boolean(), quality: z.number().nullable().optional() }),
      ),
      alerts: live(z.array(z.strictObject({ code: z.int(), level: z.string(), message: z.string() }))),
      map: live(
        z.strictObject({
          name: z.string(),
          uid: z.string(),
          mapVersion: nullableVersion,
          overlaysVersion: nullableVersion,
        }),
      ),
    }),
    poseUnit: z.strictObject({
      verdict: z.enum(['degrees', 'radians', 'not-decided']),
      samples: z.int(),
      largest: z.number().nullable(),
      reason: z.string(),
      doubt: z.string().nullable().describe('Indications of radians, or of no unit, that are no proof.'),
      misfit: z.literal(true).optional().describe('The heading fits neither unit while the robot drives.'),
    }),
    unitContradicted: z.boolean(),
    condition: z.array(robotConditionSchema).describe('Reported conditions, judged.'),
    complaints: z.array(z.strictObject({ what: z.string(), count: z.int(), ageMs: z.number() })),
  }),
  z.strictObject({
    event: z.literal('ended'),
    watchedMs: z.number(),
    link: linkSchema.describe('State at the end.'),
  }),
]);
export type ChassisWatchEvent = z.infer<typeof chassisWatchSchema>;
export type ChassisView = Extract<ChassisWatchEvent, { event: 'state' }>;
