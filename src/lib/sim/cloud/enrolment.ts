import { randomInt } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import type { Clock } from '../../lifecycle/index.ts';
import { isRecord } from '../chassis/maps/map-store.ts';
import type { Faults } from '../faults.ts';
import { type Authority, CURVE, createAuthority, readRequest } from './certificates.ts';
import { CLOUD_HOST, CLOUD_NAMES, httpsTaker, startListener } from './listener.ts';

/**
 * An enrolment endpoint as docs/enrolment.md describes it, on 127.0.0.1: it gives client certificates of its authority
 * for one-time codes. Whatever it checks of a request it checks by itself.
 */
export interface EnrolmentEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Makes a code that is good for one key of this serial number. */
  newCode(serial: string): string;
  /** Every request that came whole, refused ones too; oldest first, at most the last 1000. */
  requests(): readonly SeenEnrolment[];
}

export interface SeenEnrolment {
  readonly method: string;
  readonly path: string;
  /** As it came; empty where it was longer than the endpoint takes. */
  readonly body: string;
  /** Of the answer; 0 where none was sent. */
  readonly status: number;
}

export interface EnrolmentEndpointOptions {
  readonly authority: Authority;
  readonly clock: Pick<Clock, 'wall'>;
  readonly faults: Pick<Faults, 'is'>;
  /** Host of the broker and region that every answer names. */
  readonly broker: string;
  readonly region: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** What its certificate names beside 127.0.0.1 and localhost, for whoever stands before it. */
  readonly names?: readonly string[];
  /** Told when a code was used up, before the answer goes out. */
  readonly onUsed?: () => Promise<void>;
}

const LONGEST_BODY = 32 * 1024;
const MOST_REQUESTS = 1000;
/** The oldest is forgotten for a further one. */
const MOST_CODES = 1000;
const DAY_MS = 86_400_000;
const FOREIGN = 'The one-time code was given out for another device.';
/** Letters and digits that nobody mistakes for another when typing from a paper. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** What one code was given out for, and which key it was used with. */
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

/** What becomes of a request. */
type Outcome = Answer | 'unanswered' | 'cut';

const json = (status: number, value: object): Answer => ({
  status,
  type: 'application/json',
  text: JSON.stringify(value),
});
const refusal = (status: number, code: string, message: string) => json(status, { error: { code, message } });

/** Throws PORT_IN_USE. */
export async function startEnrolment(options: EnrolmentEndpointOptions): Promise<EnrolmentEndpoint> {
  const { authority, clock, faults, broker, region, onUsed = async () => {} } = options;
  const stranger = await createAuthority({ commonName: 'Another authority' });
  const names = [...CLOUD_NAMES, ...(options.names ?? [])] as const;
  const past = { notBefore: new Date(Date.now() - 3 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) };
  const codes = new Map<string, Code>();
  const enrolled = new Map<string, Enrolment>();
  const seen: SeenEnrolment[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  };
  const [own, foreign, expired, elsewhere] = await Promise.all([
    httpsTaker(authority, onRequest, { names }),
    httpsTaker(stranger, onRequest, { names }),
    httpsTaker(authority, onRequest, { names, ...past }),
    httpsTaker(authority, onRequest, { names: ['elsewhere.example'] }),
  ]);
  const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));

  function taker() {
    if (faults.is('enrolment-silent')) return undefined;
    if (faults.is('enrolment-no-tls')) return plain;
    if (faults.is('enrolment-untrusted')) return foreign;
    if (faults.is('enrolment-server-expired')) return expired;
    return faults.is('enrolment-other-name') ? elsewhere : own;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const body = await readBody(request);
    const outcome = await outcomeOf(method, path, body);
    const isAnswered = typeof outcome === 'object';
    seen.push({ method, path, body: body ?? '', status: isAnswered ? outcome.status : 0 });
    if (seen.length > MOST_REQUESTS) seen.shift();
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

  /** First what stands before the endpoint, then the form of the request, then its code. */
  async function outcomeOf(method: string, path: string, body: string | undefined): Promise<Outcome> {
    if (faults.is('enrolment-no-answer')) return 'unanswered';
    if (faults.is('enrolment-html'))
      return { status: 200, type: 'text/html', text: '<!doctype html><title>Sign in</title>' };
    if (faults.is('enrolment-redirect')) {
      return { status: 302, type: 'text/html', text: '', location: 'https://localhost:9/login?next=/anmeldung' };
    }
    if (faults.is('enrolment-huge')) {
      return { status: 200, type: 'application/json', text: `"${'x'.repeat(4_000_000)}"` };
    }
    if (faults.is('enrolment-error')) return refusal(500, 'INTERNAL', 'The endpoint has a failure of its own.');
    if (body === undefined) return refusal(413, 'TOO_LONG', 'The request is too long.');
    if (path !== '/anmeldung') return refusal(404, 'NOT_FOUND', 'There is nothing here.');
    if (method !== 'POST') return refusal(405, 'METHOD', 'POST is the only method here.');
    const asked = await readAsked(body);
    if (asked === undefined) return refusal(400, 'REQUEST_INVALID', 'The request is not understood.');
    // One after the other: two keys that come at once must not both find the code unused.
    const done = turn.then(() => enrol(asked));
    turn = done.catch(() => {});
    return done;
  }

  async function enrol({ serial, requestPem, publicKeyPem, oneTimeCode, renewal }: Asked): Promise<Outcome> {
    // Who refuses a device refuses it whatever the code is, and does not tell which codes exist.
    if (faults.is('enrolment-refused')) return refusal(403, 'CODE_FOREIGN', FOREIGN);
    const code = codes.get(oneTimeCode);
    if (code === undefined) return refusal(401, 'CODE_INVALID', 'The one-time code is not known.');
    if (code.serial !== serial) return refusal(403, 'CODE_FOREIGN', FOREIGN);
    // The same key may ask again: its answer was lost on the way.
    if (code.publicKeyPem !== undefined && code.publicKeyPem !== publicKeyPem) {
      return refusal(409, 'CODE_USED', 'The one-time code was used with another key.');
    }
    const before = enrolled.get(serial);
    if (before !== undefined && before.publicKeyPem !== publicKeyPem && !renewal) {
      return refusal(409, 'ENROLLED', 'This device is enrolled with another key.');
    }
    const kept = before?.publicKeyPem === publicKeyPem ? before.certificatePem : undefined;
    const certificatePem = kept ?? (await authority.issueClient(requestPem));
    const isFirst = code.publicKeyPem === undefined;
    code.publicKeyPem = publicKeyPem;
    enrolled.set(serial, { publicKeyPem, certificatePem });
    if (isFirst) await onUsed();
    if (faults.is('enrolment-answer-lost')) return 'cut';
    return json(200, {
      certificate: await spoiled(requestPem, serial, certificatePem),
      ca: authority.caPem,
      endpoint: broker,
      region: faults.is('enrolment-wrong-region') ? 'xx-nowhere-1' : region,
    });
  }

  /** The certificate, or what a fault puts in its place. */
  async function spoiled(requestPem: string, serial: string, certificatePem: string): Promise<string> {
    if (faults.is('enrolment-wrong-serial')) return authority.issueClient(requestPem, { commonName: `${serial}-X` });
    if (faults.is('enrolment-expired')) return authority.issueClient(requestPem, past);
    if (faults.is('enrolment-other-authority')) return stranger.issueClient(requestPem);
    if (faults.is('enrolment-server-purpose')) return authority.issueClient(requestPem, { purpose: 'server' });
    if (faults.is('enrolment-wrong-key')) return (await authority.issueClientPair(serial)).certificatePem;
    return certificatePem;
  }

  const listener = await startListener(taker, options.port);
  return {
    url: `https://${CLOUD_HOST}:${listener.port}`,
    newCode(serial) {
      const groups = Array.from({ length: 4 }, () => Array.from({ length: 4 }, letter).join(''));
      const code = groups.join('-');
      codes.set(code, { serial, publicKeyPem: undefined });
      if (codes.size > MOST_CODES) codes.delete(codes.keys().next().value ?? '');
      return code;
    },
    requests: () => [...seen],
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

function letter(): string {
  return LETTERS[randomInt(LETTERS.length)] ?? 'A';
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= LONGEST_BODY) chunks.push(chunk);
  }
  return size <= LONGEST_BODY ? Buffer.concat(chunks).toString('utf8') : undefined;
}

interface Asked {
  readonly serial: string;
  readonly requestPem: string;
  readonly publicKeyPem: string;
  readonly oneTimeCode: string;
  readonly renewal: boolean;
}

/** A request that has the described shape, and whose certificate request fits its serial number. */
async function readAsked(body: string): Promise<Asked | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { serial, certificateRequest: requestPem, oneTimeCode, renewal, device } = value;
  if (typeof serial !== 'string' || typeof requestPem !== 'string' || typeof oneTimeCode !== 'string') return undefined;
  if (typeof renewal !== 'boolean' || !isRecord(device)) return undefined;
  const read = await readRequest(requestPem);
  if (read === undefined || read.commonName !== serial || read.curve !== CURVE) return undefined;
  return { serial, requestPem, publicKeyPem: read.publicKeyPem, oneTimeCode, renewal };
}
