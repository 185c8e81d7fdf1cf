import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import type { CloudControl } from '../cloud/model.ts';
import { topicFor } from '../cloud/services/topics.ts';

/** What the technician's cloud console can do with tunnels, as the control server accepts it. */
const tunnelActionSchemas = [
  z.strictObject({
    action: z.literal('tunnel-open'),
    services: z.array(z.string()),
    lifetimeMs: z.number(),
    serial: z.string().optional(),
    region: z.string().optional(),
  }),
  z.strictObject({
    action: z.literal('tunnel-rotate'),
    tunnelId: z.string(),
    side: z.enum(['source', 'destination', 'all']),
  }),
  z.strictObject({ action: z.literal('tunnel-close'), tunnelId: z.string() }),
  z.strictObject({ action: z.literal('tunnel-list') }),
] as const;
type TunnelAction = z.infer<(typeof tunnelActionSchemas)[number]>;

const MAX_HANDSHAKES = 20;

/** Throws USAGE. */
async function runTunnelAction({ tunnel: control, broker }: CloudControl, action: TunnelAction): Promise<object> {
  const isConnected = (serial: string) => broker.connectedIds().includes(serial);
  switch (action.action) {
    case 'tunnel-open': {
      const { action: _, ...options } = action;
      const { tunnel, sourceToken } = await control.open(options);
      return { tunnel, sourceToken, connected: isConnected(tunnel.serial), ...control.place };
    }
    case 'tunnel-rotate': {
      const { tunnel, sourceToken, destinationToken } = await control.rotate(action.tunnelId, action.side);
      const connected = destinationToken === null ? null : isConnected(tunnel.serial);
      return { tunnel, side: action.side, sourceToken, connected, ...control.place };
    }
    case 'tunnel-close':
      return { tunnel: control.close(action.tunnelId) };
    case 'tunnel-list':
      return { tunnels: control.list(), handshakes: control.handshakes().slice(-MAX_HANDSHAKES) };
  }
}

/** What a person can have the simulated cloud do, as the control server accepts it. */
const cloudActionSchema = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('stop'),
    reason: z.string().optional(),
    by: z.string().optional(),
    serial: z.string().optional(),
  }),
  z.strictObject({
    action: z.literal('release'),
    /** Absolute path. */
    file: z.string(),
    version: z.string().optional(),
    stage: z.number().optional(),
    allowDowngrade: z.boolean(),
    serial: z.string().optional(),
  }),
  z.strictObject({ action: z.literal('send'), topic: z.string(), payloadBase64: z.base64(), retain: z.boolean() }),
  z.strictObject({ action: z.literal('received'), topic: z.string().optional(), last: z.int().min(1).max(1_000) }),
  z.strictObject({ action: z.literal('restart') }),
  z.strictObject({ action: z.literal('jobs') }),
  z.strictObject({
    action: z.literal('cancel'),
    jobId: z.string(),
    force: z.boolean(),
    serial: z.string().optional(),
  }),
  ...tunnelActionSchemas,
]);
export type CloudAction = z.infer<typeof cloudActionSchema>;

/** Does what the body of a control request asks for. Throws USAGE, and the error of the action. */
export async function runCloudAction(cloud: CloudControl | null, ownSerial: string, body: unknown): Promise<object> {
  if (cloud === null) {
    throw new GwError('USAGE', 'This simulator has no cloud.', { remedy: 'Start it with `gw sim --with cloud`.' });
  }
  const parsed = cloudActionSchema.safeParse(body);
  if (!parsed.success) throw new GwError('USAGE', 'Invalid or too large control request for the simulated cloud.');
  const action = parsed.data;
  switch (action.action) {
    case 'stop': {
      const { action: _, serial = ownSerial, ...stop } = action;
      const id = await cloud.stop({ ...stop, serial });
      return { serial, id, topic: topicFor(cloud.topics.stop, serial), connected: isConnected(cloud, serial) };
    }
    case 'release': {
      const { action: _, serial = ownSerial, ...release } = action;
      const job = await cloud.release({ ...release, serial });
      return { job, connected: isConnected(cloud, serial) };
    }
    case 'send': {
      const payload = Buffer.from(action.payloadBase64, 'base64');
      await cloud.send(action.topic, payload, { retain: action.retain });
      return { topic: action.topic, bytes: payload.length, retain: action.retain };
    }
    case 'received': {
      const all = cloud.received();
      const found = all.filter(({ topic }) => action.topic === undefined || topic === action.topic);
      return { kept: all.length, matching: found.length, messages: found.slice(-action.last).map(messageView) };
    }
    case 'restart': {
      const connections = cloud.broker.connected();
      await cloud.restart();
      return { connections };
    }
    case 'jobs':
      return { jobs: cloud.jobs() };
    case 'cancel': {
      const { jobId, force, serial = ownSerial } = action;
      return { job: cloud.cancel(jobId, { force, serial }) };
    }
    default:
      return runTunnelAction(cloud, action);
  }
}

function isConnected(cloud: CloudControl, serial: string): boolean {
  return cloud.broker.connectedIds().includes(serial);
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
