import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { type CertificateAuthority, restoreCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { type Sim, type SimOptions, startSim } from '../../../src/lib/sim/index.ts';
import { createDrivenClock } from '../driven-clock.ts';

export const SERIAL = 'SIM-0001';

/** A simulator with a cloud in a folder of its own. */
export async function startCloudSim(options: SimOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-sim-cloud-'));
  const sim = await startSim({ dir, with: ['cloud'], ...options });
  const { cloud } = sim;
  if (cloud === null) throw new Error('no cloud');
  return {
    dir,
    sim,
    cloud,
    ca: () => caOf(dir),
    connect: (about?: IClientOptions, serial?: string) => connectDevice(sim, dir, about, serial),
    /** A device of its own, so that tests can share the world. */
    join: (about?: IClientOptions) => connectDevice(sim, dir, about, newSerial()),
    async [Symbol.asyncDispose]() {
      await sim[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

let devices = 0;
function newSerial(): string {
  devices += 1;
  return `SN${String(devices).padStart(4, '0')}`;
}

/** The same on a clock that the test advances. */
export async function startCloudWorld(options: SimOptions = {}) {
  const clock = createDrivenClock();
  return Object.assign(await startCloudSim({ clock, ...options }), { clock });
}

export type CloudSim = Awaited<ReturnType<typeof startCloudSim>>;

export function caOf(dir: string): CertificateAuthority {
  return restoreCa(JSON.parse(readFileSync(join(dir, 'secrets/cloud-ca.json'), 'utf8')));
}

/** Issuing one takes as long as a handshake. */
const issued = new Map<string, ConnectionOptions>();

export async function certificateOf(dir: string, serial = SERIAL, ca = caOf(dir)): Promise<ConnectionOptions> {
  const name = `${ca.caPem}${serial}`;
  const known = issued.get(name);
  if (known !== undefined) return known;
  const { keyPem, certificatePem } = await ca.issueClientPair(serial);
  const options = { ca: caOf(dir).caPem, key: keyPem, cert: certificatePem };
  issued.set(name, options);
  return options;
}

interface Received {
  readonly topic: string;
  readonly text: string;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly messageId: number | undefined;
}

export interface Device extends AsyncDisposable {
  readonly client: MqttClient;
  readonly serial: string;
  readonly received: Received[];
  /** `gw/SERIAL/name`. */
  topic(name: string): string;
  subscribe(...names: string[]): Promise<unknown>;
  publish(name: string, payload: string | Buffer): Promise<unknown>;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  sessionPresent(): boolean;
  /** The first message on this topic of the device since the start, also a later one. */
  next(name: string, skip?: number): Promise<{ readonly [key: string]: unknown }>;
  /** Sends a request and returns the end of the topic and the body of its answer. */
  ask(name: string, body: object | string): Promise<{ topic: string; body: Record<string, unknown> }>;
}

/** A device with the package mqtt, without reconnecting. */
async function connectDevice(sim: Sim, dir: string, about: IClientOptions = {}, serial = SERIAL): Promise<Device> {
  const { key, cert, ca } = await certificateOf(dir, serial);
  const { host, port } = sim.cloud?.places.mqtt ?? { host: '', port: 0 };
  const options: IClientOptions = {
    protocol: 'mqtts',
    host,
    port,
    clientId: serial,
    clean: false,
    reconnectPeriod: 0,
    ...(key !== undefined && { key: String(key) }),
    ...(cert !== undefined && { cert: String(cert) }),
    ...(ca !== undefined && { ca: String(ca) }),
    ...about,
  };
  const client = mqtt.connect(options);
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  client.on('message', (topic, payload, { retain, dup, messageId }) => {
    received.push({ topic, text: payload.toString(), retain, dup, messageId });
    for (const wake of waiting) wake();
  });
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  let present = false;
  const connected = Promise.withResolvers<void>();
  client.once('connect', (packet) => {
    present = packet.sessionPresent;
    connected.resolve();
  });
  client.on('error', connected.reject);
  void closed.then(() => connected.reject(new Error('closed before CONNACK')));
  connected.promise.catch(() => {});
  await connected.promise;

  async function until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      await promise;
      waiting.delete(resolve);
    }
  }

  const topicOf = (name: string) => `gw/${serial}/${name}`;
  return {
    client,
    serial,
    received,
    closed,
    sessionPresent: () => present,
    topic: topicOf,
    subscribe: (...names) => client.subscribeAsync(names.map(topicOf), { qos: 1 }),
    publish: (name, payload) => client.publishAsync(topicOf(name), payload, { qos: 1 }),
    next: async (name, skip = 0) =>
      JSON.parse((await until(() => received.filter((message) => message.topic === topicOf(name))[skip])).text),
    async ask(name, body) {
      const from = received.length;
      const topic = topicOf(name);
      const isAnswer = (message: Received) =>
        [`${topic}/accepted`, `${topic}/rejected`, `${topic}/answer`].includes(message.topic);
      await client.publishAsync(topic, typeof body === 'string' ? body : JSON.stringify(body), { qos: 1 });
      const answer = await until(() => received.slice(from).find(isAnswer));
      return { topic: answer.topic.slice(topic.length + 1), body: JSON.parse(answer.text) };
    },
    async [Symbol.asyncDispose]() {
      await client.endAsync(true);
    },
  };
}

/** Completes the handshake; rejects with node's error. */
export function secure(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host: '127.0.0.1', port, ...options });
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  socket.once('secureConnect', () => resolve(socket));
  return promise;
}

/** Sends bytes and returns the first answer; null when the peer closes without one. */
export async function exchange(socket: TLSSocket, bytes: Uint8Array | string): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  socket.once('data', resolve);
  for (const event of ['end', 'close', 'error']) socket.on(event, () => resolve(null));
  socket.write(bytes);
  const answer = await promise;
  socket.destroy();
  return answer;
}

/** CONNECT of MQTT 3.1.1 without clean session. */
export function connectPacket(clientId: string): Buffer {
  const id = Buffer.from(clientId);
  const body = Buffer.concat([Buffer.from([0, 4]), Buffer.from('MQTT'), Buffer.from([4, 0, 0, 30, 0, id.length]), id]);
  return Buffer.concat([Buffer.from([0x10, body.length]), body]);
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  /** Whether the body has the announced length. */
  readonly isComplete: boolean;
}

/** A raw HTTPS request; status 0 when the connection ended before an answer. */
export function callStorage(
  world: Pick<CloudSim, 'ca'>,
  url: string,
  options: RequestOptions = {},
  body?: Uint8Array,
): Promise<HttpAnswer> {
  const { promise, resolve } = Promise.withResolvers<HttpAnswer>();
  const none = { status: 0, headers: {}, body: Buffer.alloc(0), isComplete: false };
  const call = request(url, { ca: world.ca().caPem, agent: false, ...options }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => {});
    response.on('close', () =>
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks),
        isComplete: response.complete,
      }),
    );
  });
  call.on('error', () => resolve(none));
  call.end(body);
  return promise;
}
