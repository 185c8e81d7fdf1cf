import { z } from 'zod';
import type { DeepReadonly } from '../../json/index.ts';
import { runningSessionSchema, sessionEntrySchema, supportViewSchema } from '../../tunnel/index.ts';
import { cloudHeadSchema } from '../cloud/cloud.result.ts';
import { findingSchema } from '../finding.result.ts';

/** `GET /api/wartung/sitzungen` */
export const sessionListSchema = z.strictObject({
  sessions: z.array(sessionEntrySchema).describe('Sessions and refusals, newest first.'),
  hasMore: z.boolean().describe('Whether there are older ones.'),
});

const at = z.string().describe('UTC of this machine, for people.');
const service = z.string();
const connection = z.int().describe('Counts per service from 1 for the whole run.');
const open = z.int().describe('Open connections of this service.');

/** One line of `gw tunnel connect --json`. */
export const tunnelConnectSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('ready'),
    at,
    host: z.string().describe('Host of the tunnel service.'),
    port: z.int(),
    channelId: z.string().nullable().describe('Id that the service gave this connection; null: none.'),
    services: z.array(z.string()).describe('Services of the tunnel.'),
    listeners: z
      .array(z.strictObject({ service, host: z.string(), port: z.int(), url: z.string() }))
      .describe('Ports on this machine, one for each asked service.'),
    region: z
      .strictObject({
        expected: z.string().nullable().describe('By --region or the site file; null: neither.'),
        status: z
          .enum(['ok', 'not-checked'])
          .describe(
            "ok: a provider's host name has this region. not-checked: nothing to compare, or a name that proves nothing.",
          ),
        detail: z.string(),
      })
      .describe('Whether the tunnel service is in the expected region; a different one is refused before.'),
    robotSide: z
      .literal('not-checked')
      .describe("The protocol does not show whether the robot's side is connected; see `answered` and `no-answer`."),
  }),
  z.strictObject({ event: z.literal('reconnected'), at, channelId: z.string().nullable() }),
  z.strictObject({
    event: z.literal('lost'),
    at,
    detail: z.string(),
    retryInMs: z.number(),
    wasReady: z.boolean().describe('false: no attempt has succeeded yet.'),
  }),
  z.strictObject({ event: z.literal('opened'), at, service, connection, open }),
  z.strictObject({ event: z.literal('answered'), at, service }),
  z.strictObject({ event: z.literal('no-answer'), at, service, forMs: z.number() }),
  z.strictObject({
    event: z.literal('closed'),
    at,
    service,
    connection,
    open,
    reason: z
      .enum(['local', 'remote', 'reset', 'stalled', 'lost'])
      .describe(
        "local: by the program here. remote: by the robot's side. reset: all of the service, by the robot's side or the service. stalled: the program here does not read. lost: with the connection to the tunnel service.",
      ),
    bytesUp: z.int(),
    bytesDown: z.int(),
  }),
  z.strictObject({
    event: z.literal('ended'),
    at,
    reason: z.enum(['closed-by-service', 'interrupted']),
    detail: z.string(),
    connections: z.int(),
    bytesUp: z.int(),
    bytesDown: z.int(),
    reconnects: z.int(),
  }),
]);
export type TunnelConnectEvent = z.infer<typeof tunnelConnectSchema>;

/** `gw tunnel end --json` */
export const tunnelEndSchema = z.strictObject({
  ended: z.boolean().describe('Whether a session was ended; false: none ran.'),
  status: supportViewSchema.shape.status.describe('Afterwards.'),
  session: runningSessionSchema.nullable().describe('The session that ran before; null: none.'),
  running: runningSessionSchema.nullable().describe('The session that runs afterwards; null: none.'),
});
export type TunnelEnd = DeepReadonly<z.infer<typeof tunnelEndSchema>>;

/** `gw tunnel sessions --json` */
export const tunnelSessionsSchema = z.strictObject({
  sessions: z
    .array(sessionEntrySchema)
    .nullable()
    .describe('Sessions and refusals, newest first; null: the running gateway has no cloud and reads no records.'),
  hasMore: z.boolean().describe('Whether there are older ones.'),
  running: z.string().nullable().describe('Id of the session that runs now; null: none.'),
});
export type TunnelSessions = DeepReadonly<z.infer<typeof tunnelSessionsSchema>>;

/** `gw tunnel status --json` */
export const tunnelStatusSchema = z.strictObject({
  ...supportViewSchema.shape,
  cloud: cloudHeadSchema.describe('The cloud link, by which the notification of a session arrives.'),
});
export type TunnelStatus = DeepReadonly<z.infer<typeof tunnelStatusSchema>>;

/** 'tunnel rehearsal': a session of remote support that a person opens in the cloud console during the check. */
export const tunnelRehearsalSchema = z.strictObject({
  serial: z.string(),
  session: z.string().nullable().describe('Id of the session that was opened during the check; null: none.'),
  services: z.array(z.string()).nullable().describe('Services of this session.'),
  connections: z.int().nullable().describe('Connections through the tunnel that were reported; null: no report.'),
  waitedMs: z.number().describe('From the request to the person at the cloud console to the start of the session.'),
  findings: z.array(findingSchema),
});
export type TunnelRehearsal = DeepReadonly<z.infer<typeof tunnelRehearsalSchema>>;
