import { z } from 'zod';

const verdict = z.enum(['ok', 'wrong', 'not-checked']);

/** Shape of `gw chassis address --json`. */
export const chassisAddressSchema = z.strictObject({
  state: z
    .enum(['connected', 'starting', 'not-connected', 'wrong-device'])
    .describe('starting: a chassis answers, but tells its serial number only once its start is complete.'),
  failure: z
    .enum(['refused', 'no-route', 'no-answer', 'unknown-name', 'cut', 'other', 'bad-answer', 'wrong-device'])
    .nullable()
    .describe('What kind of failure it is; null when the chassis answers.'),
  detail: z.string().describe('What that means, in one sentence.'),
  tried: z.strictObject({
    address: z.string(),
    port: z.int().optional(),
    via: z.string().optional(),
    action: z.string().optional(),
    forMs: z.number().optional(),
  }),
  way: z.string().describe('How it was dialled: direct, or the way through.'),
  name: z
    .strictObject({
      kind: z.enum(['address', 'resolved', 'unknown', 'no-answer', 'not-checked']),
      addresses: z.array(z.string()),
      tookMs: z.number().nullable(),
    })
    .describe('What the name in the site file stands for; `address`: it is an address and needs no look-up.'),
  tcp: z.strictObject({ verdict, tookMs: z.number().nullable() }).describe('Whether the port could be opened.'),
  serial: z.strictObject({ verdict, expected: z.string(), found: z.string().nullable() }),
  software: z.string().nullable().describe('Chassis software version; null when it was not told.'),
  mac: z
    .strictObject({ verdict, expected: z.string().nullable(), found: z.string().nullable(), detail: z.string() })
    .describe('The neighbour table of this machine against chassis.mac of the site file.'),
  tookMs: z.number(),
  remedy: z.string().nullable(),
});
export type ChassisAddress = z.infer<typeof chassisAddressSchema>;
