import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import type { ProxySettings } from '../../../src/lib/tunnel/model.ts';
import { type RunProxyOptions, runProxy } from '../../../src/lib/tunnel/proxy/run.ts';
import type { ProxyEvent } from '../../../src/lib/tunnel/proxy.result.ts';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { createFrameReader } from '../../../src/lib/tunnel/wire/frames.ts';
import type { TunnelMessage } from '../../../src/lib/tunnel/wire.ts';
import { createFakeClock, passTime } from '../../lifecycle/fake-clock.ts';
import { listening } from '../../listening.ts';
import { until as untilSeen } from '../../waiting.ts';

export const SUBPROTOCOL = 'test.securetunneling-3.0';
export const ACCESS = 'destination-access-token-7f3a19c2b4d8e6f0';
export const CLIENT = '0f4c1d2e-0000-4000-8000-1234567890ab';

export type Sent = Partial<TunnelMessage> & Pick<TunnelMessage, 'type'>;

/** One WebSocket, seen from the service. */
export interface Client {
  readonly ws: WebSocket;
  readonly request: IncomingMessage;
  /** TLS socket below it. */
  readonly socket: Duplex;
  readonly received: TunnelMessage[];
  readonly pings: string[];
  closeCode: number | undefined;
  send(...messages: Sent[]): void;
}

export type FakeService = Awaited<ReturnType<typeof fakeService>>;

export interface FakeServiceOptions {
  readonly authority?: CertificateAuthority;
  /** A free one by default. */
  readonly port?: number;
  /** Sent at once; null: nothing. By default `web`. */
  readonly services?: readonly string[] | null;
  /** Answers a request instead of the upgrade; false: it does not. */
  readonly answer?: (request: IncomingMessage, socket: Duplex, count: number) => boolean;
  /** Of the answer 101; null: none. */
  readonly subprotocol?: string | null;
  readonly headers?: readonly string[];
  /** `channel-1` by default. */
  readonly channelId?: string;
  readonly names?: readonly [string];
  readonly notAfter?: Date;
  readonly onClient?: (client: Client, count: number) => void;
  readonly autoPong?: boolean;
}

/** One for all services of this process that name no other. */
let common: Promise<CertificateAuthority> | undefined;

/** A tunnel service that does what the test tells it to. */
export async function fakeService(options: FakeServiceOptions = {}) {
  const { services = ['web'], subprotocol = SUBPROTOCOL, answer = () => false, autoPong = true } = options;
  if (options.authority === undefined) common ??= createCa();
  const authority = options.authority ?? (await (common as Promise<CertificateAuthority>));
  const { keyPem, certificatePem } = await authority.issueServer({
    names: options.names ?? ['127.0.0.1'],
    ...(options.notAfter && { notAfter: options.notAfter, notBefore: new Date(0) }),
  });
  const dir = mkdtempSync(join(tmpdir(), 'gw-tunnel-'));
  const caFile = join(dir, 'ca.pem');
  writeFileSync(caFile, authority.caPem);
  const server = createHttpsServer({ key: keyPem, cert: certificatePem }, (_request, response: ServerResponse) => {
    response.writeHead(426).end();
  });
  server.on('tlsClientError', () => {});
  const upgrades = new WebSocketServer({
    noServer: true,
    autoPong,
    perMessageDeflate: false,
    handleProtocols: (offered) => (subprotocol !== null && offered.has(subprotocol) ? subprotocol : false),
  });
  upgrades.on('headers', (headers) =>
    headers.push(`channel-id: ${options.channelId ?? 'channel-1'}`, ...(options.headers ?? [])),
  );
  const clients: Client[] = [];
  const requests: IncomingMessage[] = [];
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    requests.push(request);
    socket.on('error', () => {});
    if (answer(request, socket, requests.length)) return;
    upgrades.handleUpgrade(request, socket, head, (ws) => {
      const client: Client = {
        ws,
        request,
        socket,
        received: [],
        pings: [],
        closeCode: undefined,
        send: (...messages) => ws.send(Buffer.concat(messages.map((message) => encodeFrame(message)))),
      };
      const reader = createFrameReader((message) => client.received.push(message));
      ws.on('message', (data: Buffer) => reader.push(data));
      ws.on('ping', (data: Buffer) => client.pings.push(data.toString()));
      ws.on('close', (code) => {
        client.closeCode = code;
      });
      ws.on('error', () => {});
      clients.push(client);
      if (services !== null) client.send({ type: 'service-ids', availableServiceIds: services });
      options.onClient?.(client, clients.length);
    });
  });
  const running = await listening(server, options.port);
  return {
    port: running.port,
    caFile,
    clients,
    /** For a WebSocket, also those that were refused. */
    requests,
    async client(index = 0) {
      await until(`client ${index}`, () => clients.length > index);
      return clients[index] as Client;
    },
    async [Symbol.asyncDispose]() {
      for (const { ws } of clients) ws.terminate();
      await running[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** A local TCP server in place of the read-only socket. */
export async function target(handle: (socket: Socket) => void = (socket) => socket.pipe(socket)) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    handle(socket);
  });
  const running = await listening(server);
  return { ...running, sockets, connect: () => connect({ host: '127.0.0.1', port: running.port }) };
}

/** A connection that is never established and never fails, as to an address whose packets are dropped. */
export const neverConnects = () => connect({ host: 'silent.invalid', port: 1, lookup: () => {} });

export type RunningProxy = ReturnType<typeof startProxy>;

export function startProxy(
  service: Pick<FakeService, 'port' | 'caFile'>,
  about: Partial<RunProxyOptions> & { readonly settings?: Partial<ProxySettings> } = {},
) {
  const clock = createFakeClock();
  const ending = new AbortController();
  const events: ProxyEvent[] = [];
  const notes: string[] = [];
  const { settings, ...options } = about;
  const note = (_fields: object, text: string) => void notes.push(text);
  const result = runProxy(
    {
      ...{ host: '127.0.0.1', port: service.port, subprotocol: SUBPROTOCOL, caFile: service.caFile },
      ...{ services: ['web'], maxS: 600, ...settings },
    },
    {
      tokens: { access: ACCESS, client: CLIENT },
      clock,
      random: () => 0.5,
      signal: ending.signal,
      onEvent: (event) => events.push(event),
      log: { debug: note, info: note, warn: note, error: (fields, text) => note({}, text + JSON.stringify(fields)) },
      connect: neverConnects,
      ...options,
    },
  );
  const lost = () => events.flatMap((event) => (event.event === 'lost' ? [event.detail] : []));
  return {
    /** Unless the test gave one. */
    clock,
    events,
    notes,
    result,
    lost,
    hasEnded: () => events.at(-1)?.event === 'ended',
    stop: (reason?: unknown) => ending.abort(reason),
    /** Waits for the nth loss in a row, and lets the wait before the next attempt pass. */
    async retry(n = 1) {
      await until(`loss ${n}`, () => lost().length >= n);
      await clock.advance(waitMs(n));
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await passTime(clock, 100, result);
    },
  };
}

/** The wait after the nth loss in a row, without jitter. */
export const waitMs = (n: number) => Math.min(22_500, 375 * 2 ** (n - 1));

export async function until(what: string, is: () => boolean): Promise<void> {
  await untilSeen(
    () => (is() ? '' : what),
    (missing) => missing === '',
  );
}

/** Rounds of the event loop, in which bytes of this machine are delivered. */
export async function rounds(count = 20): Promise<void> {
  for (let round = 0; round < count; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until a number of bytes above this has stopped growing: the kernel takes no more. */
export async function untilFull(what: string, read: () => number, above = 0): Promise<void> {
  const seen: number[] = [];
  await until(what, () => {
    seen.push(read());
    return seen.slice(-6).every((bytes) => bytes === seen.at(-6) && bytes > above);
  });
}

/** All DATA of one connection, joined. */
export function dataOf(messages: readonly TunnelMessage[], connectionId = 1, serviceId = 'web'): Buffer {
  const parts = messages.filter(
    (each) => each.type === 'data' && each.connectionId === connectionId && each.serviceId === serviceId,
  );
  return Buffer.concat(parts.map(({ payload }) => payload));
}
