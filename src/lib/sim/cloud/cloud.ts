import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../lifecycle/index.ts';
import type { FaultName, Faults } from '../faults.ts';
import { type Broker, startBroker } from './broker.ts';
import { type CertificateAuthority, createCa } from './certificates.ts';
import { CLOUD_HOST, type ConnectionHandler, createHttpsHandler, createTlsHandler, startListener } from './listener.ts';

/** Addresses of the simulated cloud, as in a site file. */
export interface CloudPlaces {
  readonly mqtt: { readonly host: string; readonly port: number; readonly fallbackPort: number; readonly alpn: string };
  readonly storageUrl: string;
  readonly tunnel: { readonly host: string; readonly port: number };
}

export interface Cloud extends AsyncDisposable {
  readonly places: CloudPlaces;
  readonly broker: Pick<Broker, 'clients' | 'connected'>;
  /** Must be called on every change of a fault. */
  applyFault(name: FaultName, on: boolean): Promise<void>;
}

export interface CloudOptions {
  /** CA of the server certificates and of the client certificates that the broker accepts. */
  readonly ca: CertificateAuthority;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Pick<Clock, 'wall'>;
}

/**
 * ALPN identifier of the second port of the broker; storage and tunnel use none. The specification gives the form,
 * `x-<vendor>-mqtt-ca`, and no vendor.
 */
const CLOUD_ALPN = 'x-sim-mqtt-ca';
const INSPECTOR_NAME = 'Simulated TLS inspection CA';
const DAY_MS = 86_400_000;
const DENIED = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>';

/**
 * The cloud of a simulated robot on 127.0.0.1: an MQTT broker on two ports, object storage and a tunnel service, all
 * with certificates of one CA. The content of the storage and the tunnel protocol are not shown by the specification:
 * the storage refuses requests without a signed URL, the tunnel service completes the TLS handshake and sends nothing.
 * Throws PORT_IN_USE.
 */
export async function startCloud({ ca, faults, clock }: CloudOptions): Promise<Cloud> {
  const inspector = await createCa({ commonName: INSPECTOR_NAME });
  await using undo = new AsyncDisposableStack();
  const broker = undo.use(await startBroker({ ca, inspector, alpn: CLOUD_ALPN, faults }));

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    const now = clock.wall().getTime() + (faults.is('cloud-clock-off') ? DAY_MS : 0);
    response.writeHead(403, {
      Date: new Date(now).toUTCString(),
      'Content-Type': 'application/xml',
      'Content-Length': Buffer.byteLength(DENIED),
    });
    response.end(request.method === 'HEAD' ? undefined : DENIED);
  };
  const choose = (own: ConnectionHandler, inspected: ConnectionHandler) => () =>
    faults.is('cloud-silent') ? undefined : faults.is('cloud-inspected') ? inspected : own;
  const quiet = (socket: { resume(): unknown }) => void socket.resume();
  const storage = undo.use(
    await startListener(choose(await createHttpsHandler(ca, answer), await createHttpsHandler(inspector, answer))),
  );
  const tunnel = undo.use(
    await startListener(choose(await createTlsHandler(ca, {}, quiet), await createTlsHandler(inspector, {}, quiet))),
  );

  const running = undo.move();
  return {
    places: {
      mqtt: { host: CLOUD_HOST, port: broker.port, fallbackPort: broker.alpnPort, alpn: CLOUD_ALPN },
      storageUrl: `https://${CLOUD_HOST}:${storage.port}`,
      tunnel: { host: CLOUD_HOST, port: tunnel.port },
    },
    broker,
    async applyFault(name, on) {
      if (name === 'cloud-direct-closed') await broker.setFirstPortOpen(!on);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
