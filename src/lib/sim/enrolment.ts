import { randomInt } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { Clock } from '../lifecycle/index.ts';
import { type Authority, createAuthority, readRequest } from './certificates.ts';
import type { Faults } from './faults.ts';
import { closeServer, listenOn } from './listen.ts';
import { isRecord } from './map-store.ts';

/**
 * An enrolment endpoint as docs/enrolment.md describes it, on 127.0.0.1: it gives client certificates of its authority
 * for one-time codes. Whatever it checks of a request it checks by itself.
 */
export interface EnrolmentEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Makes a code that is good for one key of this serial number. */
  newCode(serial: string): string;
  /** What reached it, oldest first. */
  requests(): readonly SeenEnrolment[];
}

export interface SeenEnrolment {
  readonly method: string;
  readonly path: string;
  /** As it came. */
  readonly body: string;
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

const HOST = '127.0.0.1';
const LONGEST_BODY = 32 * 1024;
const DAY_MS = 86_400_000;
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

export async function startEnrolment(options: EnrolmentEndpointOptions): Promise<EnrolmentEndpoint> {
  const { authority, clock, faults, broker, region, onUsed = async () => {} } = options;
  const stranger = await createAuthority({ commonName: 'Another authority' });
  const names = [HOST, 'localhost', ...(options.names ?? [])] as const;
  const past = { notBefore: new Date(Date.now() - 3 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) };
  const [own, foreign, expired, elsewhere] = await Promise.all([
    contextOf(authority, {}),
    contextOf(stranger, {}),
    contextOf(authority, past),
    contextOf(authority, { names: ['elsewhere.example'] }),
  ]);
  const codes = new Map<string, Code>();
  const enrolled = new Map<string, Enrolment>();
  const seen: SeenEnrolment[] = [];
  const sockets = new Set<Socket>();

  async function contextOf(
    from: Authority,
    about: { notBefore?: Date; notAfter?: Date; names?: readonly [string] },
  ): Promise<SecureContext> {
    const { keyPem, certificatePem } = await from.issueServer({ names, ...about });
    return createSecureContext({ key: keyPem, cert: certificatePem });
  }

  const http = createHttpServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    if (faults.is('enrolment-silent')) return;
    if (faults.is('enrolment-no-tls')) {
      socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const secureContext = faults.is('enrolment-untrusted')
      ? foreign
      : faults.is('enrolment-server-expired')
        ? expired
        : faults.is('enrolment-other-name')
          ? elsewhere
          : own;
    const secure = new TLSSocket(socket, { isServer: true, secureContext });
    secure.on('error', () => {});
    http.emit('connection', secure);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const body = await readBody(request);
    const reply = (status: number, json: object) => {
      seen.push({ method, path, body: body ?? '', status });
      send(response, status, 'application/json', JSON.stringify(json));
    };
    const refuse = (status: number, code: string, message: string) => reply(status, { error: { code, message } });
    if (faults.is('enrolment-clock'))
      response.setHeader('Date', new Date(clock.wall().getTime() + DAY_MS).toUTCString());
    else response.setHeader('Date', clock.wall().toUTCString());
    if (faults.is('enrolment-no-answer')) return;
    if (faults.is('enrolment-html')) return send(response, 200, 'text/html', '<!doctype html><title>Sign in</title>');
    if (faults.is('enrolment-redirect')) {
      response.setHeader('Location', 'https://localhost:9/login?next=/anmeldung');
      return send(response, 302, 'text/html', '');
    }
    if (faults.is('enrolment-huge')) return send(response, 200, 'application/json', `"${'x'.repeat(4_000_000)}"`);
    if (faults.is('enrolment-error')) return refuse(500, 'INTERNAL', 'The endpoint has a failure of its own.');
    if (body === undefined) return refuse(413, 'TOO_LONG', 'The request is too long.');
    if (path !== '/anmeldung') return refuse(404, 'NOT_FOUND', 'There is nothing here.');
    if (method !== 'POST') return refuse(405, 'METHOD', 'POST is the only method here.');

    const asked = await readAsked(body);
    if (asked === undefined) return refuse(400, 'REQUEST_INVALID', 'The request is not understood.');
    const { serial, requestPem, publicKeyPem, oneTimeCode, renewal } = asked;
    const code = codes.get(oneTimeCode);
    if (code === undefined) return refuse(401, 'CODE_INVALID', 'The one-time code is not known.');
    if (code.serial !== serial || faults.is('enrolment-refused')) {
      return refuse(403, 'CODE_FOREIGN', 'The one-time code was given out for another device.');
    }
    // The same key may ask again: its answer was lost on the way.
    if (code.publicKeyPem !== undefined && code.publicKeyPem !== publicKeyPem) {
      return refuse(409, 'CODE_USED', 'The one-time code was used with another key.');
    }
    const before = enrolled.get(serial);
    if (before !== undefined && before.publicKeyPem !== publicKeyPem && !renewal) {
      return refuse(409, 'ENROLLED', 'This device is enrolled with another key.');
    }
    const kept = before?.publicKeyPem === publicKeyPem ? before.certificatePem : undefined;
    const certificatePem = kept ?? (await authority.issueClient(requestPem));
    const isFirst = code.publicKeyPem === undefined;
    code.publicKeyPem = publicKeyPem;
    enrolled.set(serial, { publicKeyPem, certificatePem });
    if (isFirst) await onUsed();
    if (faults.is('enrolment-answer-lost')) {
      seen.push({ method, path, body, status: 0 });
      request.socket.destroy();
      return;
    }
    reply(200, {
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

  const port = await listenOn(server, HOST, options.port ?? 0);
  return {
    url: `https://${HOST}:${port}`,
    newCode(serial) {
      const groups = Array.from({ length: 4 }, () => Array.from({ length: 4 }, letter).join(''));
      const code = groups.join('-');
      codes.set(code, { serial, publicKeyPem: undefined });
      return code;
    },
    requests: () => [...seen],
    async [Symbol.asyncDispose]() {
      const closed = closeServer(server);
      for (const socket of sockets) socket.destroy();
      await closed;
    },
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

function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }).end(text);
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
  if (read === undefined || read.commonName !== serial || read.curve !== 'prime256v1') return undefined;
  return { serial, requestPem, publicKeyPem: read.publicKeyPem, oneTimeCode, renewal };
}
