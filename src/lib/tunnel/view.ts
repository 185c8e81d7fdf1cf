import { z } from 'zod';
import type { DeepReadonly } from '../json/index.ts';
import { endReasons, refusalReasons } from './records/schema.ts';

const utc = z.string().describe('UTC of the gateway, for people.');
const services = z.array(z.string());
const sinceStart = 'Since the start of gw; null: none.';

export const runningSessionSchema = z.strictObject({
  session: z.string(),
  services,
  since: utc,
  forMs: z.number(),
  leftMs: z.number().describe('Until the own clock of the gateway ends it.'),
  state: z
    .enum(['connecting', 'connected', 'not-checked'])
    .describe(
      'connecting: no connection to the tunnel service at the moment. not-checked: the proxy has not reported for 5 s, so it may be frozen and its tunnel lost.',
    ),
  reportAgeMs: z
    .number()
    .describe('Since the last report of the proxy, which reports every second; before the first one since its start.'),
  open: z.int().nullable().describe('Open TCP connections at the last report of the proxy; null: no report yet.'),
  connections: z
    .int()
    .nullable()
    .describe('TCP connections since the start of the session at the last report; null: no report yet.'),
});
export type RunningSession = DeepReadonly<z.infer<typeof runningSessionSchema>>;

/** State of remote support of a running gateway, as `GET /api/wartung/sitzung` returns it. */
export const supportViewSchema = z.strictObject({
  status: z
    .enum(['not-configured', 'waiting', 'running', 'not-checked'])
    .describe('waiting: no session, and a notification from the cloud would be handled.'),
  detail: z.string(),
  remedy: z.string().nullable(),
  running: runningSessionSchema.nullable(),
  records: z
    .strictObject({
      status: z.enum(['ok', 'failing', 'not-checked']).describe('failing: no session can start.'),
      detail: z.string(),
      notSentYet: z.int().nullable().describe('Records that the outbox of the cloud has not taken yet; null: unknown.'),
    })
    .describe('Whether the records can be written.'),
  lastRefused: z
    .strictObject({ reason: z.enum(refusalReasons), at: utc, detail: z.string() })
    .nullable()
    .describe(sinceStart),
  lastEnded: z
    .strictObject({ session: z.string(), reason: z.enum(endReasons), at: utc, detail: z.string() })
    .nullable()
    .describe(sinceStart),
});
export type SupportView = DeepReadonly<z.infer<typeof supportViewSchema>>;

/** One session or refusal of the records, as `GET /api/wartung/sitzungen` returns it. */
export const sessionEntrySchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('session'),
    session: z.string(),
    at: utc,
    region: z.string(),
    services,
    maxS: z.number().describe('Seconds after which the gateway ends it.'),
    end: z
      .strictObject({
        at: utc,
        reason: z.enum(endReasons),
        detail: z.string(),
        durationS: z.number().nullable(),
        connections: z.int().nullable().describe('TCP connections to the read-only socket; null: not known.'),
      })
      .nullable()
      .describe('null: it runs, or its end could not be recorded yet.'),
  }),
  z.strictObject({
    kind: z.literal('refused'),
    at: utc,
    reason: z.enum(refusalReasons),
    detail: z.string(),
    region: z.string(),
    services,
  }),
]);
export type SessionEntry = DeepReadonly<z.infer<typeof sessionEntrySchema>>;
