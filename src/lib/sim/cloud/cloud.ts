import { randomUUID } from 'node:crypto';
import type { StorageAnswerWire } from '../../cloud/wire.ts';
import { GwError } from '../../error/index.ts';
import { type Clock, readWhole } from '../../lifecycle/index.ts';
import type { FaultName, Faults } from '../faults.ts';
import { type CertificateAuthority, createCa } from './certificates.ts';
import { CLOUD_HOST, type ConnectionHandler, createHttpsHandler, startListener } from './listener.ts';
import type { CloudControl, CloudSettings, ReceivedMessage } from './model.ts';
import { type Broker, type ClientMessage, type ClosedConnection, SLOW_MS, startBroker } from './mqtt/broker.ts';
import { vendorLimits } from './mqtt/guard.ts';
import { createJobs } from './services/jobs.ts';
import { readPackageVersion, releaseDocument } from './services/release.ts';
import { parseRequest, unknownKey } from './services/request.ts';
import { createShadows } from './services/shadow.ts';
import { defaultTemplates, restAfter, topicFor } from './services/topics.ts';
import { createStorage, type Storage } from './storage/storage.ts';
import type { Side } from './tunnel/rules.ts';
import { startTunnelService } from './tunnel/service.ts';

const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;
/** Relative, without `.`, `..` and empty elements. */
const NAME = /^(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+){0,7}$/;

export interface Cloud extends AsyncDisposable, CloudControl {
  /** Must be called on every change of a fault. */
  applyFault(name: FaultName, on: boolean): Promise<void>;
}

export interface CloudOptions extends CloudSettings {
  /** CA of the server certificates and of the client certificates that the broker accepts. */
  readonly ca: CertificateAuthority;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Clock;
  /** The device that commands without a serial number mean. */
  readonly serial: string;
  readonly onClosed?: (closed: ClosedConnection) => void;
  /** The tunnel service disconnected a client for a message that it must not send. */
  readonly onTunnelViolation?: (side: Side, reason: string) => void;
}

/**
 * ALPN identifier of the second port of the broker; storage and tunnel use none. The specification gives the form,
 * `x-<vendor>-mqtt-ca`, and no vendor.
 */
const CLOUD_ALPN = 'x-sim-mqtt-ca';
const INSPECTOR_NAME = 'Simulated TLS inspection CA';
const DAY_MS = 86_400_000;
const MAX_RECEIVED = 10_000;
const DEFAULT_URL_LIFETIME_S = 900;
const MAX_PACKAGE_BYTES = 512 * 1024 * 1024;
/** Times of the fault `cloud-restarting`. */
const RESTART_UP_MS = 3_000;
const RESTART_DOWN_MS = 2_000;

/**
 * The cloud of a simulated robot on 127.0.0.1: an MQTT broker on two ports with a job service and device shadows, object
 * storage with pre-signed URLs, and a tunnel service that notifies devices by the broker; all with certificates of one
 * CA. Throws PORT_IN_USE.
 */
export async function startCloud(options: CloudOptions): Promise<Cloud> {
  const { ca, faults, clock, serial: ownSerial, answersWithoutSubscription = false } = options;
  const topics = { ...defaultTemplates, ...options.topics };
  const inspector = sendingRoot(await createCa({ commonName: INSPECTOR_NAME }));
  const received: ReceivedMessage[] = [];
  await using undo = new AsyncDisposableStack();

  const now = () => clock.wall().getTime() + (faults.is('cloud-clock-off') ? DAY_MS : 0);
  const isFailing = () => faults.is('cloud-error');
  const storage = createStorage({
    now,
    clock,
    faults,
    urlLifetimeS: options.urlLifetimeS ?? DEFAULT_URL_LIFETIME_S,
    slowMs: SLOW_MS,
  });
  const jobs = createJobs({
    now,
    presign: storage.downloadUrl,
    isFailing,
    send: (serial, suffix, body) => reply(serial, `${topicFor(topics.jobs, serial)}/${suffix}`, body),
  });
  const shadows = createShadows({
    now,
    clock,
    isFailing,
    answerMs: () => (faults.is('cloud-slow') ? SLOW_MS : 0),
    send: (serial, suffix, body) => reply(serial, `${topicFor(topics.shadow, serial)}/${suffix}`, body),
  });

  const broker: Broker = undo.use(
    await startBroker({
      ca,
      inspector,
      alpn: CLOUD_ALPN,
      faults,
      clock,
      limits: { ...vendorLimits, ...options.limits },
      onMessage: receive,
      onClosed: options.onClosed ?? (() => {}),
    }),
  );

  function reply(serial: string, topic: string, body: object): void {
    const message = { topic, payload: JSON.stringify(body) };
    const isAnswer = /\/(accepted|rejected)$/.test(topic);
    void (isAnswer && answersWithoutSubscription ? broker.sendTo(serial, message) : broker.publish(message));
  }

  function receive({ clientId, topic, payload, qos }: ClientMessage): void {
    received.push({ client: clientId, topic, payload, qos, at: clock.wall().toISOString() });
    if (received.length > MAX_RECEIVED) received.shift();
    handle(clientId, topic, payload);
  }

  /** The services answer requests on the topics of the device that sent them. */
  function handle(serial: string, topic: string, payload: Uint8Array): void {
    const job = restAfter(topicFor(topics.jobs, serial), topic);
    const shadow = restAfter(topicFor(topics.shadow, serial), topic);
    if (job !== undefined) jobs.receive(serial, job, payload);
    else if (shadow !== undefined) shadows.receive(serial, shadow, payload);
    else if (topic === topicFor(topics.storage, serial) && !isFailing()) {
      const answer = answerUploadRequest(serial, payload, storage);
      if (answer !== null) void broker.publish({ topic: `${topic}/answer`, payload: JSON.stringify(answer) });
    }
  }

  const choose = (own: ConnectionHandler, inspected: ConnectionHandler) => () =>
    faults.is('cloud-silent') ? undefined : faults.is('cloud-inspected') ? inspected : own;
  const storageHandlers = [
    await createHttpsHandler(ca, storage.answer),
    await createHttpsHandler(inspector, storage.answer),
  ] as const;
  const storageListener = undo.use(await startListener(choose(...storageHandlers)));
  const storageUrl = `https://${CLOUD_HOST}:${storageListener.port}`;
  storage.setBase(storageUrl);
  const tunnel = undo.use(
    await startTunnelService({
      ca,
      inspector,
      faults,
      clock,
      now,
      serial: ownSerial,
      onViolation: options.onTunnelViolation ?? (() => {}),
      async notify(serial, notification) {
        assertUp();
        await broker.publish({ topic: topicFor(topics.tunnels, serial), payload: JSON.stringify(notification) });
      },
    }),
  );

  /** Of two faults that close the broker, the other one counts on. */
  const comeUp = () => broker.setDown(faults.is('cloud-cut'));

  /** A message that waits for the end of a cut would arrive long after its sender was informed that it was not sent. */
  function assertUp(): void {
    if (!faults.is('cloud-cut')) return;
    throw new GwError('USAGE', 'The MQTT broker of the simulated cloud is down (fault cloud-cut); nothing was sent.', {
      remedy: 'Switch the fault off: gw sim fault cloud-cut off',
    });
  }

  let restarting: AbortController | null = null;
  undo.defer(() => restarting?.abort());
  async function restartRepeatedly(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await broker.setDown(true);
        await clock.sleep(RESTART_DOWN_MS, signal);
        // A port in use is tried again in the next round; switching the fault off reports it.
        await comeUp().catch(() => {});
        await clock.sleep(RESTART_UP_MS, signal);
      }
    } catch {
      // Switched off.
    }
  }

  const running = undo.move();
  return {
    places: {
      mqtt: { host: CLOUD_HOST, port: broker.port, fallbackPort: broker.alpnPort, alpn: CLOUD_ALPN },
      storageUrl,
      tunnel: tunnel.place,
    },
    topics,
    broker,
    tunnel,
    received: () => [...received],
    async stop({ serial = ownSerial, id = randomUUID(), ...about } = {}) {
      assertUp();
      await broker.publish({ topic: topicFor(topics.stop, serial), payload: JSON.stringify({ id, ...about }) });
      return id;
    },
    async release({ file, version, stage, allowDowngrade, document, jobId = randomUUID(), serial = ownSerial }) {
      const bytes = await readPackage(file);
      const known = version ?? readPackageVersion(bytes);
      if (known === null) {
        throw new GwError('USAGE', `The version of ${file} cannot be read: its first entry is no manifest.json.`, {
          remedy: 'Name a package of gw, or add --version.',
        });
      }
      const key = `releases/${jobId}`;
      const changes = document;
      const job = jobs.create(
        serial,
        jobId,
        releaseDocument({ bytes, key, version: known, stage, allowDowngrade, changes }),
        () => storage.put(key, bytes),
      );
      return job;
    },
    async send(topic, payload, { retain = false, qos = 1 } = {}) {
      assertUp();
      await broker.publish({ topic, payload, retain, qos });
      const serial = topic.split('/').find((element) => topic.startsWith(`${topicFor(topics.shadow, element)}/`));
      const suffix = serial && restAfter(topicFor(topics.shadow, serial), topic);
      if (serial && suffix) shadows.receive(serial, suffix, Buffer.from(payload as Uint8Array));
    },
    async restart() {
      assertUp();
      await broker.setDown(true);
      await comeUp();
    },
    createJob: (document, { jobId = randomUUID(), serial = ownSerial } = {}) => jobs.create(serial, jobId, document),
    jobs: jobs.views,
    cancel: (jobId, { force = false, serial = ownSerial } = {}) => jobs.cancel(serial, jobId, force),
    shadow: (serial = ownSerial) => shadows.view(serial),
    uploads: storage.uploads,
    storeObject(key, bytes) {
      storage.put(key, bytes);
      return storage.downloadUrl(key);
    },
    storageRequests: storage.requests,
    async applyFault(name, on) {
      if (name === 'cloud-direct-closed') await broker.setFirstPortOpen(!on);
      if (name === 'cloud-cut') await comeUp();
      tunnel.applyFault(name, on);
      if (name !== 'cloud-restarting') return;
      restarting?.abort();
      restarting = on ? new AbortController() : null;
      if (restarting !== null) void restartRepeatedly(restarting.signal);
      else await comeUp();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The answer to a request for an upload URL; null when it has no client token to answer to. */
export function answerUploadRequest(
  serial: string,
  payload: Uint8Array,
  storage: Pick<Storage, 'uploadUrl'>,
): StorageAnswerWire | null {
  const body = parseRequest(payload);
  const clientToken = body?.clientToken;
  if (body === undefined || typeof clientToken !== 'string' || clientToken === '') return null;
  const unknown = unknownKey(body, ['clientToken', 'method', 'name', 'bytes', 'sha256']);
  const { method, name, bytes, sha256 } = body;
  const refuse = (error: string) => ({ clientToken, error });
  if (unknown !== undefined) return refuse(`unknown field '${unknown}'`);
  if (method !== 'PUT') return refuse('method is not PUT');
  if (typeof name !== 'string' || name.length > 200 || !NAME.test(name)) return refuse('invalid name');
  if (typeof bytes !== 'number' || !Number.isInteger(bytes) || bytes < 1) return refuse('invalid size');
  if (bytes > MAX_UPLOAD_BYTES) return refuse(`more than ${MAX_UPLOAD_BYTES} bytes`);
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return refuse('invalid sha256');
  return { clientToken, ...storage.uploadUrl(`devices/${serial}/${name}`, bytes, sha256) };
}

async function readPackage(path: string): Promise<Uint8Array> {
  try {
    return await readWhole(path, MAX_PACKAGE_BYTES);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${code}).`, { cause: error });
  }
}

/** As inspecting proxies do, so that the chain ends in their CA and is not merely incomplete. */
function sendingRoot(ca: CertificateAuthority): CertificateAuthority {
  return {
    ...ca,
    async issueServer(options) {
      const { keyPem, certificatePem } = await ca.issueServer(options);
      return { keyPem, certificatePem: certificatePem + ca.caPem };
    },
  };
}
