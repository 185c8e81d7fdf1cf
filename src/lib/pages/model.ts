import { z } from 'zod';
import { bases, marks } from '../evidence/fact.ts';
import { deliveryViewSchema } from './delivery/delivery-model.ts';
import { titleSchema } from './title-schema.ts';

/**
 * What the pages show, as plain data: codes with parameters, numbers with their unit in the name, and the texts of others
 * (robot, cloud, people) unchanged. The catalogues turn codes into sentences. Sent by `GET /api/events`.
 */

const count = z.int().nonnegative();
const ms = z.number().nonnegative();
const utc = z.string().describe('UTC, ISO 8601; by the wall clock of the gateway.');
const foreign = z.string().describe('Text of another program or person, unchanged.');

const condition = (state: readonly string[]) => z.enum(state as [string, ...string[]]);

const title = titleSchema.exactOptional();

/** One sentence for a person: its code, and what it names. */
export const noteSchema = z.discriminatedUnion('code', [
  z.strictObject({ code: z.literal('stop-latched') }),
  z.strictObject({ code: z.literal('drove-on') }),
  z.strictObject({ code: z.literal('standing-not-known') }),
  z.strictObject({ code: z.literal('does-not-stop') }),
  z.strictObject({ code: z.literal('still-moves') }),
  z.strictObject({ code: z.literal('moves') }),
  z.strictObject({ code: z.literal('standing-awaited') }),
  z.strictObject({ code: z.literal('stop-not-kept') }),
  z.strictObject({ code: z.literal('pose-alarm'), map: titleSchema.nullable().exactOptional() }),
  z.strictObject({ code: z.literal('map-unknown') }),
  z.strictObject({ code: z.literal('map-unnamed') }),
  z.strictObject({ code: z.literal('other-map'), map: titleSchema, measured: titleSchema }),
  z.strictObject({ code: z.literal('map-changed'), map: titleSchema }),
  z.strictObject({ code: z.literal('other-robot'), map: titleSchema }),
  z.strictObject({ code: z.literal('no-pose') }),
  z.strictObject({ code: z.literal('unowned-move'), moveId: z.int(), isBeingCancelled: z.boolean() }),
  z.strictObject({ code: z.literal('unreadable'), topic: foreign }),
  z.strictObject({ code: z.literal('unit-radians') }),
  z.strictObject({ code: z.literal('unit-doubtful') }),
  z.strictObject({ code: z.literal('heading-misfit') }),
  z.strictObject({ code: z.literal('emergency-stop') }),
  z.strictObject({ code: z.literal('wheels-released') }),
  z.strictObject({ code: z.literal('control-mode'), mode: foreign }),
  z.strictObject({
    code: z.literal('positioning'),
    state: condition(['lost', 'poor', 'inactive', 'mapping', 'unreadable', 'unknown', 'reliable', 'missing']),
  }),
  z.strictObject({ code: z.literal('battery'), isCritical: z.boolean(), percent: z.number() }),
  z.strictObject({ code: z.literal('battery-contradictory'), percent: z.number() }),
  z.strictObject({ code: z.literal('alerts'), alerts: z.array(foreign), more: count }),
  z.strictObject({ code: z.literal('not-checked'), conditions: z.array(z.string()) }),
  z.strictObject({ code: z.literal('complaints'), count }),
  z.strictObject({ code: z.literal('late-answers') }),
  z.strictObject({ code: z.literal('facts'), count }),
  z.strictObject({ code: z.literal('gate-closed') }),
  z.strictObject({ code: z.literal('not-connected') }),
  z.strictObject({ code: z.literal('robot-starting') }),
  z.strictObject({ code: z.literal('link-starting') }),
  z.strictObject({ code: z.literal('evidence-revoked') }),
  z.strictObject({ code: z.literal('evidence-unreadable') }),
  z.strictObject({ code: z.literal('service-down') }),
  z.strictObject({ code: z.literal('disk') }),
  z.strictObject({ code: z.literal('disk-unwritable') }),
  z.strictObject({ code: z.literal('disk-silent') }),
  z.strictObject({ code: z.literal('disk-not-checked') }),
  z.strictObject({ code: z.literal('support-not-recorded') }),
  z.strictObject({ code: z.literal('cloud-away') }),
  z.strictObject({ code: z.literal('gateway-degraded') }),
]);
export type Note = z.infer<typeof noteSchema>;

export const staleReasons = ['no-connection', 'not-received-since-reconnect', 'too-old', 'newer-rejected'] as const;
export const doubts = [
  'position-lost',
  'position-poor',
  'radians',
  'heading-misfit',
  'unit-doubtful',
  'battery-scale',
] as const;

/** One value of the robot. `value` is null while none was received; it is not current while `stale` or `doubts` say so. */
const live = <T extends z.ZodType>(value: T) =>
  z.strictObject({
    value: value.nullable(),
    isUnreadable: z.boolean(),
    ageMs: ms.nullable(),
    stale: z.enum(staleReasons).nullable(),
    doubts: z.array(z.enum(doubts)),
    mark: z.enum(marks).nullable(),
    basis: z.enum(bases).nullable(),
    source: z.string().nullable(),
  });
export type Live<T> = Omit<z.infer<ReturnType<typeof live>>, 'value'> & { readonly value: T | null };

const place = z.strictObject({ name: foreign, title, xM: z.number(), yM: z.number() });
export const poseSchema = z.strictObject({
  xM: z.number(),
  yM: z.number(),
  yawDeg: z.number().describe('Degrees, counter-clockwise, 0 along +x.'),
});

/** A part of a value in a row: a word of the catalogues, a number with its unit, or a text of others. */
const cellSchema = z.union([
  z.strictObject({ word: z.string() }),
  z.strictObject({ text: foreign }),
  z.strictObject({ technical: z.string().describe('A sentence of a program in English.') }),
  z.strictObject({ number: z.number(), digits: count, unit: z.string() }),
  z.strictObject({ spanMs: ms }),
  z.strictObject({ at: utc }),
  z.strictObject({ note: noteSchema }),
]);
export type Cell = z.infer<typeof cellSchema>;

export const lampIds = [
  'chassis',
  'gate',
  'stop-path',
  'cloud',
  'outbox',
  'release',
  'heartbeat',
  'support',
  'tablet',
  'devices',
  'disk',
  'gateway',
  'clock',
] as const;
export type LampId = (typeof lampIds)[number];

/** 'unknown' is never shown as good; 'off': not set up here. */
export const lampLevels = ['bad', 'attention', 'unknown', 'good', 'off'] as const;

const lamp = z.strictObject({
  id: z.enum(lampIds),
  level: z.enum(lampLevels),
  /** The state in words. */
  state: z.array(cellSchema),
  rows: z.array(z.strictObject({ label: z.string(), cells: z.array(cellSchema) })),
});
export type Lamp = z.infer<typeof lamp>;

export const failureCauses = [
  'missed',
  'not-proven',
  'given-up',
  'refused',
  'cancelled',
  'unknown',
  'interrupted',
  'not-read',
] as const;

const run = z.strictObject({
  id: z.string().describe('Of the tour or drive, for whoever has seen its end; empty of a trial.'),
  kind: z.enum(['tour', 'drive', 'dock', 'trial', 'order']),
  /** Of the tour or the station; null for the dock and for a trial. */
  name: foreign.nullable(),
  title,
  stations: z.array(foreign),
  stationTitles: z.array(titleSchema).exactOptional().describe('Of `stations`, one each.'),
  at: count,
  state: z.enum(['running', 'paused', 'succeeded', 'failed', 'stopped']),
  /** Since the order of the current station, or since the pause. */
  forMs: ms,
  /** As the chassis reported it; only 103 has a measured meaning. */
  failReason: z.int().nullable(),
  although: z.array(z.int()),
  failure: z
    .strictObject({
      cause: z
        .enum(failureCauses)
        .describe(
          'missed: it stands beside its goal. not-proven: nothing shows that it stands at its goal. given-up: the chassis reports it as failed. refused: it never set out. interrupted: the gateway ended while it ran. not-read: whether a run failed is not known, since its record cannot be read.',
        ),
      offM: z.number().nullable().describe('Metres from the goal; null: within the tolerance, or not known.'),
      offDeg: z
        .number()
        .nullable()
        .describe('Degrees off the heading of the goal; null: within the tolerance, or not known.'),
      technical: foreign.nullable(),
    })
    .nullable()
    .describe('Why it did not reach its goal. Null where it did, where it has not ended, and where a person ended it.'),
});
export type Run = z.infer<typeof run>;

/** A run that did not reach its goal, until a person has seen it; also over a restart of the gateway. */
export const failedRunSchema = run.omit({ forMs: true }).extend({
  failure: run.shape.failure.unwrap(),
  earlier: count.describe('Runs that failed before it, and that no person has seen either.'),
});
export type FailedRun = z.infer<typeof failedRunSchema>;

export const headlineCodes = [
  'ready',
  'drives',
  'paused',
  'trial',
  'limited',
  'failed',
  'comes-to-rest',
  'locked',
  'stopped',
  'does-not-stop',
  'still-moves',
  'standing-not-known',
  'not-connected',
  'connecting',
  'booting',
] as const;

export const pageStateSchema = z.strictObject({
  id: z.string().describe('Names this state. An order carries the id of the state that the person saw.'),
  build: z.string().describe('Of the pages: another one reloads an open page.'),
  time: utc,
  timeZone: z.string().describe('IANA name: the time zone of the gateway.'),
  clock: z.string().describe('Hours and minutes of `time` in that time zone.'),
  site: z.strictObject({
    name: foreign,
    title,
    serial: z.string(),
    contact: z.strictObject({ name: foreign.nullable(), phone: foreign.nullable() }).nullable(),
    stations: z.array(place.extend({ group: title })),
    recent: z.array(z.string()).describe('Keys of the stations of the last drives on this map, the newest first.'),
    dock: poseSchema.nullable(),
    tours: z.array(z.strictObject({ name: foreign, title, stations: z.array(foreign) })),
    needsSignIn: z.boolean().describe('Whether starting a tour or a drive needs a session.'),
  }),
  screen: z
    .strictObject({
      dimAfterMs: ms.nullable().describe('The operator surface dims after this time without a touch; null: not now.'),
      shifts: z.boolean().describe('It moves by a few pixels from time to time, against burn-in.'),
    })
    .describe('By the site file and the time of the gateway.'),
  headline: z.strictObject({
    level: z.enum(['good', 'attention', 'bad']),
    code: z.enum(headlineCodes),
    notes: z.array(noteSchema),
  }),
  link: z.strictObject({
    kind: z.enum(['connecting', 'not-connected', 'booting', 'connected']),
    failure: z.string().nullable(),
    tried: z.string(),
    forMs: ms,
    progress: z.number().nullable(),
    foundSerial: foreign.nullable(),
  }),
  identity: z.strictObject({ serial: foreign, model: foreign.nullable(), software: foreign.nullable() }).nullable(),
  stop: z.strictObject({
    latched: z.boolean(),
    state: z.enum(['stopped', 'drives-on', 'moves', 'not-known']),
    reason: foreign.nullable(),
    /** Kind of the requester; 'other': as `by` says. */
    origin: z.enum(['surface', 'command', 'cloud', 'other']).nullable(),
    /** The rest of who it was: an address, or a name that the cloud gave. */
    by: foreign.nullable(),
    since: utc.nullable(),
    saved: z.union([z.boolean(), z.literal('pending')]),
    repeats: count,
    repeatedBy: foreign.nullable(),
  }),
  /** By its poses. */
  standing: z.enum(['stands', 'moves', 'drives-on', 'not-known']),
  /** Whether a STOP would reach the robot now; the gateway itself is alive while states arrive. */
  stopPath: z.strictObject({
    chassis: z.enum(['ready', 'away']),
    cancel: z.enum(['ready', 'awaited', 'away']),
    disk: z.enum(['ready', 'failing']),
  }),
  gate: z.strictObject({
    isOpen: z.boolean(),
    notes: z.array(noteSchema),
    /** Facts that only lack a verification on this chassis. */
    unverified: z.array(z.string()),
    /** In the words of the gate, English. */
    technical: z.array(z.string()),
    /** Alerts that alone close it, which a signed-in person may pass. */
    passable: z.array(z.strictObject({ code: z.int(), text: foreign })),
  }),
  run: run.nullable(),
  failed: failedRunSchema.nullable().describe('The last run that failed and that no person has seen; null: none.'),
  delivery: deliveryViewSchema.nullable().exactOptional().describe('Null or absent: deliveries are not set up.'),
  pose: live(z.strictObject({ xM: z.number(), yM: z.number() })),
  heading: live(z.number()).describe('Degrees, counter-clockwise, 0 along +x.'),
  battery: live(z.strictObject({ percent: z.number(), orPercent: z.number().nullable(), status: foreign })),
  positioning: live(z.strictObject({ quality: z.string(), state: foreign })),
  wheels: live(
    z.strictObject({ emergencyStopPressed: z.boolean(), controlMode: foreign, wheelsReleased: z.boolean().nullable() }),
  ),
  planning: live(
    z.strictObject({
      moveState: foreign,
      actionType: foreign,
      failReason: z.int(),
      failReasonText: foreign,
      remainingDistanceM: z.number().nullable(),
    }),
  ),
  alerts: live(z.array(z.strictObject({ code: z.int(), level: foreign, message: foreign }))),
  map: live(
    z.strictObject({
      name: foreign,
      title,
      uid: foreign,
      mapVersion: z.number().nullable(),
      overlaysVersion: z.number().nullable(),
    }),
  ),
  neighbours: z.array(
    z.strictObject({
      serial: foreign,
      presence: z.enum(['alive', 'late', 'gone']),
      ageMs: ms,
      pose: poseSchema.nullable().describe('Only on the map that this robot uses.'),
      isOnThisMap: z.boolean().nullable(),
      address: z.string(),
      conflictWith: z.string().nullable(),
    }),
  ),
  support: z
    .strictObject({
      since: utc,
      forMs: ms,
      leftMs: ms,
      services: z.array(foreign),
      state: z.enum(['connecting', 'connected', 'not-checked']),
      open: count.nullable(),
    })
    .nullable()
    .describe('The running session of remote support.'),
  lamps: z.array(lamp).describe('For the technician, worst first.'),
});
export type PageState = z.infer<typeof pageStateSchema>;

/** What every pose changes, alone: it takes the place of the same members of the state before it. */
export const posedSchema = pageStateSchema.pick({ pose: true, heading: true });
export type Posed = z.infer<typeof posedSchema>;
