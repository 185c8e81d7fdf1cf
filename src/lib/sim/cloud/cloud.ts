import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../lifecycle/index.ts';
import type { FaultName, Faults } from '../faults.ts';
import { type Broker, startBroker } from './broker.ts';
import { type Authority, createAuthority } from './certificates.ts';
import { CLOUD_HOST, httpsTaker, startListener, type Taker, tlsTaker } from './listener.ts';

/** Where the cloud of a simulated robot is, as a site file names it. */
export interface CloudPlaces {
  readonly mqtt: { readonly host: string; readonly port: number; readonly fallbackPort: number; readonly alpn: string };
  readonly storageUrl: string;
  readonly tunnel: { readonly host: string; readonly port: number };
}

export interface Cloud extends AsyncDisposable {
  readonly places: CloudPlaces;
  readonly broker: Pick<Broker, 'clients' | 'connected'>;
  /** Has to be told of every change of a fault. */
  switched(name: FaultName, on: boolean): Promise<void>;
}

export interface CloudOptions {
  /** Signs every server certificate, and the client certificates that the broker takes. */
  readonly authority: Authority;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Pick<Clock, 'wall'>;
}

/**
 * What the second port of the broker wants to hear by ALPN; storage and tunnel want nothing. The specification gives the
 * form, `x-<vendor>-mqtt-ca`, and no vendor.
 */
const CLOUD_ALPN = 'x-sim-mqtt-ca';
const INSPECTOR_NAME = 'Simulated inspection of the house';
const DAY_MS = 86_400_000;
const DENIED = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>';

/**
 * The cloud of a simulated robot on 127.0.0.1: an MQTT broker on two ports, object storage and a tunnel service, all
 * with certificates of one authority. What lies in the storage and what goes through the tunnel is not shown by the
 * specification: the storage refuses whoever brings no signed address, the tunnel service shakes hands and says
 * nothing. Throws PORT_IN_USE.
 */
export async function startCloud({ authority, faults, clock }: CloudOptions): Promise<Cloud> {
  const inspector = await createAuthority({ commonName: INSPECTOR_NAME });
  await using undo = new AsyncDisposableStack();
  const broker = undo.use(await startBroker({ authority, inspector, alpn: CLOUD_ALPN, faults }));

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
  const choose = (own: Taker, opened: Taker) => () =>
    faults.is('cloud-silent') ? undefined : faults.is('cloud-inspected') ? opened : own;
  const quiet = (socket: { resume(): unknown }) => void socket.resume();
  const storage = undo.use(
    await startListener(choose(await httpsTaker(authority, answer), await httpsTaker(inspector, answer))),
  );
  const tunnel = undo.use(
    await startListener(choose(await tlsTaker(authority, {}, quiet), await tlsTaker(inspector, {}, quiet))),
  );

  const running = undo.move();
  return {
    places: {
      mqtt: { host: CLOUD_HOST, port: broker.port, fallbackPort: broker.alpnPort, alpn: CLOUD_ALPN },
      storageUrl: `https://${CLOUD_HOST}:${storage.port}`,
      tunnel: { host: CLOUD_HOST, port: tunnel.port },
    },
    broker,
    async switched(name, on) {
      if (name === 'cloud-direct-closed') await broker.setFirstPortOpen(!on);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
