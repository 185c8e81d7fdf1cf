import { z } from 'zod';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';
import { knownSchema } from '../known.result.ts';
import { linkSchema } from './address.result.ts';
import { robotConditionSchema } from './condition.result.ts';
import { reliedHereSchema } from './probe/relied-facts.result.ts';

/** Shape of `gw chassis probe --json`. */
export const chassisProbeSchema = z.strictObject({
  verdict: checkVerdictSchema,
  address: z.strictObject({ host: z.string(), port: z.int(), way: z.string() }),
  identity: z.strictObject({
    serial: knownSchema(z.string()),
    expectedSerial: z.string(),
    model: knownSchema(z.string()).nullable(),
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
  poseUnit: z.strictObject({
    verdict: z.enum(['degrees', 'radians', 'not-decided']),
    samples: z.int(),
    largest: z.number().nullable().describe('Largest |ori| received.'),
    reason: z.string(),
    doubt: z.string().nullable().describe('Indications of radians, or of no unit, that are no proof.'),
    misfit: z.literal(true).optional().describe('The heading fits neither unit while the robot drives.'),
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
