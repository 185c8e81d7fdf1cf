import { z } from 'zod';

const sourceToken = z
  .string()
  .describe('Access token of the source side; a secret, for the environment variable GW_TUNNEL_TOKEN.');
const wasConnected = z
  .boolean()
  .describe(
    'Whether the device was connected to the broker when the notification was sent; its delivery is not checked.',
  );

const place = {
  host: z.string().describe('Host of the tunnel service.'),
  port: z.int().describe('TCP port of the tunnel service.'),
  caFile: z.string().describe('File with the CA certificate of the tunnel service.'),
};

const side = z.strictObject({
  connected: z.boolean(),
  channelId: z.string().nullable().describe('Of the current or the last connection; null: there was none.'),
  connects: z.int().describe('Number of accepted handshakes.'),
  bytes: z.int().describe('Bytes of frames that this side has sent.'),
});

const tunnel = z.strictObject({
  tunnelId: z.string(),
  serial: z.string().describe('Serial number of the device.'),
  services: z.array(z.string()),
  region: z.string().describe('In the notifications.'),
  status: z.enum(['OPEN', 'CLOSED']),
  closedBy: z.enum(['person', 'lifetime']).nullable().describe('null: it is open.'),
  openedAt: z.string().describe('UTC.'),
  leftMs: z.number().describe('Until the tunnel service closes it; 0 when closed.'),
  source: side,
  destination: side,
});
export type SimTunnel = z.infer<typeof tunnel>;

/** Shape of `gw sim tunnel open --json`. */
export const simTunnelOpenSchema = z.strictObject({
  dir,
  tunnel,
  sourceToken,
  connected: wasConnected,
  ...place,
});
export type SimTunnelOpen = z.infer<typeof simTunnelOpenSchema>;

/** Shape of `gw sim tunnel rotate --json`. */
export const simTunnelRotateSchema = z.strictObject({
  dir,
  tunnel,
  side: z.enum(['source', 'destination', 'all']),
  sourceToken: sourceToken.nullable().describe('The new access token of the source side; null: it was not rotated.'),
  connected: wasConnected.nullable().describe('As for open; null: no notification was sent.'),
  ...place,
});
export type SimTunnelRotate = z.infer<typeof simTunnelRotateSchema>;

/** Shape of `gw sim tunnel close --json`. */
export const simTunnelCloseSchema = z.strictObject({ dir, tunnel });
export type SimTunnelClose = z.infer<typeof simTunnelCloseSchema>;

/** Shape of `gw sim tunnel list --json`. */
export const simTunnelListSchema = z.strictObject({
  dir,
  tunnels: z.array(tunnel).describe('Oldest first, also closed ones.'),
  handshakes: z
    .array(
      z.strictObject({
        at: z.string().describe('UTC.'),
        mode: z.enum(['source', 'destination']).nullable().describe('null: neither of the two.'),
        tunnelId: z.string().nullable().describe('null: no tunnel belongs to the token.'),
        status: z.int().describe('101 when accepted.'),
        reason: z.string().describe('Body of the answer; empty when accepted.'),
        hasClientToken: z.boolean(),
      }),
    )
    .describe('The latest 20 handshakes with the tunnel service, also refused ones; oldest first.'),
});
export type SimTunnelList = z.infer<typeof simTunnelListSchema>;

const page = z.strictObject({
  path: z.string(),
  status: z.int().nullable().describe('Status of the HTTP answer; null: there was none.'),
  problem: z.string().nullable().describe('Why there is no complete answer; null: it is complete.'),
  headers: z.record(z.string(), z.string()).describe('Some headers of the answer.'),
  bytes: z.int().describe('Received bytes of the body.'),
  title: z.string().nullable().describe('Title of an HTML page; null: none.'),
  lines: z.array(z.string()).describe('First lines of a body that is text.'),
  tookMs: z.number(),
});
export type SimTunnelPage = z.infer<typeof page>;

/** Shape of `gw sim tunnel browse --json`. */
export const simTunnelBrowseSchema = z.strictObject({
  dir,
  tunnelId: z.string(),
  service: z.string(),
  opened: z.boolean().describe('Whether the command opened the tunnel; it then closed it at its end.'),
  problem: z.string().nullable().describe('Why no page was requested; null: all were.'),
  pages: z.array(page).describe('One for each path, in order.'),
});
export type SimTunnelBrowse = z.infer<typeof simTunnelBrowseSchema>;
