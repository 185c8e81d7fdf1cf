import { z } from 'zod';
import { trialKinds } from './verify-remedy.ts';

/**
 * Published shapes of runs, of the stop and of the gate, from which model.ts infers its types. The text of a `describe` is
 * published with them; what only a reader of the code needs is a comment.
 */

const utc = z.string().describe('UTC, for people.');
const clause = z.string().describe('Why, as a clause.');
const metresAndDegrees = { xM: z.number(), yM: z.number(), yawDeg: z.number() };
const alerts = z.array(z.int()).exactOptional();

/** The pose of the robot against its goal, after the chassis has reported success. */
export const goalArrivalSchema = z.strictObject({
  verdict: z
    .enum(['at-goal', 'elsewhere', 'moves', 'not-known'])
    .describe('By poses alone. elsewhere: it stands, but too far from the goal, or in another heading.'),
  reason: clause,
  goal: z.strictObject({ ...metresAndDegrees, yawDeg: z.number().nullable() }),
  pose: z
    .strictObject(metresAndDegrees)
    .nullable()
    .describe('The pose at rest; null unless the robot is known to stand.'),
  distanceM: z.number().nullable(),
  turnDeg: z.number().nullable().describe('Null also for a goal without a heading.'),
  isAtPlace: z.boolean().nullable().describe('Within the tolerance; null: not compared.'),
  isAtHeading: z.boolean().nullable(),
});

export const moveOutcomeSchema = z.strictObject({
  moveId: z.int().nullable().describe('Null for a pose order, and when the reply to the order was lost.'),
  state: z
    .enum(['succeeded', 'failed', 'cancelled', 'unknown'])
    .describe(
      "Only 'succeeded' is success: of a drive, the robot stands at its goal. unknown: gw could not determine how it ended and has cancelled it.",
    ),
  failReason: z
    .int()
    .nullable()
    .describe('The number of the chassis, passed through; only 103 has a measured meaning.'),
  failReasonText: z.string().nullable(),
  reason: z.string().nullable().describe('Why it did not succeed, as text for the user; null when it did.'),
  arrival: goalArrivalSchema.nullable().describe('Null unless the chassis reported the success of a drive.'),
  tookMs: z.number(),
});

const runState = z.enum(['running', 'succeeded', 'failed', 'stopped']);
const runReason = z.string().nullable().describe('Why it ended, when it did not succeed.');
const passed = alerts.describe(
  'Alerts that the person who ordered it passes, by their numbers. Absent or empty: none.',
);

const orderedBy = z
  .enum(['page', 'command', 'itself'])
  .exactOptional()
  .describe('Who ordered it; itself: announced by a countdown. Absent: not known.');

export const tourRunSchema = z.strictObject({
  id: z.string(),
  although: passed,
  by: orderedBy,
  tour: z.string(),
  stations: z.array(z.string()),
  state: z
    .enum([...runState.options, 'paused'])
    .describe('paused: a person holds it; it drives on to the same station only by an order.'),
  at: z.int().describe('Index of the current or last target station.'),
  outcomes: z.array(moveOutcomeSchema),
  reason: runReason,
});

/** A single drive to a station of the site file, or to the dock. */
export const driveRunSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(['move', 'dock']),
  although: passed,
  by: orderedBy,
  station: z.string().nullable().describe('Null for the dock.'),
  state: runState,
  outcome: moveOutcomeSchema.nullable().describe('How its move ended; null while it runs, and when no order was sent.'),
  reason: runReason,
});

/** A running move that this gw process did not order: of another program, or of gw before it was killed. */
export const unownedMoveSchema = z.strictObject({
  moveId: z.int(),
  type: z.string().describe('Type as the chassis reports it, passed through.'),
  isBeingCancelled: z
    .boolean()
    .describe("It was running when gw started or the chassis reconnected, and `motion.unownedMove` is not 'leave'."),
});

export const repeatedStopsSchema = z.strictObject({
  count: z.int(),
  by: z.array(z.string()).describe('The first 16 requesters.'),
  last: z.strictObject({ reason: z.string(), by: z.string(), at: utc }),
});

export const stopLatchSchema = z.strictObject({
  latched: z.boolean(),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  since: utc.nullable(),
  saved: z
    .union([z.boolean(), z.literal('pending')])
    .describe(
      'Whether this state survives a restart of gw, a crash or a power cut. pending: the disk has not answered yet. A stop holds in memory either way.',
    ),
  unsavedBecause: z.string().nullable().describe('Why it is not saved; null when it is saved or pending.'),
  disobeyed: z
    .string()
    .optional()
    .describe(
      'Why its poses say that the robot drove on after this stop, or after a cancel that led to it. Absent: they do not.',
    ),
  repeated: repeatedStopsSchema
    .nullable()
    .describe('Stops requested while this one held; null without any. In memory only.'),
});

/** Whether the robot stands, from its poses; see standstill.ts. */
export const standstillSchema = z.strictObject({
  verdict: z
    .enum(['stands', 'moves', 'drives-on', 'not-known'])
    .describe('drives-on: it does not obey an acknowledged cancel. not-known is not standing.'),
  reason: clause,
  isOwed: z
    .boolean()
    .describe('A cancel was sent, and the poses do not show yet that the robot stands: no order passes.'),
});

/** Why a stop could not be saved now, and the remedy. */
export const keepingTroubleSchema = z.strictObject({ reason: z.string(), remedy: z.string() });

/** Why an order would be refused now; empty when the gate is open for plain moves. */
export const gateViewSchema = z.strictObject({
  open: z.boolean(),
  reasons: z.array(z.string()),
  unverified: z
    .array(z.string())
    .exactOptional()
    .describe('Ids of the facts that only lack a verification on this chassis. Absent or empty: none.'),
  passableAlerts: alerts.describe(
    'The alerts that alone close it: a signed-in person may pass them by their numbers. Absent or empty: none.',
  ),
});

/** A map in one version, for places that count in it alone; its name is for people. */
export const frameSchema = z.strictObject({ uid: z.string(), version: z.int().nullable(), title: z.string() });

/** The pose of the robot is wrong or not known: it must be set before it drives. */
export const poseAlarmSchema = z.strictObject({
  reason: z.string(),
  since: utc.nullable(),
  map: frameSchema
    .nullable()
    .exactOptional()
    .describe(
      'Map on which the pose was set, and on which alone it counts. Null or absent: not known, it counts on every map.',
    ),
});

export const frameFaultSchema = z.strictObject({
  code: z.enum(['map-unknown', 'map-unnamed', 'other-map', 'map-changed', 'other-robot']),
  map: z.string().nullable().describe('Name of the current map, as the chassis reports it.'),
  measured: z.string().nullable().describe('The map of the places, as the site file names it.'),
  reason: z.string(),
});

export const motionStatusSchema = z.strictObject({
  gate: gateViewSchema,
  frame: frameFaultSchema
    .nullable()
    .exactOptional()
    .describe('Why no place of the site file is a goal on the current map. Null or absent: one is, or there is none.'),
  poseAlarm: poseAlarmSchema
    .nullable()
    .exactOptional()
    .describe('Closes the gate for everything but setting the pose. Null or absent: none on the current map.'),
  poseAlarmTrouble: keepingTroubleSchema
    .nullable()
    .exactOptional()
    .describe('Why the pose alarm, of whatever map, is not saved. Null or absent: it is, or there is none.'),
  stop: stopLatchSchema,
  standstill: standstillSchema,
  keepingTrouble: keepingTroubleSchema
    .nullable()
    .describe('Why a stop could not be saved, which closes the gate; null while it could.'),
  tour: tourRunSchema.nullable(),
  drive: driveRunSchema.nullable().describe('The current or last single drive.'),
  /** Its details are for signed-in persons only. */
  trial: z
    .strictObject({ kind: z.enum(trialKinds) })
    .nullable()
    .describe('The running trial; null without one.'),
  unownedMove: unownedMoveSchema
    .nullable()
    .describe('Null also while the chassis is not connected: then it is unknown.'),
});
