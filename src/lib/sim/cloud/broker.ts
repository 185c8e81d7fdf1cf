import type { TLSSocket } from 'node:tls';
import type { Faults } from '../faults.ts';
import type { CertificateAuthority } from './certificates.ts';
import { type ConnectionHandler, createTlsHandler, type Listener, startListener } from './listener.ts';

/** A client that the broker accepted. */
interface AcceptedClient {
  readonly clientId: string;
  /** Clean session flag of its CONNECT. */
  readonly clean: boolean;
  /** Whether it connected with ALPN, on the second port. */
  readonly byAlpn: boolean;
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
  readonly port?: number;
  readonly alpnPort?: number;
}

const MAX_CLIENTS = 100;
/** MQTT 3.1.1, 3.2.2.3: not authorized. */
const NOT_AUTHORIZED = 5;

/**
 * An MQTT broker (aedes) with client certificates: the client id must be the common name of the certificate. Faults
 * act before a connection reaches it. Throws PORT_IN_USE.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const { ca, inspector, alpn, faults } = options;
  // Loaded on demand: a large library, needed only with the part `cloud`.
  const { Aedes } = await import('aedes');
  const seen: AcceptedClient[] = [];
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
    if (seen.length > MAX_CLIENTS) seen.shift();
  });
  for (const event of ['clientError', 'connectionError'] as const) aedes.on(event, () => {});

  const own = { requestCert: true, rejectUnauthorized: true, ca: ca.caPem } as const;
  const accept = (socket: TLSSocket) => {
    if (faults.is('cloud-no-connack')) socket.resume();
    else aedes.handle(socket);
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
  undo.defer(() => new Promise((resolve) => aedes.close(() => resolve())));
  const firstListener: Listener = undo.use(
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
