import { z } from 'zod';
import type { Tried } from '../error/index.ts';

/**
 * Published shapes of the live state, from which model.ts infers its types. The text of a `describe` is published with
 * them; what only a reader of the code needs is a comment.
 */

export const triedSchema = z.strictObject({
  address: z.string(),
  port: z.int().optional(),
  via: z.string().optional(),
  slowLink: z.strictObject({ medianMs: z.number(), longestMs: z.number() }).optional(),
  action: z.string().optional(),
  forMs: z.number().optional(),
}) as unknown as z.ZodType<Tried>;

/** Why there is no connection. */
export const connectionFailureSchema = z.enum([
  'refused',
  'no-route',
  'no-answer',
  'unknown-name',
  'no-name-server',
  'cut',
  'closed',
  'other',
  // The peer speaks HTTP or WebSocket, but does not respond as a chassis.
  'bad-answer',
  // A chassis with another serial number.
  'wrong-device',
  // Connected, but no data received within the heartbeat timeout.
  'silent',
]);

/** State of the connection to the chassis. */
export const linkStateSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('connecting'), tried: triedSchema }),
  z.strictObject({
    kind: z.literal('not-connected'),
    failure: connectionFailureSchema,
    /** One sentence for a person, without the address (that is in `tried`). */
    detail: z.string(),
    tried: triedSchema,
    foundSerial: z.string().optional().describe("Only with failure 'wrong-device'."),
  }),
  /** The chassis answers 503 while it starts. */
  z.strictObject({
    kind: z.literal('booting'),
    progress: z.number().nullable().describe('0 to 1.'),
    step: z.string().nullable(),
    tried: triedSchema,
  }),
  z.strictObject({ kind: z.literal('connected'), tried: triedSchema }),
]);

export const identitySchema = z.strictObject({
  /** The identity of the device: BELEGT by its use as cloud thing name; read from `GET /device/info`, never shortened. */
  serial: z.string(),
  model: z.string().nullable(),
  /** Chassis software version (`axbot_version`, HINWEIS). */
  software: z.string().nullable(),
  /** Announced capabilities; absent means no (HINWEIS). */
  capabilities: z.record(z.string(), z.boolean()),
});

/**
 * Whether the robot stands, from its poses alone: what the chassis says of its moves (`move_state`) is not evidence of
 * standing.
 */
export const standingSchema = z.strictObject({
  verdict: z.enum(['stands', 'moves', 'not-known']).describe('not-known is not standing.'),
  reason: z.string().describe('Why, as a clause.'),
  speedMS: z.number().nullable().describe('Metres per second over `overMs`; null without an estimate.'),
  overMs: z.number().describe('The time that the verdict is about, up to the newest pose.'),
  poses: z.int(),
});

const version = z.int().nullable();

/** The values of the topic stream. */
export const valueSchemas = {
  /** Pose of the robot: metres on the current map. The topic and its `ori` are BELEGT, the shape of its position is HINWEIS. */
  pose: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }),
  /** The last or running move from `/planning_state`. Its `ori` values have no known unit and stay in `raw`. */
  planning: z.strictObject({
    actionId: z.int(),
    actionType: z.string(),
    moveState: z.string(),
    failReason: z.int(),
    failReasonText: z.string(),
    remainingDistanceM: z.number().nullable(),
    raw: z.record(z.string(), z.unknown()),
  }),
  battery: z.strictObject({
    /** 0 to 100, read as a share of 1 (HINWEIS). */
    percent: z.number(),
    orPercent: z.number().optional().describe('While the scale is not decided: if the chassis counts to 100.'),
    status: z.string(),
  }),
  wheels: z.strictObject({
    controlMode: z.string(),
    emergencyStopPressed: z.boolean(),
    /** Absent where the software does not send it (depends on the model), null where it cannot be read. */
    wheelsReleased: z.boolean().nullable().optional(),
  }),
  positioning: z.strictObject({
    state: z.string(),
    reliable: z.boolean(),
    /** 0 unknown, 1 lost, 3 poor, 8 good, 10 excellent; absent where the software does not send it, null where it cannot be read. */
    quality: z.number().nullable().optional(),
  }),
  alerts: z.array(z.strictObject({ code: z.int(), level: z.string(), message: z.string() })),
  map: z.strictObject({ name: z.string(), uid: z.string(), mapVersion: version, overlaysVersion: version }),
} as const;

/**
 * Verdict on the unit of `/tracked_pose`, from its samples (unit/judge.ts). Radians contradict the measured fact.
 * 'not-decided' is neither green nor an error.
 */
export const poseUnitSchema = z.strictObject({
  verdict: z.enum(['degrees', 'radians', 'not-decided']),
  samples: z.int(),
  /** Largest |ori| seen; null without samples. */
  largest: z.number().nullable(),
  /** One sentence: why this verdict. */
  reason: z.string(),
  /** While it is set the verdict is 'not-decided', whatever it was before; a later proof of degrees clears it. */
  doubt: z.string().nullable().describe('Indications of radians, or of no unit, that are no proof.'),
  /** Only courses that fit degrees clear it. */
  shown: z
    .literal(true)
    .optional()
    .describe('This connection shows degrees: enough where they were proven before on this device.'),
  misfit: z.literal(true).optional().describe('The heading fits neither unit while the robot drives.'),
});

/** A map of the list of the chassis. */
export const mapListItemSchema = z.strictObject({
  id: z.int().describe('Number on the chassis.'),
  uid: z.string().nullable(),
  name: z.string(),
  mapVersion: version,
  overlaysVersion: version.describe('Whether a write increases it is unknown.'),
});
