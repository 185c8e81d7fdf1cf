import { z } from 'zod';
import { endReasons, refusalReasons } from '../../tunnel/index.ts';

const utc = z.string().describe('UTC of the gateway, for people.');

export const runningSessionSchema = z.strictObject({
  session: z.string(),
  services: z.array(z.string()),
  since: utc,
  forMs: z.number(),
  leftMs: z.number().describe('Until the own clock of the gateway ends it.'),
  state: z
    .enum(['connecting', 'connected', 'not-checked'])
    .describe(
      'connecting: no connection to the tunnel service at the moment; not-checked: the proxy has not reported for 5 s.',
    ),
  reportAgeMs: z.number().describe('Since the last report of the proxy, which reports every second.'),
  open: z.int().nullable().describe('Open connections at the last report of the proxy; null: no report yet.'),
  connections: z.int().nullable().describe('Connections since the start; null: no report yet.'),
});

/** `GET /api/wartung/sitzung`: the state of remote support of a running gateway. */
export const supportViewSchema = z.strictObject({
  status: z
    .enum(['not-configured', 'waiting', 'running', 'not-checked'])
    .describe('waiting: no session, and a notification from the cloud would be handled.'),
  detail: z.string(),
  remedy: z.string().nullable(),
  running: runningSessionSchema.nullable(),
  records: z.strictObject({
    status: z.enum(['ok', 'failing', 'not-checked']).describe('failing: no session can start.'),
    detail: z.string(),
    notSentYet: z.int().nullable().describe('Records that the outbox of the cloud has not taken yet; null: unknown.'),
  }),
  lastRefused: z
    .strictObject({ reason: z.enum(refusalReasons), at: utc, detail: z.string() })
    .nullable()
    .describe('Since the start of gw.'),
  lastEnded: z
    .strictObject({ session: z.string(), reason: z.enum(endReasons), at: utc, detail: z.string() })
    .nullable()
    .describe('Since the start of gw.'),
});
export type SupportState = z.infer<typeof supportViewSchema>;

export const sessionEntrySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('session'),
    session: z.string(),
    at: utc,
    region: z.string(),
    services: z.array(z.string()),
    maxS: z.number().describe('Seconds after which the gateway ends it.'),
    end: z
      .strictObject({
        at: utc,
        reason: z.enum(endReasons),
        detail: z.string(),
        durationS: z.number().nullable(),
        connections: z.int().nullable().describe('To the read-only socket; null: not known.'),
      })
      .nullable()
      .describe('null: it runs, or its end is not recorded.'),
  }),
  z.strictObject({
    kind: z.literal('refused'),
    at: utc,
    reason: z.enum(refusalReasons),
    detail: z.string(),
    region: z.string(),
    services: z.array(z.string()),
  }),
]);
export type RecordedSession = z.infer<typeof sessionEntrySchema>;

/** `GET /api/wartung/sitzungen` */
export const sessionListSchema = z.strictObject({
  sessions: z.array(sessionEntrySchema).describe('Sessions and refusals, newest first.'),
  hasMore: z.boolean().describe('Whether there are older ones.'),
});
