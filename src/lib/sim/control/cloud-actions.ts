import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { CA_FILE } from '../cloud/certificates.ts';
import type { CloudControl } from '../cloud/model.ts';
import { topicFor } from '../cloud/services/topics.ts';
import type {
  SimCloudCancel,
  SimCloudJobs,
  SimCloudReceived,
  SimCloudRelease,
  SimCloudRestart,
  SimCloudSend,
  SimCloudStop,
  SimTunnelClose,
  SimTunnelList,
  SimTunnelOpen,
  SimTunnelRotate,
} from './control.result.ts';

const text = z.string().optional();

/** What a person can have the simulated cloud do, as the control server accepts it. Without a serial number: this robot. */
const cloudActionSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('stop'), reason: text, by: text, serial: text }),
  z.strictObject({
    action: z.literal('release'),
    /** Absolute path. */
    file: z.string(),
    version: text,
    stage: z.number().optional(),
    allowDowngrade: z.boolean(),
    serial: text,
  }),
  z.strictObject({ action: z.literal('send'), topic: z.string(), payloadBase64: z.base64(), retain: z.boolean() }),
  z.strictObject({ action: z.literal('received'), topic: text, last: z.int().min(1).max(1_000) }),
  z.strictObject({ action: z.literal('restart') }),
  z.strictObject({ action: z.literal('jobs') }),
  z.strictObject({ action: z.literal('cancel'), jobId: z.string(), force: z.boolean(), serial: text }),
  z.strictObject({
    action: z.literal('tunnel-open'),
    services: z.array(z.string()),
    lifetimeMs: z.number(),
    serial: text,
    region: text,
  }),
  // Without an id: the only open tunnel.
  z.strictObject({
    action: z.literal('tunnel-rotate'),
    tunnelId: text,
    side: z.enum(['source', 'destination', 'all']),
  }),
  z.strictObject({ action: z.literal('tunnel-close'), tunnelId: text }),
  z.strictObject({ action: z.literal('tunnel-list') }),
]);
export type CloudAction = z.infer<typeof cloudActionSchema>;

/** The result of each action. */
export interface CloudResults {
  readonly stop: SimCloudStop;
  readonly release: Pick<SimCloudRelease, 'dir' | 'job' | 'connected'>;
  readonly send: SimCloudSend;
  readonly received: SimCloudReceived;
  readonly restart: SimCloudRestart;
  readonly jobs: SimCloudJobs;
  readonly cancel: SimCloudCancel;
  readonly 'tunnel-open': SimTunnelOpen;
  readonly 'tunnel-rotate': SimTunnelRotate;
  readonly 'tunnel-close': SimTunnelClose;
  readonly 'tunnel-list': SimTunnelList;
}

const MAX_HANDSHAKES = 20;

interface RunningCloud {
  readonly dir: string;
  readonly cloud: CloudControl | null;
  readonly chassis: { readonly serial: string };
}

/** Does what the body of a control request asks for. Throws USAGE, and the error of the action. */
export async function runCloudAction({ dir, cloud, chassis }: RunningCloud, body: unknown): Promise<object> {
  if (cloud === null) {
    throw new GwError('USAGE', 'This simulator has no cloud.', { remedy: 'Start it with `gw sim --with cloud`.' });
  }
  const parsed = cloudActionSchema.safeParse(body);
  if (!parsed.success) throw new GwError('USAGE', 'Invalid or too large control request for the simulated cloud.');
  return { dir, ...(await run(cloud, parsed.data, chassis.serial, join(dir, CA_FILE))) };
}

async function run(cloud: CloudControl, request: CloudAction, ownSerial: string, caFile: string): Promise<object> {
  const { broker, tunnel: tunnels } = cloud;
  const isConnected = (serial: string) => broker.connectedIds().includes(serial);
  const place = { ...tunnels.place, caFile };
  switch (request.action) {
    case 'stop': {
      const { action: _, serial = ownSerial, ...stop } = request;
      const id = await cloud.stop({ ...stop, serial });
      return { serial, id, topic: topicFor(cloud.topics.stop, serial), connected: isConnected(serial) };
    }
    case 'release': {
      const { action: _, serial = ownSerial, ...release } = request;
      return { job: await cloud.release({ ...release, serial }), connected: isConnected(serial) };
    }
    case 'send': {
      const { topic, retain } = request;
      const payload = Buffer.from(request.payloadBase64, 'base64');
      await cloud.send(topic, payload, { retain });
      return { topic, bytes: payload.length, retain };
    }
    case 'received': {
      const { topic = null, last } = request;
      const all = cloud.received();
      const found = all.filter((message) => topic === null || message.topic === topic);
      return { topic, kept: all.length, matching: found.length, messages: found.slice(-last).map(messageView) };
    }
    case 'restart': {
      const connections = broker.connected();
      await cloud.restart();
      return { connections };
    }
    case 'jobs':
      return { jobs: cloud.jobs() };
    case 'cancel': {
      const { jobId, force, serial = ownSerial } = request;
      return { job: cloud.cancel(jobId, { force, serial }) };
    }
    case 'tunnel-open': {
      const { action: _, ...options } = request;
      const { tunnel, sourceToken } = await tunnels.open(options);
      return { tunnel, sourceToken, connected: isConnected(tunnel.serial), ...place };
    }
    case 'tunnel-rotate': {
      const { tunnelId = onlyOpen(tunnels), side } = request;
      const { tunnel, sourceToken, destinationToken } = await tunnels.rotate(tunnelId, side);
      const connected = destinationToken === null ? null : isConnected(tunnel.serial);
      return { tunnel, side, sourceToken, connected, ...place };
    }
    case 'tunnel-close':
      return { tunnel: tunnels.close(request.tunnelId ?? onlyOpen(tunnels)) };
    case 'tunnel-list':
      return { tunnels: tunnels.list(), handshakes: tunnels.handshakes().slice(-MAX_HANDSHAKES) };
  }
}

/** The id of the only open tunnel. Throws USAGE when there is none or more. */
function onlyOpen(tunnels: CloudControl['tunnel']): string {
  const open = tunnels.list().filter(({ status }) => status === 'OPEN');
  const [only] = open;
  if (only !== undefined && open.length === 1) return only.tunnelId;
  throw new GwError('USAGE', open.length === 0 ? 'No tunnel is open.' : `${open.length} tunnels are open.`, {
    remedy: open.length === 0 ? 'Open one: gw sim tunnel open' : 'Name one of `gw sim tunnel list`.',
  });
}

function messageView({ client, topic, payload, qos, at }: ReturnType<CloudControl['received']>[number]) {
  return { at, client, topic, qos, bytes: payload.length, text: textOf(payload) };
}

/** Null when the payload is not UTF-8. */
function textOf(payload: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
  } catch {
    return null;
  }
}
