import type { TLSSocket } from 'node:tls';
import type { Faults } from '../faults.ts';
import type { Authority } from './certificates.ts';
import { type Listener, startListener, type Taker, tlsTaker } from './listener.ts';

/** A client that the broker let in. */
interface SeenClient {
  readonly clientId: string;
  /** Whether it asked the broker to forget what it keeps for this client id. */
  readonly clean: boolean;
  /** By ALPN, on the second port. */
  readonly byAlpn: boolean;
}

export interface Broker extends AsyncDisposable {
  /** TLS with client certificates. */
  readonly port: number;
  /** The same with ALPN, as on 443. */
  readonly alpnPort: number;
  readonly alpn: string;
  /** Oldest first, at most the last 100. */
  clients(): readonly SeenClient[];
  /** How many are connected now. */
  connected(): number;
  /** Has to be told of every change of the fault that closes the first port. */
  setFirstPortOpen(open: boolean): Promise<void>;
}

export interface BrokerOptions {
  /** Whose client certificates are taken. */
  readonly authority: Authority;
  /** Who opens TLS on the way, while that fault is on. */
  readonly inspector: Authority;
  readonly alpn: string;
  readonly faults: Pick<Faults, 'is'>;
  readonly port?: number;
  readonly alpnPort?: number;
}

const MOST_CLIENTS = 100;
/** MQTT 3.1.1, 3.2.2.3: not authorized. */
const NOT_AUTHORIZED = 5;

/**
 * An MQTT broker with client certificates: the client id must be the common name of the certificate. It is real
 * (aedes); what faults change is done before it is asked. Throws PORT_IN_USE.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { authority, inspector, alpn, faults } = options;
  // A large library that only a simulator with a cloud needs.
  const { Aedes } = await import('aedes');
  const seen: SeenClient[] = [];
  const aedes = await Aedes.createBroker({
    preConnect({ conn }, packet, done) {
      done(null, commonName(conn as TLSSocket) === packet.clientId);
    },
    authenticate(_client, _username, _password, done) {
      if (!faults.is('cloud-not-allowed')) return done(null, true);
      done(Object.assign(new Error('not authorized'), { returnCode: NOT_AUTHORIZED as number }), false);
    },
  });
  aedes.on('client', ({ id, clean, conn }) => {
    seen.push({ clientId: id, clean, byAlpn: (conn as TLSSocket).alpnProtocol === alpn });
    if (seen.length > MOST_CLIENTS) seen.shift();
  });
  for (const event of ['clientError', 'connectionError'] as const) aedes.on(event, () => {});

  const own = { requestCert: true, rejectUnauthorized: true, ca: authority.caPem } as const;
  const take = (socket: TLSSocket) => {
    if (faults.is('cloud-no-connack')) socket.resume();
    else aedes.handle(socket);
  };
  const takeAlpn = (socket: TLSSocket) => {
    // Who names no application protocol at all is no client of this port.
    if (socket.alpnProtocol === alpn) take(socket);
    else socket.destroy();
  };
  const first = await tlsTaker(authority, own, take);
  const second = await tlsTaker(authority, { ...own, ALPNProtocols: [alpn] }, takeAlpn);
  const otherAlpn = await tlsTaker(authority, { ...own, ALPNProtocols: ['x-other-mqtt-ca'] }, takeAlpn);
  // As such proxies do, it knows nothing of the client certificate and of the application protocol.
  const opened = await tlsTaker(inspector, {}, (socket) => socket.resume());

  const takerOf = (usual: () => Taker) => () =>
    faults.is('cloud-silent') ? undefined : faults.is('cloud-inspected') ? opened : usual();
  await using undo = new AsyncDisposableStack();
  undo.defer(() => new Promise((resolve) => aedes.close(() => resolve())));
  const firstListener: Listener = undo.use(
    await startListener(
      takerOf(() => first),
      options.port,
    ),
  );
  const secondListener = undo.use(
    await startListener(
      takerOf(() => (faults.is('cloud-alpn-refused') ? otherAlpn : second)),
      options.alpnPort,
    ),
  );
  const running = undo.move();
  return {
    port: firstListener.port,
    alpnPort: secondListener.port,
    alpn,
    clients: () => [...seen],
    connected: () => aedes.connectedClients,
    setFirstPortOpen: (open) => firstListener.setOpen(open),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function commonName(socket: TLSSocket): string | undefined {
  const name = socket.getPeerCertificate().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}
