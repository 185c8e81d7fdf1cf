import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import type { InboundMessage } from '../../../src/lib/cloud/gate/model.ts';
import { createCloudLink } from '../../../src/lib/cloud/link/link.ts';
import type { CloudLinkOptions, Connection, LinkIdentity, LinkView } from '../../../src/lib/cloud/link/model.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { type Peer, tlsPeer } from '../../net/probe/world.ts';
import { createSteppedClock, during, realClock, type TestClock } from '../stepped-clock.ts';

export { realClock } from '../stepped-clock.ts';

export const SERIAL = 'SN-0042';
export const ALPN = 'x-test-mqtt-ca';
export const FILTERS = Array.from({ length: 11 }, (_, index) =>
  index === 0 ? `gw/${SERIAL}/stop` : `gw/${SERIAL}/t${index}`,
);

/** The CA of the cloud in these tests. */
export const authority = await createCa({ commonName: 'Cloud CA' });

export async function identityOf(
  authority: CertificateAuthority,
  about: Partial<LinkIdentity> & { readonly trusts?: CertificateAuthority } = {},
): Promise<LinkIdentity> {
  const { trusts = authority, ...rest } = about;
  const { keyPem, certificatePem } = await authority.issueClientPair(SERIAL);
  const certificate = new X509Certificate(certificatePem);
  return {
    ...{ serial: SERIAL, endpoint: '127.0.0.1', region: 'eu-central-1', keyPem, certificatePem, caPem: trusts.caPem },
    fingerprintSha256: certificate.fingerprint256,
    notAfter: certificate.validToDate.toISOString(),
    ...rest,
  };
}

export const identity = await identityOf(authority);
const readIdentity = async () => identity;

/** A connection to the fake broker. */
export interface Client {
  readonly socket: TLSSocket;
  /** CONNECT; undefined until it was received. */
  connect: IConnectPacket | undefined;
  readonly received: Packet[];
  send(packet: Packet): void;
}

export interface FakeBroker extends Peer {
  /** Connections with a completed TLS handshake, in order. */
  readonly clients: Client[];
  /** All received packets. */
  packets(): Packet[];
}

/** Answers a packet; true: the default answer is not sent. */
export type Hook = (packet: Packet, client: Client) => boolean | undefined;

/** A minimal broker for tests: accepts each packet unless the hook answers it. */
export async function fakeBroker(
  hook: Hook = () => false,
  about: TlsOptions & {
    readonly sessionPresent?: boolean;
    readonly issuer?: CertificateAuthority;
    readonly names?: readonly [string];
  } = {},
): Promise<FakeBroker> {
  const clients: Client[] = [];
  const { sessionPresent = false, issuer = authority, ...options } = about;
  const peer = await tlsPeer(issuer, options, (socket) => {
    const client: Client = {
      socket,
      connect: undefined,
      received: [],
      send: (packet) => void (socket.writable && socket.write(generate(packet))),
    };
    clients.push(client);
    const reader = parser({ protocolVersion: 4 });
    socket.on('data', (bytes: Buffer) => reader.parse(bytes));
    reader.on('packet', (packet: Packet) => {
      client.received.push(packet);
      if (packet.cmd === 'connect') client.connect = packet;
      if (hook(packet, client) === true) return;
      const { messageId } = packet;
      switch (packet.cmd) {
        case 'connect':
          return client.send({ cmd: 'connack', returnCode: 0, sessionPresent });
        case 'subscribe':
          return client.send({ cmd: 'suback', messageId, granted: packet.subscriptions.map(() => 1) } as Packet);
        case 'unsubscribe':
          return client.send({ cmd: 'unsuback', messageId } as Packet);
        case 'publish':
          return packet.qos === 1 ? client.send({ cmd: 'puback', messageId } as Packet) : undefined;
        case 'pingreq':
          return client.send({ cmd: 'pingresp' });
      }
    });
  });
  return {
    ...peer,
    clients,
    packets: () => clients.flatMap(({ received }) => received),
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

export interface RunningLink extends AsyncDisposable {
  readonly link: ReturnType<typeof createCloudLink>;
  readonly clock: TestClock;
  readonly dir: string;
  readonly messages: InboundMessage[];
  /** Each change of the connection. */
  readonly changes: (Connection | null)[];
  readonly warnings: { readonly fields: Record<string, unknown>; readonly message: string }[];
  view(): LinkView;
  connected(): Promise<Connection>;
  /** Waits until the link view fulfils this. */
  until(what: string, is: (view: LinkView) => boolean, maxMs?: number): Promise<LinkView>;
  stop(): Promise<void>;
}

type LinkChanges = Partial<Parameters<typeof runLink>[0]>;

/** A broker on the direct path and a link to it; the fallback port is closed. */
export async function linked(hook?: Hook, more: LinkChanges = {}, about: Parameters<typeof fakeBroker>[1] = {}) {
  const broker = await fakeBroker(hook, about);
  const running = runLink({ port: broker.port, ...more });
  return {
    ...running,
    broker,
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
}

/** Accepts CONNECT and the subscriptions, and does this with the last SUBACK in place of sending it. */
export const atLastSuback =
  (act: (client: Client, suback: Packet) => void): Hook =>
  (packet, client) => {
    if (packet.cmd !== 'subscribe' || packet.subscriptions.length === 8) return false;
    act(client, { cmd: 'suback', messageId: packet.messageId ?? 0, granted: [1, 1, 1] });
    return true;
  };

/** Ports on which nothing listens. */
const CLOSED = { port: 1, fallbackPort: 2 };

/** Runs a link against these ports of 127.0.0.1, closed ones by default, and with simulated time. */
export function runLink(
  about: Partial<CloudLinkOptions> & {
    readonly port?: number;
    readonly fallbackPort?: number;
    readonly mqtt?: Partial<CloudLinkOptions['cloud']['mqtt']>;
    readonly clock?: TestClock;
    readonly dir?: string;
  } = {},
): RunningLink {
  const {
    port = CLOSED.port,
    fallbackPort = CLOSED.fallbackPort,
    mqtt,
    clock = createSteppedClock(),
    dir = mkdtempSync(join(tmpdir(), 'gw-link-')),
    ...rest
  } = about;
  const messages: InboundMessage[] = [];
  const changes: (Connection | null)[] = [];
  const warnings: { fields: Record<string, unknown>; message: string }[] = [];
  const ended = new AbortController();
  const link = createCloudLink({
    cloud: { region: 'eu-central-1', mqtt: { port, fallbackPort, alpn: ALPN, ...mqtt } },
    dialer: directDialer,
    log: {
      debug() {},
      info() {},
      warn: (fields, message) => void warnings.push({ fields: fields as Record<string, unknown>, message }),
      error: (fields, message) => void warnings.push({ fields: fields as Record<string, unknown>, message }),
    },
    stateDir: dir,
    readIdentity,
    filters: FILTERS,
    will: { topic: `gw/${SERIAL}/presence`, payload: Buffer.from('{"online":false}') },
    onMessage(message) {
      messages.push(message);
      return undefined;
    },
    ...rest,
    clock,
  });
  link.subscribe((connection) => changes.push(connection));
  const done = link.run(ended.signal);
  done.catch(() => {});
  const stop = async () => {
    ended.abort(new Error('stopped by the test'));
    await during(clock, done);
  };
  const until: RunningLink['until'] = async (what, is, maxMs) => {
    await clock
      .until(what, () => is(link.view()), maxMs)
      .catch((error: Error) => {
        throw new Error(`${error.message}; at last: ${JSON.stringify(link.view())}`);
      });
    return link.view();
  };
  return {
    ...{ link, clock, dir, messages, changes, warnings, view: link.view, until },
    async connected() {
      await until('connected', ({ status }) => status === 'connected');
      const connection = link.connection();
      if (connection === null) throw new Error('no connection');
      return connection;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      if (about.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

// Loads in real time what the link imports when it connects, since a module that is being loaded is not seen in flight.
{
  await using first = await linked(undefined, { clock: realClock });
  await first.connected();
}
