import { z } from 'zod';

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
