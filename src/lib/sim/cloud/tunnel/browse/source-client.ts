import { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { Clock } from '../../../../lifecycle/index.ts';
import type { TunnelMessage } from '../../../../tunnel/wire.ts';
import { createFrameReader, decodeFrame, encodeFrame } from '../codec.ts';
import { MAX_MESSAGE_BYTES, MAX_PAYLOAD_BYTES } from '../rules.ts';

export interface SourceClientOptions {
  readonly host: string;
  readonly port: number;
  readonly caPem: string;
  readonly accessToken: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** The source side of a tunnel, as the technician's program has it. */
export interface SourceClient extends Disposable {
  /** As the service names them. */
  readonly services: readonly string[];
  /** A connection to a service; it ends when the destination resets it. */
  open(service: string): Duplex;
}

const CLOSE_WAIT_MS = 1_000;
const SUBPROTOCOL = 'securetunneling-3.0';

/** Connects the source side. Rejects with a reason for a person. */
export async function connectSource(options: SourceClientOptions): Promise<SourceClient> {
  const { host, port, caPem, accessToken, timeoutMs, clock } = options;
  const ws = new WebSocket(`wss://${host}:${port}/tunnel?local-proxy-mode=source`, [SUBPROTOCOL], {
    ca: caPem,
    headers: { 'access-token': accessToken },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: timeoutMs,
    followRedirects: false,
  });
  const readFrames = createFrameReader();
  const ready = Promise.withResolvers<readonly string[]>();
  const connections = new Map<number, Duplex>();
  let streamId = 0;
  let isStreamOpen = false;
  let lastConnectionId = 0;

  const timer = clock.after(timeoutMs, () => fail('no SERVICE_IDS received in time'));
  function fail(reason: string): void {
    timer[Symbol.dispose]();
    ready.reject(new Error(reason));
    for (const connection of connections.values()) connection.destroy(new Error(reason));
    connections.clear();
    ws.terminate();
  }
  ready.promise.catch(() => {});

  ws.on('unexpected-response', (_request, response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      body = (body + text).slice(0, 200);
    });
    response.on('close', () => fail(`the tunnel service refused the source: ${response.statusCode} ${body}`));
  });
  ws.on('error', (error) => fail(`the connection to the tunnel service failed: ${error.message}`));
  ws.on('close', (code, reason) => fail(`the tunnel service closed the connection (${code} ${reason})`));
  ws.on('message', (data: Buffer) => {
    for (const frame of readFrames(data)) {
      const decoded = decodeFrame(frame);
      if (decoded.kind === 'message') receive(decoded.message);
      else fail(`the tunnel service sent ${decoded.reason}`);
    }
  });

  function receive(message: TunnelMessage): void {
    const connection = connections.get(message.connectionId);
    switch (message.type) {
      case 'service-ids':
        timer[Symbol.dispose]();
        ready.resolve(message.availableServiceIds);
        break;
      case 'data':
        if (message.streamId === streamId && connection?.push(message.payload) === false) ws.pause();
        break;
      case 'connection-reset':
        connections.delete(message.connectionId);
        connection?.push(null);
        break;
      case 'stream-reset':
        if (message.streamId !== streamId) break;
        isStreamOpen = false;
        for (const open of connections.values()) open.destroy(new Error('the stream was reset'));
        connections.clear();
        break;
      case 'session-reset':
        fail('the tunnel service reset the session');
        break;
      default:
    }
  }

  function open(serviceId: string): Duplex {
    lastConnectionId += 1;
    const connectionId = lastConnectionId;
    const isFirst = !isStreamOpen;
    if (isFirst) streamId += 1;
    isStreamOpen = true;
    const about = { streamId, serviceId, connectionId };
    ws.send(encodeFrame({ type: isFirst ? 'stream-start' : 'connection-start', ...about }));
    const connection = new Duplex({
      read: () => ws.resume(),
      write(chunk: Buffer, _encoding, done) {
        for (let at = 0; at < chunk.length; at += MAX_PAYLOAD_BYTES) {
          const payload = chunk.subarray(at, at + MAX_PAYLOAD_BYTES);
          const isLast = at + MAX_PAYLOAD_BYTES >= chunk.length;
          ws.send(encodeFrame({ type: 'data', payload, ...about }), isLast ? done : undefined);
        }
      },
      // The protocol has no half-close: the end of what this side sends is not sent.
      final: (done) => done(),
      destroy(error, done) {
        if (connections.delete(connectionId)) ws.send(encodeFrame({ type: 'connection-reset', ...about }), () => {});
        ws.resume();
        done(error);
      },
    });
    connections.set(connectionId, connection);
    return connection;
  }

  const services = await ready.promise;
  return {
    services,
    open,
    [Symbol.dispose]() {
      for (const connection of connections.values()) connection.destroy();
      ws.close(1000);
      // The answer may never come.
      const ending = clock.after(CLOSE_WAIT_MS, () => ws.terminate());
      ws.once('close', () => ending[Symbol.dispose]());
    },
  };
}
