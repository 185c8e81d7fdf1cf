import { z } from 'zod';
import { connectionFailureSchema, poseUnitSchema, triedSchema, valueSchemas } from '../../chassis/index.ts';
import { factBases, marks, supports } from '../../evidence/index.ts';
import { checkVerdictSchema, evidenceSchema, findingSchema, knownSchema } from '../finding.result.ts';
import { citedFactSchema, mapRestoreSchema, stillnessSchema, usedBackupSchema } from '../map/change.result.ts';
import { mapAddressSchema, mapChassisSchema } from '../map/map.result.ts';
import { overlaysDifferenceSchema, runningMapSchema } from '../map/running-map.result.ts';

const reported = z.union([z.boolean(), z.number(), z.string(), valueSchemas.positioning, valueSchemas.alerts]);

/** One condition that the robot reports about its ability to work. */
export const robotConditionSchema = z.strictObject({
  id: z.enum(['emergency-stop', 'control-mode', 'positioning', 'battery', 'power', 'alerts']),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
  missing: z
    .enum(['not-received', 'rejected', 'no-connection', 'not-received-since-reconnect', 'too-old', 'newer-rejected'])
    .nullable()
    .describe('Why there is no current value; null where there is one.'),
  reported: z
    .strictObject({ value: reported, ...evidenceSchema.shape, ageMs: z.number() })
    .nullable()
    .describe('The last reported value with its age; null when no valid message was received.'),
});
export type RobotCondition = z.infer<typeof robotConditionSchema>;

/** Round trips to the SSH host in between. */
export const linkSchema = z
  .strictObject({ medianMs: z.number(), longestMs: z.number(), isSlow: z.boolean() })
  .nullable()
  .describe('Round trips to the SSH host of --via, in milliseconds; null: direct, or not measured.');

const verdict = z.enum(['ok', 'wrong', 'not-checked']);

/** Shape of `gw chassis address --json`. */
export const chassisAddressSchema = z.strictObject({
  state: z
    .enum(['connected', 'starting', 'not-connected', 'wrong-device'])
    .describe('starting: a chassis answers, but reports its serial number only after its start is complete.'),
  // A single request has no heartbeat that could fall silent.
  failure: connectionFailureSchema
    .exclude(['silent'])
    .nullable()
    .describe('Kind of failure; null when the chassis answers.'),
  detail: z.string().describe('Explanation in one sentence.'),
  tried: triedSchema,
  way: z.string().describe('Connection path: direct, or through another host.'),
  link: linkSchema,
  name: z
    .strictObject({
      kind: z.enum(['address', 'resolved', 'unknown', 'no-answer', 'not-checked']),
      addresses: z.array(z.string()),
      tookMs: z.number().nullable(),
    })
    .describe('Resolution of the host in the site file; `address`: an IP address, no lookup.'),
  tcp: z.strictObject({ verdict, tookMs: z.number().nullable() }).describe('Whether the port could be opened.'),
  serial: z.strictObject({ verdict, expected: z.string(), found: z.string().nullable() }),
  software: z.string().nullable().describe('Chassis software version; null when it was not reported.'),
  mac: z
    .strictObject({
      verdict: z.enum([...verdict.options, 'not-applicable']).describe('not-applicable: not requested.'),
      expected: z.string().nullable(),
      found: z.string().nullable(),
      detail: z.string(),
    })
    .describe('The neighbour table of this machine against chassis.mac of the site file.'),
  tookMs: z.number(),
  remedy: z.string().nullable(),
});
export type ChassisAddress = z.infer<typeof chassisAddressSchema>;

/** A fact that orders rely on, with its status on one chassis. */
export const reliedHereSchema = z.strictObject({
  fact: z.string(),
  mark: z.enum(marks),
  basis: z.enum(factBases).describe('Basis of the mark.'),
  orders: z.array(z.string()).describe('Kinds of orders that rely on it.'),
  support: z
    .enum(supports)
    .describe(
      'Origin of the evidence on this chassis. another-device: it was measured on another device or version, or is stated and supported by such a measurement. nothing: no order may rely on it.',
    ),
  usable: z.boolean(),
  contradictedHere: z.boolean(),
  detail: z.string(),
});
export type ReliedHere = z.infer<typeof reliedHereSchema>;

/** Shape of `gw chassis probe --json`. */
export const chassisProbeSchema = z.strictObject({
  verdict: checkVerdictSchema,
  address: z.strictObject({ host: z.string(), port: z.int(), way: z.string() }),
  identity: z.strictObject({
    serial: knownSchema(z.string()),
    expectedSerial: z.string(),
    model: knownSchema(z.string()).nullable(),
    simulated: z.boolean().describe('true: the device reports that it is a simulator.'),
    software: knownSchema(z.string()).nullable(),
    capabilities: knownSchema(z.array(z.string())).describe('Capabilities announced with true; absent means no.'),
  }),
  latency: z
    .strictObject({
      requests: z.int(),
      median: knownSchema(z.number()),
      longest: knownSchema(z.number()),
      link: linkSchema,
    })
    .describe('GET /device/info, one after the other; over --via with the SSH link in it.'),
  clock: z
    .strictObject({
      text: knownSchema(z.string()).describe('As the chassis writes it.'),
      differenceIfUtc: knownSchema(z.number())
        .nullable()
        .describe('Chassis minus this machine, if the chassis writes UTC; null when the text is not understood.'),
      differenceIfSameZone: knownSchema(z.number())
        .nullable()
        .describe('The same, if it writes the zone of this machine.'),
    })
    .nullable()
    .describe('null when the chassis reports no time.'),
  topics: z.array(
    z.strictObject({
      topic: z.string(),
      acknowledged: z.enum(['yes', 'no', 'not-checked']),
      messages: z.int().describe('Received and accepted.'),
      rejected: z.int().describe('Received and rejected as malformed; see complaints.'),
      rate: knownSchema(z.number())
        .nullable()
        .describe('Without the first message after enabling; null with fewer than three intervals.'),
      rateReason: z.string().nullable().describe('Why there is no rate; null where there is one.'),
      age: knownSchema(z.number())
        .nullable()
        .describe(
          'Since the last message arrived, at the end of the probe; a repeated old one counts. null without one.',
        ),
    }),
  ),
  listenedMs: z.number(),
  poseUnit: poseUnitSchema.extend({
    largest: poseUnitSchema.shape.largest.describe('Largest |ori| received.'),
  }),
  condition: z.array(robotConditionSchema).describe('Reported conditions; each is a finding as well.'),
  complaints: z.array(z.strictObject({ what: z.string(), count: z.int() })),
  relied: z
    .array(reliedHereSchema)
    .nullable()
    .describe(
      'The facts that orders rely on, with their evidence on this chassis; null: the evidence file cannot be read.',
    ),
  findings: z.array(findingSchema),
});
export type ChassisProbe = z.infer<typeof chassisProbeSchema>;

/** Shape of `gw chassis restart --json`. */
export const chassisRestartSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'brought-back', 'lost', 'changed', 'no-restart-seen', 'not-back', 'interrupted'])
    .describe(
      'brought-back: maps were lost and restored. changed: every map exists, but a map, the current map or the running map differs.',
    ),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  softwareAfter: z.string().nullable().describe('null when the chassis is not connected again, or reports none.'),
  backup: usedBackupSchema,
  stillness: stillnessSchema,
  order: z.enum(['accepted', 'lost']).describe('lost: no response to the order, which can be caused by the restart.'),
  orderError: z.string().nullable(),
  restarted: z.boolean().describe('Whether the signs prove a restart.'),
  signs: z
    .array(z.enum(['start-time', 'starting', 'silence']))
    .describe(
      'start-time: the start time of the software changed. starting: it reported to be starting. silence: no answer.',
    ),
  why: z.string().nullable().describe('Why the chassis is not connected again, from the last attempt.'),
  tookMs: z.number(),
  maps: z
    .array(
      z.strictObject({
        id: z.int().describe('Number before the restart.'),
        uid: z.string().nullable(),
        name: z.string(),
        status: z.enum(['unchanged', 'changed', 'lost', 'not-checked']),
        idNow: z.int().nullable(),
        changes: z.array(z.string()),
        notes: z.array(z.string()),
        difference: overlaysDifferenceSchema.nullable().describe('Difference of the overlays, from before to now.'),
      }),
    )
    .describe('Every map before the restart. Compared: name, map_version, grid, overlays.'),
  notCompared: z.array(z.string()),
  mapInUse: z.strictObject({
    before: z.int().nullable(),
    now: z.int().nullable(),
    verdict: z
      .enum(['same', 'another', 'not-checked'])
      .describe('not-checked: the chassis is not back, or does not store the map that it reports as current.'),
  }),
  running: runningMapSchema
    .nullable()
    .describe('The running map after the restart; null when the chassis is not connected again.'),
  restoreCommand: z.string().nullable().describe('Command that restores lost maps; null without any.'),
  restore: mapRestoreSchema.nullable().describe('The restore that followed, where a person confirmed it.'),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()),
});
export type ChassisRestart = z.infer<typeof chassisRestartSchema>;
