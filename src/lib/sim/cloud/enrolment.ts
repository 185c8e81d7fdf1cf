import { createPrivateKey, randomInt, X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { type Clock, replaceFile } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import type { Faults } from '../faults.ts';
import { makeFolder, readIfThere } from '../files.ts';
import {
  CA_FILE,
  type CertificateAuthority,
  CURVE,
  createCa,
  expiredPeriod,
  readRequest,
  restoreCa,
} from './certificates.ts';
import { CLOUD_HOST, CLOUD_NAMES, createHttpsHandler, startListener } from './listener.ts';
import { parseRequest } from './services/request.ts';

/**
 * An enrolment endpoint as in docs/enrolment.md, on 127.0.0.1: it issues client certificates of its CA for one-time
 * codes, and for a certificate of the same serial number that is valid by its clock and not revoked. Its checks share no
 * code with the client.
 */
export interface EnrolmentEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Creates a code that is valid for one key of this serial number. */
  newCode(serial: string): string;
  /** Accepts no certificate any more that it has issued for this serial number so far. */
  revoke(serial: string): void;
  /** Every complete request, also refused ones; oldest first, at most the last 1000. */
  requests(): readonly ReceivedEnrolment[];
}

export interface ReceivedEnrolment {
  readonly method: string;
  readonly path: string;
  /** Unparsed; empty when it was above the size limit. */
  readonly body: string;
  /** Status of the answer; 0 when none was sent. */
  readonly status: number;
  /** SHA-256 of the client certificate; null: it showed none. */
  readonly byCertificate: string | null;
}

export interface EnrolmentEndpointOptions {
  readonly ca: CertificateAuthority;
  readonly clock: Pick<Clock, 'wall' | 'sleep'>;
  readonly faults: Pick<Faults, 'is'>;
  /** Host of the broker and region in every answer. */
  readonly broker: string;
  readonly region: string;
  /** 0, the default, chooses a free port. */
  readonly port?: number;
  /** Further names in its certificate beside 127.0.0.1 and localhost, for a proxy in front of it. */
  readonly names?: readonly string[];
  /** Called when a code was used, before the answer is sent. */
  readonly onUsed?: () => Promise<void>;
}

const MAX_BODY_BYTES = 32 * 1024;
const MAX_REQUESTS = 1000;
/** Beyond it the oldest code is dropped. */
const MAX_CODES = 1000;
const DAY_MS = 86_400_000;
/** Of the fault `enrolment-slow`; below the limit of the client. */
const SLOW_MS = 20_000;
/** Of the fault `enrolment-short-lived`. */
const SHORT_DAYS = 22;
const FOREIGN = 'The one-time code was issued for another device.';
/** Letters and digits without characters that look alike. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** The device that a code was issued for, and the key that it was used with. */
interface Code {
  readonly serial: string;
  publicKeyPem: string | undefined;
}

interface Enrolment {
  readonly publicKeyPem: string;
  readonly certificatePem: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly location?: string;
}

/** Result of a request. */
type Outcome = Answer | 'unanswered' | 'cut';

const json = (status: number, value: object): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(value),
});
const refusal = (status: number, code: string, message: string) => json(status, { error: { code, message } });

/** Throws PORT_IN_USE. */
export async function startEnrolment(options: EnrolmentEndpointOptions): Promise<EnrolmentEndpoint> {
  const { ca, clock, faults, broker, region, onUsed = async () => {} } = options;
  const otherCa = await createCa({ commonName: 'Another CA' });
  const names = [...CLOUD_NAMES, ...(options.names ?? [])] as const;
  const past = expiredPeriod();
  const codes = new Map<string, Code>();
  const enrolled = new Map<string, Enrolment>();
  const issued = new Map<string, Set<string>>();
  const revoked = new Set<string>();
  const received: ReceivedEnrolment[] = [];
  let queue: Promise<unknown> = Promise.resolve();

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  };
  const [own, foreign, expired, elsewhere] = await Promise.all([
    createHttpsHandler(ca, onRequest, { names }, { clientCa: ca.caPem }),
    createHttpsHandler(otherCa, onRequest, { names }),
    createHttpsHandler(ca, onRequest, { names, ...past }),
    createHttpsHandler(ca, onRequest, { names: ['elsewhere.example'] }),
  ]);
  const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));

  function handler() {
    if (faults.is('enrolment-silent')) return undefined;
    if (faults.is('enrolment-no-tls')) return plain;
    if (faults.is('enrolment-untrusted')) return foreign;
    if (faults.is('enrolment-server-expired')) return expired;
    return faults.is('enrolment-other-name') ? elsewhere : own;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const body = await readBody(request);
    const client = clientOf(request);
    const outcome = await outcomeOf(method, path, body, client);
    if (faults.is('enrolment-slow')) await clock.sleep(SLOW_MS);
    const isAnswered = typeof outcome === 'object';
    const byCertificate = client?.fingerprint256 ?? null;
    received.push({ method, path, body: body ?? '', status: isAnswered ? outcome.status : 0, byCertificate });
    if (received.length > MAX_REQUESTS) received.shift();
    if (!isAnswered) {
      if (outcome === 'cut') request.socket.destroy();
      return;
    }
    const { status, type, text, location } = outcome;
    const aheadMs = faults.is('enrolment-clock') ? DAY_MS : 0;
    response.writeHead(status, {
      Date: new Date(clock.wall().getTime() + aheadMs).toUTCString(),
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(text),
      ...(location !== undefined && { Location: location }),
    });
    response.end(text);
  }

  /** Checks in order: faults of a proxy, the form of the request, its code. */
  async function outcomeOf(
    method: string,
    path: string,
    body: string | undefined,
    client: X509Certificate | null,
  ): Promise<Outcome> {
    if (faults.is('enrolment-no-answer')) return 'unanswered';
    if (faults.is('enrolment-html'))
      return { status: 200, type: 'text/html', text: '<!doctype html><title>Sign in</title>' };
    if (faults.is('enrolment-redirect')) {
      return { status: 302, type: 'text/html', text: '', location: 'https://localhost:9/login?next=/anmeldung' };
    }
    if (faults.is('enrolment-huge')) {
      return { status: 200, type: 'application/json', text: `"${'x'.repeat(4_000_000)}"` };
    }
    if (faults.is('enrolment-error')) return refusal(500, 'INTERNAL', 'Internal error.');
    if (faults.is('enrolment-busy')) return refusal(503, 'BUSY', 'Try again later.');
    if (body === undefined) return refusal(413, 'TOO_LONG', 'Request body is too large.');
    if (path !== '/anmeldung') return refusal(404, 'NOT_FOUND', 'Not found.');
    if (method !== 'POST') return refusal(405, 'METHOD', 'Only POST is allowed.');
    const request = await readEnrolment(body);
    if (request === undefined) return refusal(400, 'REQUEST_INVALID', 'Invalid request.');
    // One at a time: two concurrent requests must not both find the code unused.
    const done = queue.then(() => (request.oneTimeCode === null ? renew(request, client) : enrol(request)));
    queue = done.catch(() => {});
    return done;
  }

  async function enrol({ serial, requestPem, publicKeyPem, oneTimeCode, renewal }: EnrolmentRequest): Promise<Outcome> {
    // The refusal does not depend on the code and does not reveal which codes exist.
    if (faults.is('enrolment-refused')) return refusal(403, 'CODE_FOREIGN', FOREIGN);
    const code = codes.get(oneTimeCode ?? '');
    if (code === undefined) return refusal(401, 'CODE_INVALID', 'Unknown one-time code.');
    if (code.serial !== serial) return refusal(403, 'CODE_FOREIGN', FOREIGN);
    // The same key may repeat its request: the answer may have been lost.
    if (code.publicKeyPem !== undefined && code.publicKeyPem !== publicKeyPem) {
      return refusal(409, 'CODE_USED', 'The one-time code was used with another key.');
    }
    const before = enrolled.get(serial);
    if (before !== undefined && before.publicKeyPem !== publicKeyPem && !renewal) {
      return refusal(409, 'ENROLLED', 'This device is enrolled with another key.');
    }
    const isFirst = code.publicKeyPem === undefined;
    code.publicKeyPem = publicKeyPem;
    const certificatePem = await issue(serial, requestPem, publicKeyPem);
    if (isFirst) await onUsed();
    return await answerOf(serial, requestPem, certificatePem);
  }

  /** Without a code: by a certificate that it has issued for the same serial number. */
  async function renew(
    { serial, requestPem, publicKeyPem, renewal }: EnrolmentRequest,
    client: X509Certificate | null,
  ): Promise<Outcome> {
    if (!renewal || client === null) return refusal(401, 'NO_CERTIFICATE', 'No client certificate of this service.');
    if (faults.is('enrolment-refused')) return refusal(403, 'NOT_ALLOWED', 'No renewal for this device.');
    const name = /^CN=([^\n]*)$/.exec(client.subject)?.[1];
    if (name !== serial) return refusal(403, 'CERTIFICATE_FOREIGN', 'The certificate is of another device.');
    if (revoked.has(client.fingerprint256)) return refusal(403, 'CERTIFICATE_REVOKED', 'The certificate is revoked.');
    if (client.validToDate <= clock.wall()) return refusal(410, 'CERTIFICATE_EXPIRED', 'The certificate has expired.');
    return await answerOf(serial, requestPem, await issue(serial, requestPem, publicKeyPem));
  }

  /** The same certificate again for the same key. */
  async function issue(serial: string, requestPem: string, publicKeyPem: string): Promise<string> {
    const before = enrolled.get(serial);
    if (before?.publicKeyPem === publicKeyPem) return before.certificatePem;
    const certificatePem = await ca.issueClient(requestPem);
    enrolled.set(serial, { publicKeyPem, certificatePem });
    return certificatePem;
  }

  async function answerOf(serial: string, requestPem: string, certificatePem: string): Promise<Outcome> {
    const certificate = await issuedOrWrong(requestPem, serial, certificatePem);
    const all = issued.get(serial) ?? new Set();
    issued.set(serial, all.add(new X509Certificate(certificate).fingerprint256));
    if (faults.is('enrolment-answer-lost')) return 'cut';
    return json(200, {
      certificate,
      ca: faults.is('enrolment-unknown-ca') ? ca.caPem + otherCa.caPem : ca.caPem,
      endpoint: broker,
      region: faults.is('enrolment-wrong-region') ? 'xx-nowhere-1' : region,
    });
  }

  /** The certificate, or a wrong one while a fault is on. */
  async function issuedOrWrong(requestPem: string, serial: string, certificatePem: string): Promise<string> {
    if (faults.is('enrolment-wrong-serial')) return ca.issueClient(requestPem, { commonName: `${serial}-X` });
    if (faults.is('enrolment-expired')) return ca.issueClient(requestPem, past);
    if (faults.is('enrolment-short-lived')) {
      const notAfter = new Date(clock.wall().getTime() + SHORT_DAYS * DAY_MS);
      return ca.issueClient(requestPem, { notAfter });
    }
    if (faults.is('enrolment-other-ca') || faults.is('enrolment-unknown-ca')) return otherCa.issueClient(requestPem);
    if (faults.is('enrolment-server-purpose')) return ca.issueClient(requestPem, { purpose: 'server' });
    if (faults.is('enrolment-wrong-key')) return (await ca.issueClientPair(serial)).certificatePem;
    return certificatePem;
  }

  const listener = await startListener(handler, options.port);
  return {
    url: `https://${CLOUD_HOST}:${listener.port}`,
    newCode(serial) {
      const groups = Array.from({ length: 4 }, () => Array.from({ length: 4 }, letter).join(''));
      const code = groups.join('-');
      codes.set(code, { serial, publicKeyPem: undefined });
      if (codes.size > MAX_CODES) codes.delete(codes.keys().next().value ?? '');
      return code;
    },
    requests: () => [...received],
    revoke(serial) {
      for (const fingerprint of issued.get(serial) ?? []) revoked.add(fingerprint);
    },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

function letter(): string {
  return LETTERS[randomInt(LETTERS.length)] ?? 'A';
}

/** The client certificate, if it is of the CA of this endpoint. */
function clientOf({ socket }: IncomingMessage): X509Certificate | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  return socket.getPeerX509Certificate() ?? null;
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks).toString('utf8') : undefined;
}

interface EnrolmentRequest {
  readonly serial: string;
  readonly requestPem: string;
  readonly publicKeyPem: string;
  /** null: the request has no such member. */
  readonly oneTimeCode: string | null;
  readonly renewal: boolean;
}

/** A request of the described shape whose certificate request matches its serial number. */
async function readEnrolment(body: string): Promise<EnrolmentRequest | undefined> {
  const value = parseRequest(Buffer.from(body));
  if (value === undefined) return undefined;
  const { serial, certificateRequest: requestPem, oneTimeCode = null, renewal, device } = value;
  if (typeof serial !== 'string' || typeof requestPem !== 'string') return undefined;
  if (typeof oneTimeCode !== 'string' && (oneTimeCode !== null || 'oneTimeCode' in value)) return undefined;
  if (typeof renewal !== 'boolean' || !isRecord(device)) return undefined;
  const read = await readRequest(requestPem);
  if (read === undefined || read.commonName !== serial || read.curve !== CURVE) return undefined;
  return { serial, requestPem, publicKeyPem: read.publicKeyPem, oneTimeCode, renewal };
}

const CA_KEY_FILE = join('secrets', 'cloud-ca.json');
const CODE_FILE = join('secrets', 'enrolment-code.txt');

/**
 * The CA of the simulated cloud, kept in the folder so that certificates of an earlier run stay valid; without a folder
 * it exists as long as the simulator.
 */
export async function openCa(dir: string | undefined): Promise<CertificateAuthority> {
  if (dir === undefined) return createCa();
  const path = join(dir, CA_KEY_FILE);
  const kept = readKept(await readIfThere(path));
  const ca = kept ?? (await createCa());
  if (kept === undefined) {
    await makeFolder(join(dir, 'secrets'), 0o700);
    const { caPem, keyPem } = ca;
    await replaceFile(path, `${JSON.stringify({ caPem, keyPem })}\n`, { mode: 0o600 });
  }
  await replaceFile(join(dir, CA_FILE), ca.caPem);
  return ca;
}

/** Writes the next valid one-time code; returns the file's path. */
export async function writeCode(dir: string, code: string): Promise<string> {
  const path = join(dir, CODE_FILE);
  await makeFolder(join(dir, 'secrets'), 0o700);
  await replaceFile(path, `${code}\n`, { mode: 0o600 });
  return path;
}

function readKept(text: string | undefined): CertificateAuthority | undefined {
  if (text === undefined) return undefined;
  try {
    const kept: unknown = JSON.parse(text);
    if (!isRecord(kept) || typeof kept.caPem !== 'string' || typeof kept.keyPem !== 'string') return undefined;
    const { caPem, keyPem } = kept;
    const certificate = new X509Certificate(caPem);
    const isValid = certificate.ca && certificate.validToDate > new Date();
    // Certificate and key may not belong together.
    return isValid && certificate.checkPrivateKey(createPrivateKey(keyPem)) ? restoreCa({ caPem, keyPem }) : undefined;
  } catch {
    return undefined;
  }
}
