import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';
import { knownSchema } from '../known.result.ts';
import { robotConditionSchema } from './condition.result.ts';
import { reliedHereSchema } from './probe/relied-facts.result.ts';

/** Shape of `gw chassis probe --json`. */
export const chassisProbeSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong']).describe('wrong when a finding is; a finding that was not checked is neither.'),
  address: z.strictObject({ host: z.string(), port: z.int(), way: z.string() }),
  identity: z.strictObject({
    serial: knownSchema(z.string()),
    expectedSerial: z.string(),
    model: knownSchema(z.string()).nullable(),
    software: knownSchema(z.string()).nullable(),
    capabilities: knownSchema(z.array(z.string())).describe('What the chassis announces with true; absent means no.'),
  }),
  latency: z
    .strictObject({
      requests: z.int(),
      median: knownSchema(z.number()),
      longest: knownSchema(z.number()),
    })
    .describe('GET /device/info, one after the other.'),
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
    .describe('null when the chassis tells no time.'),
  topics: z.array(
    z.strictObject({
      topic: z.string(),
      acknowledged: z.enum(['yes', 'no', 'not-checked']),
      messages: z.int().describe('Received and used.'),
      rejected: z.int().describe('Received and not used, because they are malformed; see complaints.'),
      rate: knownSchema(z.number())
        .nullable()
        .describe('Without the message that enabling the topic brought; null with fewer than three intervals.'),
      rateReason: z.string().nullable().describe('Why there is no rate; null where there is one.'),
      age: knownSchema(z.number())
        .nullable()
        .describe(
          'Since the last message came here, when listening ended; a repeated old one counts. null without one.',
        ),
    }),
  ),
  listenedMs: z.number(),
  poseUnit: z.strictObject({
    verdict: z.enum(['degrees', 'radians', 'not-decided']),
    samples: z.int(),
    largest: z.number().nullable().describe('Largest |ori| that was seen, as it came.'),
    reason: z.string(),
    doubt: z.string().nullable().describe('Signs that the unit may be radians which are no proof.'),
  }),
  condition: z.array(robotConditionSchema).describe('What the robot itself reports; each is a finding as well.'),
  complaints: z.array(z.strictObject({ what: z.string(), count: z.int() })),
  relied: z
    .array(reliedHereSchema)
    .nullable()
    .describe('The facts that orders rely on, as they stand on this chassis; null: the evidence file cannot be read.'),
  findings: z.array(findingSchema),
});
export type ChassisProbe = z.infer<typeof chassisProbeSchema>;
