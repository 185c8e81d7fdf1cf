import { z } from 'zod';
import { identitySchema, linkStateSchema, poseUnitSchema, standingSchema, valueSchemas } from '../../chassis/index.ts';
import { evidenceSchema } from '../finding.result.ts';
import { robotConditionSchema } from './chassis.result.ts';

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

const snapshotShape = {
  link: linkStateSchema,
  linkForMs: z.number(),
  roundTripMs: z
    .number()
    .nullable()
    .describe('From a ping of the topic stream to its pong, as gw reads it; null while it is not measured.'),
  identity: identitySchema.nullable(),
  values: z.strictObject({
    pose: live(valueSchemas.pose),
    planning: live(valueSchemas.planning),
    battery: live(valueSchemas.battery),
    wheels: live(valueSchemas.wheels),
    positioning: live(valueSchemas.positioning),
    alerts: live(valueSchemas.alerts),
    map: live(valueSchemas.map),
  }),
  poseUnit: poseUnitSchema,
  unitContradicted: z.boolean(),
  complaints: z.array(
    z.strictObject({
      what: z.string(),
      count: z.int(),
      ageMs: z.number(),
      isLate: z.boolean().describe('An answer that did not come in time.'),
    }),
  ),
};

/** `GET /api/chassis/state`: the live state as the gateway has it. */
export const chassisStateSchema = z.strictObject({
  summary: z.string().describe('Of the link, for people.'),
  ...snapshotShape,
  standing: standingSchema.describe('Whether the robot stands, from its poses alone.'),
});

/** One line of `gw chassis watch --json`. */
export const chassisWatchSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('state'),
    at: z.string().describe('UTC of this machine, for people.'),
    ...snapshotShape,
    condition: z.array(robotConditionSchema).describe('Reported conditions, judged.'),
  }),
  z.strictObject({
    event: z.literal('ended'),
    watchedMs: z.number(),
    link: linkStateSchema.describe('State at the end.'),
  }),
]);
export type ChassisWatchEvent = z.infer<typeof chassisWatchSchema>;
export type ChassisView = Extract<ChassisWatchEvent, { event: 'state' }>;
