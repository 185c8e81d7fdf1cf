import { z } from 'zod';
import { triedSchema } from '../../chassis/index.ts';
import { pathCheckSchema } from '../../cloud/index.ts';
import { evidenceAdoptionSchema } from '../../evidence/adoption.ts';
import type { DeepReadonly } from '../../json/index.ts';
import {
  driveRunSchema,
  motionStatusSchema,
  moveOutcomeSchema,
  standstillSchema,
  stopLatchSchema,
  tourRunSchema,
} from '../../motion/index.ts';
import { deliveryViewSchema, titleSchema } from '../../pages/index.ts';

/** Answers of the routes that no command prints as they are. Their handlers load the types only. */

/** Every refusal. Shape and codes are project decisions. */
export const errorBodySchema = z.strictObject({
  error: z.strictObject({
    code: z.string(),
    message: z.string(),
    tried: triedSchema.exactOptional().describe('Address and port that were tried.'),
    remedy: z.string().exactOptional(),
  }),
});

const title = titleSchema.optional();
const place = { xM: z.number(), yM: z.number(), map: z.string().optional() };
const url = z.string().nullable().describe('Without user name, password and query; null: not configured.');

/** `GET /api/einstellungen` */
export const settingsSchema = z.strictObject({
  name: z.string(),
  title,
  chassis: z.strictObject({ host: z.string(), port: z.int(), serial: z.string(), mac: z.string().nullable() }),
  operator: z.strictObject({
    port: z.int(),
    names: z.array(z.string()),
    passwordConfigured: z.boolean(),
    tourNeedsSignIn: z.boolean(),
    screen: z.strictObject({
      dimAfterMinutes: z.int().nullable(),
      night: z.strictObject({ from: z.string(), to: z.string() }).nullable(),
      shift: z.boolean(),
    }),
    voice: url,
    building: url,
  }),
  stations: z.record(z.string(), z.strictObject({ title, group: title, ...place, yawDeg: z.number().optional() })),
  dock: z.strictObject({ ...place, yawDeg: z.number() }).nullable(),
  tours: z.record(z.string(), z.strictObject({ title, stations: z.array(z.string()) })),
  motion: z.strictObject({
    requireVerified: z.boolean(),
    moveLimitS: z.int(),
    unownedMove: z.enum(['cancel', 'leave']),
  }),
});

export type Settings = DeepReadonly<z.infer<typeof settingsSchema>>;

export const mediaItemSchema = z.strictObject({
  name: z.string(),
  bytes: z.int(),
  contentType: z.string(),
  modified: z.string().describe('UTC, for people.'),
});

/** What the other routes answer, by their meaning. */
export const answerSchemas = {
  signedIn: z.strictObject({ signedIn: z.literal(true) }),
  signedOut: z.strictObject({ signedIn: z.literal(false) }),
  allSignedOut: z.strictObject({ signedIn: z.literal(false), sessionsEnded: z.int().nonnegative() }),
  stopState: z.strictObject({
    stop: stopLatchSchema,
    standstill: standstillSchema,
    robot: z.string().describe('Serial number of the robot of this gateway.'),
  }),
  stopped: z.strictObject({ stop: stopLatchSchema, robot: z.string().describe('Serial number of the stopped robot.') }),
  cleared: z.strictObject({ stop: stopLatchSchema }),
  tours: motionStatusSchema.extend({
    tours: z.array(
      z.strictObject({ name: z.string(), title: titleSchema.exactOptional(), stations: z.array(z.string()) }),
    ),
  }),
  tour: z.strictObject({ run: tourRunSchema.nullable().describe('null: none yet.') }),
  drive: z.strictObject({ run: driveRunSchema.nullable().describe('null: none yet.') }),
  endedAny: z.strictObject({ tour: tourRunSchema.nullable(), drive: driveRunSchema.nullable() }),
  pose: z.strictObject({ outcome: moveOutcomeSchema }),
  kept: z.strictObject({ kept: z.literal(true) }),
  seen: z.strictObject({
    seen: z.literal(true),
    saved: z.boolean().describe('false: it is not on the disk yet, and is tried again; a restart would show it anew.'),
  }),
  delivery: z.strictObject({ delivery: deliveryViewSchema.nullable().describe('null: not set up.') }),
  shown: z.strictObject({ shown: z.literal(true) }),
  countdownEnded: z.strictObject({
    ended: z
      .boolean()
      .describe('false: nothing was announced, or driving by itself; nothing begins by itself all the same.'),
  }),
  adoption: evidenceAdoptionSchema,
  media: z.strictObject({
    files: z.array(mediaItemSchema),
    moreFiles: z.int().nonnegative().describe('Files that are not listed: those after the first 1,000 by name.'),
    maxBytes: z.int().describe('Of one file.'),
    leftBytes: z.int().nullable().describe('What the library still takes; null: not known.'),
  }),
  stored: z.strictObject({ file: mediaItemSchema, replaced: z.boolean() }),
  deleted: z.strictObject({ deleted: z.string().describe('Name of the file.') }),
  supportEnded: z.strictObject({ ended: z.boolean().describe('false: none ran.') }),
  pathCheck: pathCheckSchema,
} as const;
export type Answer<K extends keyof typeof answerSchemas> = DeepReadonly<z.infer<(typeof answerSchemas)[K]>>;
