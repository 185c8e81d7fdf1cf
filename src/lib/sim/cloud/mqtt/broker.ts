import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Aedes, AedesOptions } from 'aedes';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';
import type { CertificateAuthority } from '../certificates.ts';
import { type ConnectionHandler, createTlsHandler, startListener } from '../listener.ts';
import { type BrokerLimits, createGuard, createGuardedStream, type DiscardedPublish, topicProblem } from './guard.ts';

/** A client that the broker accepted. */
interface AcceptedClient {
  readonly clientId: string;
  /** Clean session flag of its CONNECT. */
  readonly clean: boolean;
  /** Whether it connected with ALPN, on the second port. */
  readonly byAlpn: boolean;
}

/** A connection that the broker closed because of what the client sent. */
export interface ClosedConnection {
  readonly clientId: string;
  readonly reason: string;
}

/** A message of a client, or its last will. */
export interface ClientMessage {
  readonly clientId: string;
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: number;
}

interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array | string;
  readonly qos?: 0 | 1;
  readonly retain?: boolean;
}

export interface Broker extends AsyncDisposable {
  /** TLS with client certificates. */
  readonly port: number;
  /** The same with ALPN, as on 443. */
  readonly alpnPort: number;
  readonly alpn: string;
  /** Oldest first, at most the last 100. */
  clients(): readonly AcceptedClient[];
  /** Number of connected clients. */
  connected(): number;
  connectedIds(): readonly string[];
  /** Oldest first, at most the last 100. */
  closed(): readonly ClosedConnection[];
  /** Publishes of clients that were ignored without PUBACK, by reason. */
  discarded(): Readonly<Record<DiscardedPublish, number>>;
  /** Publishes to all subscribed clients; waits while the broker is down. */
  publish(message: OutgoingMessage): Promise<void>;
  /** Sends to one client whether or not it has subscribed; no effect when it is not connected. */
  sendTo(clientId: string, message: OutgoingMessage): Promise<void>;
  /** Closes both ports and all connections, or returns. Sessions and retained messages are kept. */
  setDown(isDown: boolean): Promise<void>;
  /** Must be called on every change of the fault that closes the first port. */
  setFirstPortOpen(open: boolean): Promise<void>;
}

export interface BrokerOptions {
  /** CA of the accepted client certificates. */
  readonly ca: CertificateAuthority;
  /** CA of the TLS inspection, for the fault `cloud-inspected`. */
  readonly inspector: CertificateAuthority;
  readonly alpn: string;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  readonly limits: BrokerLimits;
  /** Called in the order of the packets, before a message is acknowledged. */
  readonly onMessage: (message: ClientMessage) => void;
  readonly onClosed: (closed: ClosedConnection) => void;
  readonly port?: number;
  readonly alpnPort?: number;
}

const MAX_KEPT = 100;
/** MQTT 3.1.1, 3.2.2.3: not authorized. */
const NOT_AUTHORIZED = 5;
/** Delay of the fault `cloud-slow`. */
export const SLOW_MS = 3_000;
/** Client identifiers of a common vendor (HINWEIS). */
const CLIENT_ID = /^[A-Za-z0-9:_-]{1,128}$/;

/**
 * An MQTT broker (aedes) with client certificates: the client id must be the common name of the certificate, and limits
 * and policy are those of a common vendor. Throws PORT_IN_USE.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { ca, inspector, alpn, faults, clock, limits, onMessage, onClosed } = options;
  // Loaded on demand: a large library, needed only with the part `cloud`.
  const { Aedes } = await import('aedes');
  const codec = await import('mqtt-packet');
  const seen: AcceptedClient[] = [];
  const closed: ClosedConnection[] = [];
  const discarded: Record<DiscardedPublish, number> = { 'qos-2': 0, rate: 0, 'in-flight': 0 };
  const sockets = new WeakMap<object, TLSSocket>();
  const clients = new Map<string, ReturnType<Aedes['handle']>>();
  const unacknowledged = new Map<string, Set<number>>();

  function noteClosed(clientId: string, reason: string): void {
    closed.push({ clientId, reason });
    if (closed.length > MAX_KEPT) closed.shift();
    onClosed({ clientId, reason });
  }

  const hooks: AedesOptions = {
    preConnect({ conn }, { clientId, will }, done) {
      const socket = sockets.get(conn);
      const isOwn = socket !== undefined && commonName(socket) === clientId && CLIENT_ID.test(clientId);
      const problem = will && topicProblem(will.topic, clientId, limits);
      if (isOwn && (problem !== undefined || will?.retain)) {
        noteClosed(clientId, `a last will ${problem === undefined ? 'that is retained' : `to ${problem}`}`);
      }
      if (!isOwn || problem !== undefined || will?.retain) {
        conn.destroy();
        done(null, false);
        return;
      }
      const ready = faults.is('cloud-session-lost') ? forgetSession(clientId) : Promise.resolve();
      void ready.then(() => done(null, true));
    },
    authenticate(_client, _username, _password, done) {
      if (!faults.is('cloud-not-allowed')) return done(null, true);
      done(Object.assign(new Error('not authorized'), { returnCode: NOT_AUTHORIZED as number }), false);
    },
    authorizePublish(client, { topic, payload, qos }, done) {
      // Messages and last wills; aedes calls this in the order of the packets.
      if (client !== null) onMessage({ clientId: client.id, topic, payload: Buffer.from(payload), qos });
      done(null);
    },
  };

  async function start(persistence?: Persistence): Promise<Aedes> {
    const aedes = await Aedes.createBroker({ ...hooks, ...(persistence && { persistence }) });
    aedes.on('client', (client) => {
      const { id, clean, conn } = client;
      seen.push({ clientId: id, clean, byAlpn: sockets.get(conn)?.alpnProtocol === alpn });
      if (seen.length > MAX_KEPT) seen.shift();
      clients.set(id, client);
    });
    aedes.on('clientDisconnect', (client) => {
      if (clients.get(client.id) === client) clients.delete(client.id);
    });
    for (const event of ['clientError', 'connectionError'] as const) aedes.on(event, () => {});
    return aedes;
  }

  /** Null while the broker is down. */
  let aedes: Aedes | null = await start();
  const { persistence } = aedes as unknown as { persistence: Persistence };
  let up: Promise<Aedes> = Promise.resolve(aedes);

  async function forgetSession(id: string): Promise<void> {
    unacknowledged.get(id)?.clear();
    await persistence.cleanSubscriptions({ id });
    const waiting: object[] = [];
    for await (const packet of persistence.outgoingStream({ id })) waiting.push(packet);
    for (const packet of waiting) await persistence.outgoingClearMessageId({ id }, packet);
  }

  const onDiscard = (reason: DiscardedPublish) => {
    discarded[reason] += 1;
  };
  function unacknowledgedBy(serial: string): Set<number> {
    const ids = unacknowledged.get(serial) ?? new Set();
    unacknowledged.set(serial, ids);
    return ids;
  }
  const own = { requestCert: true, rejectUnauthorized: true, ca: ca.caPem } as const;
  const accept = (socket: TLSSocket) => {
    if (faults.is('cloud-no-connack')) {
      socket.resume();
      return;
    }
    if (aedes === null) {
      socket.destroy();
      return;
    }
    const serial = commonName(socket) ?? '';
    const stream: Duplex = createGuardedStream(socket, {
      codec,
      guard: createGuard({ serial, limits, clock, faults, onDiscard, unacknowledged: unacknowledgedBy(serial) }),
      clock,
      delayMs: () => (faults.is('cloud-slow') ? SLOW_MS : 0),
      onClose: (reason) => noteClosed(serial, reason),
    });
    sockets.set(stream, socket);
    aedes.handle(stream);
  };
  const acceptAlpn = (socket: TLSSocket) => {
    // Node accepts a client without ALPN; this port must not.
    if (socket.alpnProtocol === alpn) accept(socket);
    else socket.destroy();
  };
  const first = await createTlsHandler(ca, own, accept);
  const second = await createTlsHandler(ca, { ...own, ALPNProtocols: [alpn] }, acceptAlpn);
  const otherAlpn = await createTlsHandler(ca, { ...own, ALPNProtocols: ['x-other-mqtt-ca'] }, acceptAlpn);
  // Like such proxies, without client certificate and ALPN.
  const inspected = await createTlsHandler(inspector, {}, (socket) => socket.resume());

  const handlerOf = (usual: () => ConnectionHandler) => () =>
    faults.is('cloud-silent') ? undefined : faults.is('cloud-inspected') ? inspected : usual();
  await using undo = new AsyncDisposableStack();
  undo.defer(() => close(aedes));
  const firstListener = undo.use(
    await startListener(
      handlerOf(() => first),
      options.port,
    ),
  );
  const secondListener = undo.use(
    await startListener(
      handlerOf(() => (faults.is('cloud-alpn-refused') ? otherAlpn : second)),
      options.alpnPort,
    ),
  );

  let isFirstOpen = true;
  let isEnded = false;
  /** Serialises going down and returning. */
  let last: Promise<void> = Promise.resolve();

  async function goDown(): Promise<void> {
    if (aedes === null || isEnded) return;
    const old = aedes;
    const { promise, resolve } = Promise.withResolvers<Aedes>();
    resolveUp = resolve;
    up = promise;
    aedes = null;
    await Promise.all([firstListener.setOpen(false), secondListener.setOpen(false), close(old)]);
    clients.clear();
  }

  async function comeBack(): Promise<void> {
    if (isEnded) return;
    if (aedes === null) {
      const fresh = await start(persistence);
      aedes = fresh;
      resolveUp(fresh);
    }
    // Also when the broker is up: a port that was in use is tried again.
    await Promise.all([secondListener.setOpen(true), ...(isFirstOpen ? [firstListener.setOpen(true)] : [])]);
  }
  let resolveUp: (aedes: Aedes) => void = () => {};

  const running = undo.move();
  return {
    port: firstListener.port,
    alpnPort: secondListener.port,
    alpn,
    clients: () => [...seen],
    connected: () => aedes?.connectedClients ?? 0,
    connectedIds: () => [...clients.keys()],
    closed: () => [...closed],
    discarded: () => ({ ...discarded }),
    async publish(message) {
      const broker = await up;
      await new Promise<void>((resolve) => broker.publish(packetOf(message), () => resolve()));
    },
    async sendTo(clientId, message) {
      const client = clients.get(clientId);
      if (client !== undefined) {
        await new Promise<void>((resolve) => client.publish(packetOf(message), () => resolve()));
      }
    },
    setDown(isDown) {
      const done = last.then(isDown ? goDown : comeBack);
      last = done.catch(() => {});
      return done;
    },
    async setFirstPortOpen(open) {
      isFirstOpen = open;
      await last;
      if (aedes !== null) await firstListener.setOpen(isFirstOpen);
    },
    async [Symbol.asyncDispose]() {
      isEnded = true;
      // A broker that is coming back would otherwise stay.
      await last;
      await running.disposeAsync();
    },
  };
}

/** The part of the persistence of aedes that is used here; its types do not name it. */
interface Persistence {
  cleanSubscriptions(client: { readonly id: string }): Promise<unknown>;
  outgoingStream(client: { readonly id: string }): AsyncIterable<object>;
  outgoingClearMessageId(client: { readonly id: string }, packet: object): Promise<unknown>;
}

function close(aedes: Aedes | null): Promise<void> {
  return new Promise((resolve) => (aedes === null ? resolve() : aedes.close(() => resolve())));
}

function packetOf({ topic, payload, qos = 1, retain = false }: OutgoingMessage) {
  return { cmd: 'publish' as const, topic, payload: Buffer.from(payload as Uint8Array), qos, retain, dup: false };
}

function commonName(socket: TLSSocket): string | undefined {
  const name = socket.getPeerCertificate().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}
