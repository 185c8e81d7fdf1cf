import { z } from 'zod';
import { pageStateSchema, poseSchema } from '../model.ts';
import { titleSchema } from '../title-schema.ts';

/**
 * An incident as it is kept: what the pages could have shown in the last minute before it and the seconds after, without the
 * ages that change all the time. Times are milliseconds by the monotonic clock, from its first cause; negative: before it.
 */

const atMs = z.number().describe('Milliseconds from the first cause; negative: before it.');
const foreign = z.string().describe('Text of another program or person, unchanged but for its length.');
const {
  site,
  headline,
  link,
  stop,
  standing,
  stopPath,
  gate,
  run,
  map,
  battery,
  positioning,
  wheels,
  planning,
  alerts,
  lamps,
} = pageStateSchema.shape;

/** A value without its age and its evidence: what it was, and whether it held. */
const kept = { value: true, isUnreadable: true, stale: true, doubts: true } as const;

/** Everything but the pose, at the moment when it changed. */
const sceneSchema = z.strictObject({
  atMs,
  headline,
  link: link.pick({ kind: true, failure: true }),
  stop: stop.omit({ saved: true }),
  standing,
  stopPath,
  gate: gate.pick({ isOpen: true, notes: true }),
  run: run.unwrap().omit({ id: true, forMs: true, failure: true }).nullable(),
  battery: battery.pick(kept),
  positioning: positioning.pick(kept),
  wheels: wheels.pick(kept),
  planning: planning.pick(kept),
  alerts: alerts.pick(kept),
  map: map.pick(kept),
  lamps: z.array(lamps.element.pick({ id: true, level: true })),
});
export type Scene = z.infer<typeof sceneSchema>;

const keptMapSchema = z.strictObject({ uid: z.string(), version: z.int().nullable(), title: foreign });
export type KeptMap = z.infer<typeof keptMapSchema>;

/** Its own map, in which alone the metres count: never that of another moment. */
const ownMap = z
  .int()
  .nonnegative()
  .nullable()
  .exactOptional()
  .describe('Index in `maps` of the map in which it counts. Null or absent: not known.');

/** A pose as it arrived, with the map that the chassis used then. */
const keptPoseSchema = poseSchema.extend({ atMs, map: ownMap });
export type KeptPose = z.infer<typeof keptPoseSchema>;

export const causeSchema = z.discriminatedUnion('code', [
  z.strictObject({ code: z.literal('stop'), atMs, origin: stop.shape.origin, by: foreign.nullable() }),
  z.strictObject({ code: z.literal('does-not-stop'), atMs }),
  z.strictObject({ code: z.literal('emergency-stop'), atMs }),
  z.strictObject({ code: z.literal('alert'), atMs, alertCode: z.int(), text: foreign }),
  z.strictObject({ code: z.literal('link-lost'), atMs, failure: z.string().nullable() }),
  z.strictObject({ code: z.literal('position-lost'), atMs }),
  z.strictObject({
    code: z.literal('move-failed'),
    atMs,
    kind: run.unwrap().shape.kind,
    name: foreign.nullable(),
    title: titleSchema.exactOptional(),
    failReason: z.int().nullable(),
    offM: z
      .number()
      .nullable()
      .exactOptional()
      .describe('Metres from the goal. Null or absent: within the tolerance, or not known.'),
    offDeg: z.number().nullable().exactOptional().describe('Degrees off the heading of the goal, likewise.'),
  }),
]);
export type Cause = z.infer<typeof causeSchema>;

/** The first line of a kept incident. */
export const incidentHeadSchema = z.strictObject({
  format: z.literal('gw/incident/1'),
  id: z.int().positive().describe('Counts up on each gateway.'),
  serial: z.string().describe('Serial number of the robot, from the site file.'),
  site: foreign,
  version: z.string().describe('Of gw.'),
  at: z.string().describe('UTC, ISO 8601, of the first cause; by the wall clock of the gateway, which may be wrong.'),
  timeZone: z.string().describe('IANA name: the time zone of the gateway.'),
  causes: z.array(causeSchema).min(1).describe('In the order in which they happened.'),
  moreCauses: z.int().nonnegative().describe('Causes that are not listed.'),
  fromMs: z
    .number()
    .describe('Start of what is kept: less than a minute before the cause after a start of the gateway.'),
  toMs: z.number().describe('End of what is kept.'),
  isComplete: z.boolean().describe('false: still being recorded, or the gateway ended before its end.'),
});
export type IncidentHead = z.infer<typeof incidentHeadSchema>;

const keptLogEntrySchema = z.strictObject({
  atMs,
  level: z.enum(['info', 'warn', 'error']),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()),
  count: z.int().positive().describe('Number of events in this entry; repeated events share one.'),
});

/** The second line. */
export const incidentBodySchema = z.strictObject({
  maps: z.array(keptMapSchema).exactOptional().describe('Absent: of a gw that did not keep them; none is known.'),
  stations: z.array(site.shape.stations.element.extend({ map: ownMap })),
  dock: site.shape.dock.unwrap().extend({ map: ownMap }).nullable(),
  poses: z.array(keptPoseSchema),
  scenes: z.array(sceneSchema),
  log: z.array(keptLogEntrySchema),
  leftOut: z
    .strictObject({ poses: z.int(), scenes: z.int(), log: z.int() })
    .describe('What was not kept, since there was too much of it: the oldest of each.'),
});
export type IncidentBody = z.infer<typeof incidentBodySchema>;

/** `GET /api/vorfaelle` */
export const incidentListSchema = z.strictObject({
  incidents: z
    .array(
      incidentHeadSchema.extend({
        ageMs: z
          .number()
          .min(0)
          .nullable()
          .exactOptional()
          .describe(
            'Since the first cause, at least: the longer span of the monotonic and the wall clock of the gateway. null: of an earlier start. Absent: a gateway that does not report it.',
          ),
      }),
    )
    .describe('Newest first.'),
  recording: z.int().nullable().describe('Id of the incident that is being recorded.'),
  unreadable: z.int().nonnegative().describe('Files of incidents that cannot be read.'),
  folderProblem: z
    .string()
    .nullable()
    .describe(
      'Why the folder of the incidents could not be read, so that earlier ones are not listed; null: it could.',
    ),
  notKept: z
    .strictObject({ count: z.int().positive(), reason: z.string() })
    .nullable()
    .describe('Incidents since the start of the gateway that could not be written, and why the last one.'),
});
export type IncidentList = z.infer<typeof incidentListSchema>;
