import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { bodies, type Frame, kinds, pack, unpack } from './codec.ts';

export type Mode = 'source' | 'destination';

export type Relay = Awaited<ReturnType<typeof startRelay>>;

export interface RelayOptions {
  readonly key: string;
  readonly cert: string;
  readonly services: readonly string[];
  readonly tokens: Readonly<Record<Mode, string>>;
  readonly protocol?: string;
  /** Cuts the stream of bytes anew, between 1 and so many bytes; 0: a frame is a message. */
  readonly chunkMax?: number;
  readonly random?: () => number;
  /** false: the service is silent after the handshake. */
  readonly announces?: boolean;
}

interface Side {
  web: WebSocket;
  raw: Socket;
  /** What waits to be sent, in re-chunking mode. */
  waiting: Buffer[];
}

/** A small tunnel service: tokens, SERVICE_IDS, and frames passed on unchanged; it judges what both sides send. */
export async function startRelay(options: RelayOptions) {
  const { services, tokens, protocol = 'securetunneling-3.0', chunkMax = 0, random = Math.random } = options;
  const server: Server = createServer({ key: options.key, cert: options.cert });
  const web = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 131_076 });
  const sides: Partial<Record<Mode, Side>> = {};
  const clientTokens: Partial<Record<Mode, string | undefined>> = {};
  const spent = new Set<Mode>();
  /** Of the rules, by one of the two sides; a test expects none. */
  const breaches: string[] = [];
  /** Every frame that a side has sent, in order, without its payload. */
  const frames: { readonly from: Mode; readonly frame: Frame }[] = [];
  const handshakes: Record<'mode' | 'token' | 'clientToken' | 'protocol' | 'host', string | undefined>[] = [];
  /** How the next handshakes of a side are answered instead of 101; taken one by one. */
  const answers: { status: number; body: string }[] = [];
  const waiters: { readonly side: Mode; readonly done: () => void }[] = [];
  const sockets = new Set<Socket>();
  /** Sides that are not read at the moment. */
  const held = new Set<Mode>();
  /** Services with a stream, and whether its start named the service. */
  const started = new Map<string, boolean>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });

  server.on('upgrade', (request, raw: Socket, head) => {
    raw.on('error', () => {});
    const url = new URL(request.url ?? '', 'https://relay');
    const mode = url.searchParams.get('local-proxy-mode') as Mode;
    const token = String(request.headers['access-token'] ?? '');
    const clientToken = request.headers['client-token'] as string | undefined;
    const { host } = request.headers;
    handshakes.push({ mode, token, clientToken, protocol: request.headers['sec-websocket-protocol'], host });
    const refuse = (status: number, body: string) =>
      raw.end(`HTTP/1.1 ${status} No\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    const scripted = answers.shift();
    if (scripted) return void refuse(scripted.status, scripted.body);
    if (url.pathname !== '/tunnel') return void refuse(400, 'Invalid path');
    if (mode !== 'source' && mode !== 'destination') return void refuse(400, 'Invalid local-proxy-mode');
    if (token !== tokens[mode]) return void refuse(400, 'Invalid access token');
    if (request.headers['sec-websocket-protocol'] !== protocol) return void refuse(400, 'Invalid subprotocol');
    if (clientToken !== undefined && !/^[a-zA-Z0-9-]{32,128}$/.test(clientToken)) {
      return void refuse(400, 'Invalid client token');
    }
    if (spent.has(mode)) {
      if (clientTokens[mode] === undefined) return void refuse(400, 'The access token was previously used');
      if (clientTokens[mode] !== clientToken) return void refuse(400, 'The client token does not match');
    }
    spent.add(mode);
    clientTokens[mode] = clientToken;
    web.handleUpgrade(request, raw, head, (socket) => attach(mode, socket, raw));
  });
  web.on('headers', (headers) => headers.push('channel-id: relay-channel-1'));

  function attach(mode: Mode, socket: WebSocket, raw: Socket): void {
    sides[mode]?.raw.destroy();
    const side: Side = { web: socket, raw, waiting: [] };
    sides[mode] = side;
    const peer: Mode = mode === 'source' ? 'destination' : 'source';
    const read = bodies((body, whole) => {
      judge(mode, body);
      deliver(peer, whole);
    });
    socket.on('error', () => {});
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) breaches.push(`${mode}: text frame`);
      else {
        if (data.length > 131_076) breaches.push(`${mode}: message of ${data.length} bytes`);
        read(data);
      }
    });
    socket.on('close', () => {
      if (sides[mode] === side) delete sides[mode];
      pace();
    });
    if (options.announces !== false) send(side, pack({ type: kinds.serviceIds, offered: [...services] }));
    for (const waiter of waiters.splice(0)) {
      if (waiter.side === mode) waiter.done();
      else waiters.push(waiter);
    }
  }

  function judge(mode: Mode, body: Buffer): void {
    let frame: Frame;
    try {
      frame = unpack(body);
    } catch (error) {
      breaches.push(`${mode}: ${String(error)}`);
      return;
    }
    frames.push({ from: mode, frame: { ...frame, payload: Buffer.alloc(0) } });
    const breach = (why: string) => breaches.push(`${mode}: ${why} (type ${frame.type}, stream ${frame.stream})`);
    if (frame.foreign.length > 0) breach('foreign field');
    if (frame.payload.length > 64_512) breach('payload too long');
    if (frame.stream <= 0) breach('stream id 0');
    if (frame.offered.length > 0) breach('offers services');
    if (frame.service !== '' && !services.includes(frame.service)) breach(`foreign service ${frame.service}`);
    const { data, streamStart, streamReset, connectionStart, connectionReset } = kinds;
    const allowed: number[] =
      mode === 'source'
        ? [data, streamStart, streamReset, connectionStart, connectionReset]
        : [data, streamReset, connectionReset];
    if (!allowed.includes(frame.type)) return void breach('forbidden sender');
    if (frame.type === streamStart) started.set(frame.service, true);
    else if (frame.type === data && !started.has(frame.service)) breach('DATA before a start');
    if (frame.type !== data && frame.payload.length > 0) breach('payload without DATA');
    if (frame.type === streamReset && frame.connection !== 0) breach('STREAM_RESET with a connection id');
    if (started.has('') && frame.service !== '') breach('service id after a start without one');
  }

  function deliver(to: Mode, bytes: Buffer): void {
    const side = sides[to];
    if (side) send(side, bytes);
  }

  function send(side: Side, bytes: Buffer): void {
    if (chunkMax === 0) {
      side.web.send(bytes, pace);
      pace();
      return;
    }
    side.waiting.push(bytes);
    if (side.waiting.length > 1) return;
    // In the next turn, so that frames of one turn also share a message.
    setImmediate(() => {
      let all = Buffer.concat(side.waiting);
      side.waiting = [];
      while (all.length > 0) {
        const size = 1 + Math.floor(random() * chunkMax);
        side.web.send(all.subarray(0, size), pace);
        all = all.subarray(size);
      }
      pace();
    });
  }

  /** The slower side sets the pace of the other one. */
  function pace(): void {
    for (const mode of ['source', 'destination'] as const) {
      const peer = sides[mode === 'source' ? 'destination' : 'source'];
      const here = sides[mode];
      if (!here || held.has(mode)) continue;
      if ((peer?.web.bufferedAmount ?? 0) > 8 * 1024 * 1024) here.raw.pause();
      else if (here.raw.isPaused()) here.raw.resume();
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    breaches,
    frames,
    handshakes,
    answers,
    /** Bytes to a side, as if the service had sent them. */
    inject: deliver,
    text: (to: Mode, words: string) => sides[to]?.web.send(words),
    /** Without a close frame. */
    cut: (side: Mode) => sides[side]?.raw.destroy(),
    closeTunnel(code = 1000) {
      for (const side of Object.values(sides)) side.web.close(code);
    },
    /** No data is read from a side any more, or again. */
    hold(side: Mode, isHeld: boolean) {
      if (isHeld) held.add(side);
      else held.delete(side);
      if (isHeld) sides[side]?.raw.pause();
      else sides[side]?.raw.resume();
    },
    connected: (side: Mode) =>
      sides[side] ? Promise.resolve() : new Promise<void>((done) => void waiters.push({ side, done })),
    isConnected: (side: Mode) => sides[side] !== undefined,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
