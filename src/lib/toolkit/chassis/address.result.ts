import { z } from 'zod';

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
  failure: z
    .enum(['refused', 'no-route', 'no-answer', 'unknown-name', 'cut', 'other', 'bad-answer', 'wrong-device'])
    .nullable()
    .describe('Kind of failure; null when the chassis answers.'),
  detail: z.string().describe('Explanation in one sentence.'),
  tried: z.strictObject({
    address: z.string(),
    port: z.int().optional(),
    via: z.string().optional(),
    slowLink: z.strictObject({ medianMs: z.number(), longestMs: z.number() }).optional(),
    action: z.string().optional(),
    forMs: z.number().optional(),
  }),
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
