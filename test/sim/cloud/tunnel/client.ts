import type { ClientRequest, IncomingMessage } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import { createCa } from '../../../../src/lib/sim/cloud/certificates.ts';
import {
  startTunnelService,
  type TunnelService,
  type TunnelServiceOptions,
} from '../../../../src/lib/sim/cloud/tunnel/service.ts';
import { until } from '../../raw-client.ts';

// A client of the tunnel service that knows nothing of protobuf: tests send and expect bytes.

export type Side = 'source' | 'destination';

export const clientToken = '0f8fad5b-d9cb-469f-a165-70867728950e';
export const SUBPROTOCOL = 'vendor.securetunneling-3.0';

/** Frames as in the description of the protocol, with the length before the message. */
export const frames = {
  startSsh: '000b080210012a035353483801',
  dataHello: '001208011001220568656c6c6f2a035353483801',
  connectionStartA2: '0009080610012a01413802',
  connectionResetSsh2: '000b080710012a035353483802',
  streamResetSsh: '0009080310012a03535348',
  startV1: '000408021001',
  serviceIdsSsh: '000708053203535348',
} as const;

export const hex = (text: string) => Buffer.from(text, 'hex');
/** A message with its length before it. */
export const framed = (body: Uint8Array) => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  return Buffer.concat([length, body]);
};
/** Base 128, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}
/** DATA of stream 1, service SSH, connection 1. */
export const dataFrame = (payload: Uint8Array) =>
  framed(Buffer.concat([hex('0801100122'), varint(payload.length), payload, hex('2a035353483801')]));

export interface Peer {
  readonly ws: WebSocket;
  readonly headers: IncomingMessage['headers'];
  /** WebSocket messages in order. */
  readonly messages: Buffer[];
  readonly pongs: string[];
  /** null: the connection is open. */
  closed(): { readonly code: number; readonly reason: string } | null;
  /** All bytes behind SERVICE_IDS. */
  bytes(): Buffer;
  send(frame: string | Uint8Array): void;
  untilBytes(length: number): Promise<Buffer>;
  untilClosed(): Promise<{ readonly code: number; readonly reason: string }>;
}

export interface Refused {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

export interface Dial {
  readonly token?: string;
  readonly clientToken?: string;
  readonly subprotocols?: string[];
  readonly path?: string;
  readonly options?: ClientOptions;
}

/** Connects a side; a refusal is returned. */
export function dial(
  { place, caPem }: Pick<TunnelService, 'place' | 'caPem'>,
  side: Side,
  { token, clientToken, subprotocols = [SUBPROTOCOL], path, options = {} }: Dial,
): Promise<Peer | Refused> {
  const { promise, resolve, reject } = Promise.withResolvers<Peer | Refused>();
  const url = `wss://${place.host}:${place.port}${path ?? `/tunnel?local-proxy-mode=${side}`}`;
  const headers = {
    ...(token !== undefined && { 'access-token': token }),
    ...(clientToken !== undefined && { 'client-token': clientToken }),
    ...(options.headers ?? {}),
  };
  const ws = new WebSocket(url, subprotocols, {
    perMessageDeflate: false,
    autoPong: true,
    ca: caPem,
    ...options,
    headers,
  });
  const messages: Buffer[] = [];
  const pongs: string[] = [];
  let closed: { code: number; reason: string } | null = null;
  let upgraded: IncomingMessage['headers'] = {};
  ws.on('upgrade', (response) => {
    upgraded = response.headers;
  });
  let received = 0;
  ws.on('message', (data: Buffer) => {
    if (messages.length > 0) received += data.length;
    messages.push(Buffer.from(data));
  });
  ws.on('pong', (data) => void pongs.push(data.toString()));
  ws.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  ws.on('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => void chunks.push(chunk));
    response.on('end', () => {
      const { statusCode: status = 0 } = response;
      resolve({ status, type: response.headers['content-type'], body: Buffer.concat(chunks).toString() });
      request.destroy();
    });
  });
  ws.on('error', reject);
  ws.on('open', () => resolve(peer));
  const peer: Peer = {
    ws,
    get headers() {
      return upgraded;
    },
    messages,
    pongs,
    closed: () => closed,
    bytes: () => Buffer.concat(messages.slice(1)),
    send: (frame) => ws.send(typeof frame === 'string' ? hex(frame) : frame),
    async untilBytes(length) {
      await until(() => received >= length);
      return peer.bytes();
    },
    async untilClosed() {
      await until(() => closed !== null);
      return closed ?? { code: 0, reason: '' };
    },
  };
  return promise;
}

/** Connects a side that is accepted, and waits for SERVICE_IDS. */
export async function connectSide(
  service: Pick<TunnelService, 'place' | 'caPem'>,
  side: Side,
  about: Dial,
): Promise<Peer> {
  const peer = await dial(service, side, about);
  if ('status' in peer) throw new Error(`refused: ${peer.status} ${peer.body}`);
  await until(() => peer.messages.length > 0);
  return peer;
}

let ca: ReturnType<typeof createCa> | undefined;

/** A service with one open tunnel for the service SSH. */
export async function startTunnel(options: TunnelServiceOptions = {}, services: readonly string[] = ['SSH']) {
  const notified: { serial: string; notification: object }[] = [];
  const violations: string[] = [];
  ca ??= createCa();
  const service = await startTunnelService({
    ca: await ca,
    notify: async (serial, notification) => void notified.push({ serial, notification }),
    onViolation: (side, reason) => violations.push(`${side}: ${reason}`),
    ...options,
  });
  const opened = await service.open({ services, lifetimeMs: 600_000 });
  const tokens = { source: opened.sourceToken, destination: opened.destinationToken };
  return {
    service,
    opened,
    tokens,
    notified,
    violations,
    tunnelId: opened.tunnel.tunnelId,
    dial: (side: Side, about: Dial = {}) => dial(service, side, { token: tokens[side], ...about }),
    connect: (side: Side, about: Dial = {}) => connectSide(service, side, { token: tokens[side], ...about }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

export type TestTunnel = Awaited<ReturnType<typeof startTunnel>>;

/** Both sides of a tunnel. */
export async function connectBoth(world: TestTunnel, about: { readonly [K in Side]?: Dial } = {}) {
  const destination = await world.connect('destination', about.destination);
  const source = await world.connect('source', about.source);
  return { source, destination };
}
