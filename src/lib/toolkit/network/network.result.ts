import { z } from 'zod';
import { networkRequestFactsSchema } from '../../report/index.ts';
import { certificateViewSchema } from '../../x509/schema.ts';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';

/** One check line, with what to ask the customer's IT. */
const networkLineSchema = findingSchema.extend({
  section: z
    .enum(['outward', 'inward', 'segment'])
    .describe(
      'outward: from the gateway to the cloud. inward: listening sockets of the gateway. segment: reachability between hosts.',
    ),
  seenFrom: z
    .enum(['gateway', 'second-host', 'nowhere'])
    .describe(
      "Where it is checked from. second-host: a host given with --probe-from. nowhere: cannot be checked from any machine of the robot; the customer's IT has to confirm it.",
    ),
  need: z.enum(['needed', 'optional']).describe('An optional line does not decide, whatever its verdict.'),
  tried: z.string().nullable().describe('Host and port as dialled.'),
  ask: z.string().nullable().describe("What to ask the customer's IT for when the line fails."),
});
export type NetworkLine = z.infer<typeof networkLineSchema>;

/** The result of the connection to one cloud endpoint. */
const networkPathSchema = z.strictObject({
  id: z.string(),
  host: z.string(),
  port: z.int(),
  addresses: z.array(z.string()).describe('Resolved addresses; the address itself where no name is configured.'),
  reached: z.boolean(),
  connectMs: z.number().nullable().describe('Duration of the TCP connect, without name resolution.'),
  tls: z
    .strictObject({
      protocol: z.string(),
      alpn: z.string().nullable(),
      trust: z.enum(['trusted', 'untrusted', 'hostname-mismatch', 'expired', 'not-yet-valid', 'no-trust-anchor']),
      verifiedBy: z
        .enum(['file', 'bundled', 'extra', 'system'])
        .nullable()
        .describe(
          "file: the CA file of the site file. bundled: Node's own list. extra: NODE_EXTRA_CA_CERTS. system: the operating system's list alone. null: not trusted.",
        ),
      chain: z.array(certificateViewSchema).describe('The server certificate first.'),
    })
    .nullable(),
  pathMtuBytes: z.int().nullable(),
  tookMs: z.number(),
});
export type NetworkPath = z.infer<typeof networkPathSchema>;

/** An open socket of the gateway. */
const networkSocketSchema = z.strictObject({
  protocol: z.enum(['tcp', 'udp']),
  address: z.string(),
  port: z.int(),
  processes: z
    .array(z.strictObject({ pid: z.int(), name: z.string() }))
    .describe('Empty: not visible to this user. Run as root to see all.'),
  reach: z.enum(['this-machine', 'other-machines']),
  allowedBy: z
    .enum(['platform', 'site-file', 'loopback', 'not-checked'])
    .nullable()
    .describe('null: not allowed. not-checked: the address in the robot segment is unknown.'),
  why: z.string(),
});
export type NetworkSocket = z.infer<typeof networkSocketSchema>;

/** Shape of `gw network check --json`. */
export const networkCheckSchema = z.strictObject({
  verdict: checkVerdictSchema,
  sections: z.strictObject({
    outward: checkVerdictSchema,
    inward: checkVerdictSchema,
    segment: checkVerdictSchema,
  }),
  lines: z.array(networkLineSchema),
  paths: z.array(networkPathSchema),
  sockets: z.array(networkSocketSchema).nullable().describe('null: the kernel tables could not be read.'),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), optionalWrong: z.int(), notChecked: z.int() }),
  checks: z
    .array(z.strictObject({ id: z.string(), tookMs: z.number() }))
    .describe('The concurrent checks with their durations.'),
  tookMs: z.number(),
});
export type NetworkCheck = z.infer<typeof networkCheckSchema>;

/** Shape of `gw network request --json`. */
export const networkRequestSchema = z.strictObject({
  lang: z.enum(['de', 'en']),
  format: z.enum(['md', 'html', 'pdf']),
  facts: networkRequestFactsSchema.describe('The facts of the letter, from the site file only.'),
  complete: z.boolean().describe('true when the letter has no open point.'),
  document: z.string().nullable().describe('The letter; null when it was written to a file.'),
  written: z
    .strictObject({ path: z.string(), bytes: z.int(), pages: z.int().nullable(), replacedCharacters: z.int() })
    .nullable(),
});
export type NetworkRequest = z.infer<typeof networkRequestSchema>;
