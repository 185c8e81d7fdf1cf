import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** One thing that was looked at, with what it is needed for and what to ask the customer's IT. */
const networkLineSchema = findingSchema.extend({
  section: z
    .enum(['outward', 'inward', 'segment'])
    .describe('outward: from the gateway to the cloud. inward: what listens here. segment: who reaches whom.'),
  seenFrom: z
    .enum(['gateway', 'second-host', 'nowhere'])
    .describe(
      "From where it is looked at. second-host: a machine named with --from. nowhere: no machine of the robot can see it, and the customer's IT is asked.",
    ),
  need: z.enum(['needed', 'optional']).describe('An optional line that is wrong makes nothing wrong as a whole.'),
  tried: z.string().nullable().describe('Host and port, as dialled.'),
  ask: z.string().nullable().describe('What to ask of the IT of the customer, when the line is wrong.'),
});
export type NetworkLine = z.infer<typeof networkLineSchema>;

const networkVerdictSchema = z
  .enum(['ok', 'wrong', 'not-checked'])
  .describe('wrong: a needed line is wrong. not-checked: none is, but a needed one was not checked.');
export type NetworkVerdict = z.infer<typeof networkVerdictSchema>;

const chainLinkSchema = z.strictObject({
  subject: z.string(),
  issuer: z.string(),
  notBefore: z.string(),
  notAfter: z.string(),
  fingerprintSha256: z.string(),
});

/** The way to one endpoint of the cloud, as it was gone. */
const networkPathSchema = z.strictObject({
  id: z.string(),
  host: z.string(),
  port: z.int(),
  addresses: z.array(z.string()).describe('What the name stands for; the address itself where no name is configured.'),
  reached: z.boolean(),
  connectMs: z.number().nullable().describe('How long TCP took, name resolution aside.'),
  tls: z
    .strictObject({
      protocol: z.string(),
      alpn: z.string().nullable(),
      trust: z.enum(['trusted', 'foreign', 'other-name', 'expired', 'not-yet-valid', 'no-anchor']),
      verifiedBy: z
        .enum(['file', 'bundled', 'extra', 'system'])
        .nullable()
        .describe(
          "file: the CA file of the site file. bundled: Node's own list. extra: NODE_EXTRA_CA_CERTS. system: the operating system's list alone. null: not trusted.",
        ),
      chain: z.array(chainLinkSchema).describe("The server's own certificate first."),
    })
    .nullable(),
  pathMtuBytes: z.int().nullable(),
  tookMs: z.number(),
});
export type NetworkPath = z.infer<typeof networkPathSchema>;

/** A socket of the gateway to which others may speak first. */
const networkSocketSchema = z.strictObject({
  protocol: z.enum(['tcp', 'udp']),
  address: z.string(),
  port: z.int(),
  processes: z
    .array(z.strictObject({ pid: z.int(), name: z.string() }))
    .describe('Empty: this user may not see whose it is. Run as root to see all.'),
  reach: z.enum(['this-machine', 'other-machines']),
  allowedBy: z
    .enum(['platform', 'site-file', 'loopback', 'not-checked'])
    .nullable()
    .describe('null: by nothing. not-checked: which address is in the robot segment is not known.'),
  why: z.string(),
});
export type NetworkSocket = z.infer<typeof networkSocketSchema>;

/** Shape of `gw network check --json`. */
export const networkCheckSchema = z.strictObject({
  verdict: networkVerdictSchema,
  sections: z.strictObject({
    outward: networkVerdictSchema,
    inward: networkVerdictSchema,
    segment: networkVerdictSchema,
  }),
  lines: z.array(networkLineSchema),
  paths: z.array(networkPathSchema),
  sockets: z.array(networkSocketSchema).nullable().describe('null: the kernel did not tell.'),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), optionalWrong: z.int(), notChecked: z.int() }),
  checks: z
    .array(z.strictObject({ id: z.string(), tookMs: z.number() }))
    .describe('What ran side by side, and how long each took.'),
  tookMs: z.number(),
});
export type NetworkCheck = z.infer<typeof networkCheckSchema>;
