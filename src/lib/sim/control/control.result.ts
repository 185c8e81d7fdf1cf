import { z } from 'zod';

const dir = z.string().describe('Folder of the simulator.');
const serial = z.string().describe('Serial number of the device.');
const connected = z
  .boolean()
  .describe('Whether the device was connected when the message was sent; its delivery is not checked.');

const status = z.enum(['QUEUED', 'IN_PROGRESS', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'REMOVED', 'CANCELED']);
const details = z.record(z.string(), z.string()).describe('Status details as the device reported them.');

const job = z.strictObject({
  jobId: z.string(),
  serial,
  executionNumber: z.int(),
  status,
  statusDetails: details,
  versionNumber: z.int().describe('Counts the changes of the job.'),
  queuedAt: z.string().describe('UTC.'),
  updatedAt: z.string().describe('UTC.'),
  history: z.array(z.strictObject({ status, statusDetails: details, at: z.string().describe('UTC.') })),
});
export type SimCloudJob = z.infer<typeof job>;

/** Shape of `gw sim cloud stop --json`. */
export const simCloudStopSchema = z.strictObject({
  dir,
  serial,
  id: z.string().describe('Id of the stop message.'),
  topic: z.string(),
  connected,
});
export type SimCloudStop = z.infer<typeof simCloudStopSchema>;

/** Shape of `gw sim cloud release --json`. */
export const simCloudReleaseSchema = z.strictObject({
  dir,
  job,
  connected,
  waited: z.boolean().describe('Whether the command waited for the end of the job.'),
  ended: z.boolean().describe('Whether the job has a final status.'),
});
export type SimCloudRelease = z.infer<typeof simCloudReleaseSchema>;

/** Shape of `gw sim cloud send --json`. */
export const simCloudSendSchema = z.strictObject({ dir, topic: z.string(), bytes: z.int(), retain: z.boolean() });
export type SimCloudSend = z.infer<typeof simCloudSendSchema>;

/** Shape of `gw sim cloud received --json`. */
export const simCloudReceivedSchema = z.strictObject({
  dir,
  topic: z.string().nullable().describe('The topic that was asked for; null: every topic.'),
  kept: z.int().describe('Number of messages that the simulator keeps, at most 10,000.'),
  matching: z.int().describe('Number of kept messages on that topic.'),
  messages: z.array(
    z.strictObject({
      at: z.string().describe('UTC.'),
      client: z.string(),
      topic: z.string(),
      qos: z.int(),
      bytes: z.int(),
      text: z.string().nullable().describe('null: the payload is not UTF-8.'),
    }),
  ),
});
export type SimCloudReceived = z.infer<typeof simCloudReceivedSchema>;

/** Shape of `gw sim cloud restart --json`. */
export const simCloudRestartSchema = z.strictObject({
  dir,
  connections: z.int().describe('Number of connections that the restart has ended.'),
});
export type SimCloudRestart = z.infer<typeof simCloudRestartSchema>;

/** Shape of `gw sim cloud jobs --json`. */
export const simCloudJobsSchema = z.strictObject({ dir, jobs: z.array(job) });
export type SimCloudJobs = z.infer<typeof simCloudJobsSchema>;

/** Shape of `gw sim cloud cancel --json`. */
export const simCloudCancelSchema = z.strictObject({ dir, job });
export type SimCloudCancel = z.infer<typeof simCloudCancelSchema>;

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
