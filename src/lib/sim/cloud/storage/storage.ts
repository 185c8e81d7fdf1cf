import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../../lifecycle/index.ts';
import type { Faults } from '../../faults.ts';

/** What a pre-signed URL permits. Real ones carry it in their query and are opaque to the device. */
interface Permission {
  readonly method: 'GET' | 'PUT';
  /** Below the bucket, elements separated by `/`. */
  readonly key: string;
  readonly endsMs: number;
  /** Exact size of the body; null for a download. */
  readonly bytes: number | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

const BUCKET = 'sim-bucket';
const SIGNATURE = 'X-Sim-Signature=';
/** The oldest URLs are forgotten. */
const MAX_URLS = 100_000;

/** An object that a device has uploaded. */
export interface Upload {
  /** `devices/<serial>/<name>`. */
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  /** UTC. */
  readonly at: string;
}

/** A request to the storage, also a refused one. */
export interface StorageRequest {
  readonly method: string;
  /** Without the query, which contains the signature. */
  readonly path: string;
  readonly range: string | null;
  readonly status: number;
}

export interface StorageOptions {
  /** Milliseconds since 1970 by the clock of the cloud. */
  readonly now: () => number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly faults: Pick<Faults, 'is'>;
  /** Validity of a URL in seconds. */
  readonly urlLifetimeS: number;
  /** The answer of the fault `cloud-slow` is so late. */
  readonly slowMs: number;
}

const MAX_KEPT = 1_000;
/** All objects together. */
const MAX_STORED_BYTES = 1024 * 1024 * 1024;
/** Of the fault `cloud-storage-slow`. */
const SLOW_BYTES_PER_MS = 100;
const CHUNK_BYTES = 16 * 1024;
const SHA256_HEADER = 'x-content-sha256';

interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const unsigned: ErrorAnswer = { status: 403, code: 'AccessDenied', message: 'Access Denied' };
const expired: ErrorAnswer = { status: 403, code: 'AccessDenied', message: 'Request has expired' };
const notMatching: ErrorAnswer = {
  status: 403,
  code: 'SignatureDoesNotMatch',
  message: 'The request signature does not match the signature provided.',
};

/** The object storage of the simulated cloud: pre-signed URLs only, answers as of a common vendor (HINWEIS). */
export function createStorage({ now, clock, faults, urlLifetimeS, slowMs }: StorageOptions) {
  /** By path and query. */
  const permissions = new Map<string, Permission>();
  const objects = new Map<string, Uint8Array>();
  const uploads: Upload[] = [];
  const requests: StorageRequest[] = [];
  let base = '';

  function urlFor(permission: Omit<Permission, 'endsMs'>): string {
    const path = `/${BUCKET}/${permission.key.split('/').map(encodeURIComponent).join('/')}`;
    const target = `${path}?${SIGNATURE}${randomBytes(32).toString('hex')}`;
    const endsMs = now() + (faults.is('cloud-url-expired') ? -1 : urlLifetimeS) * 1_000;
    permissions.set(target, { ...permission, endsMs });
    if (permissions.size > MAX_URLS) permissions.delete(permissions.keys().next().value ?? '');
    return `${base}${target}`;
  }

  function put(key: string, bytes: Uint8Array): void {
    objects.delete(key);
    objects.set(key, bytes);
    let total = 0;
    for (const object of objects.values()) total += object.length;
    for (const [oldest, object] of objects) {
      if (total <= MAX_STORED_BYTES || oldest === key) break;
      objects.delete(oldest);
      total -= object.length;
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers } = request;
    response.on('finish', () => note(response.statusCode));
    response.setHeader('Date', new Date(now()).toUTCString());
    function note(status: number): void {
      requests.push({ method, path: target.split('?', 1)[0] ?? '', range: headers.range ?? null, status });
      if (requests.length > MAX_KEPT) requests.shift();
    }
    if (faults.is('cloud-slow')) await clock.sleep(slowMs);
    if (faults.is('cloud-error')) return refuse({ status: 500, code: 'InternalError', message: 'Internal error.' });
    if (!target.includes(SIGNATURE)) return refuse(unsigned);
    const permission = permissions.get(target);
    const signed = Object.entries(permission?.headers ?? {});
    const isOther = permission?.method !== method || signed.some(([name, value]) => headers[name] !== value);
    if (permission === undefined || isOther) return refuse(notMatching);
    if (permission.endsMs <= now()) return refuse(expired);
    if (method === 'PUT') return receive(permission.key, permission.bytes ?? 0);
    const object = objects.get(permission.key);
    if (object === undefined) return refuse({ status: 404, code: 'NoSuchKey', message: 'The key does not exist.' });
    return send(object);

    function refuse({ status, code, message, headers: more }: ErrorAnswer): void {
      request.resume();
      const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
      response.writeHead(status, {
        'Content-Type': 'application/xml',
        'Content-Length': Buffer.byteLength(text),
        ...more,
      });
      response.end(method === 'HEAD' ? undefined : text);
    }

    async function send(stored: Uint8Array): Promise<void> {
      request.resume();
      const object = faults.is('cloud-storage-corrupt') ? corrupted(stored) : stored;
      const etag = `"${sha256Of(stored)}"`;
      const isOther = headers['if-range'] !== undefined && headers['if-range'] !== etag;
      const range = isOther ? 'whole' : readRange(headers.range, object.length);
      if (range === 'unsatisfiable') {
        const message = 'The requested range is not satisfiable';
        const more = { 'Content-Range': `bytes */${object.length}` };
        return refuse({ status: 416, code: 'InvalidRange', message, headers: more });
      }
      const { first, last } = range === 'whole' ? { first: 0, last: object.length - 1 } : range;
      const body = object.subarray(first, last + 1);
      response.writeHead(range === 'whole' ? 200 : 206, {
        'Content-Type': 'application/octet-stream',
        'Content-Length': body.length,
        'Accept-Ranges': 'bytes',
        ETag: etag,
        ...(range !== 'whole' && { 'Content-Range': `bytes ${first}-${last}/${object.length}` }),
      });
      const isCut = faults.is('cloud-storage-cut');
      const sent = isCut ? body.subarray(0, Math.floor(body.length / 2)) : body;
      if (faults.is('cloud-storage-slow')) {
        for (let at = 0; at < sent.length && !response.destroyed; at += CHUNK_BYTES) {
          const chunk = sent.subarray(at, at + CHUNK_BYTES);
          await clock.sleep(chunk.length / SLOW_BYTES_PER_MS);
          response.write(chunk);
        }
        if (!isCut) response.end();
      } else if (!isCut) response.end(sent);
      if (!isCut) return;
      note(response.statusCode);
      response.write(faults.is('cloud-storage-slow') ? new Uint8Array() : sent, () => request.socket.destroy());
    }

    async function receive(key: string, bytes: number): Promise<void> {
      if (headers['content-length'] === undefined) {
        return refuse({ status: 411, code: 'MissingContentLength', message: 'Content-Length is required.' });
      }
      if (Number(headers['content-length']) !== bytes) return refuse(notMatching);
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (faults.is('cloud-storage-slow')) await clock.sleep(chunk.length / SLOW_BYTES_PER_MS);
        if (faults.is('cloud-storage-cut') && size >= bytes / 2) {
          note(0);
          request.socket.destroy();
          return;
        }
      }
      const object = Buffer.concat(chunks);
      const sha256 = sha256Of(object);
      if (sha256 !== headers[SHA256_HEADER]) {
        return refuse({ status: 400, code: 'BadDigest', message: 'The SHA-256 does not match the received body.' });
      }
      put(key, object);
      uploads.push({ key, bytes: object, sha256, at: new Date(now()).toISOString() });
      let kept = uploads.reduce((sum, { bytes: { length } }) => sum + length, 0);
      while (uploads.length > MAX_KEPT || (kept > MAX_STORED_BYTES && uploads.length > 1)) {
        kept -= uploads.shift()?.bytes.length ?? 0;
      }
      response.writeHead(200, { 'Content-Length': 0, ETag: `"${sha256}"` });
      response.end();
    }
  }

  return {
    /** The address that all URLs begin with. */
    setBase(url: string): void {
      base = url;
    },
    answer(request: IncomingMessage, response: ServerResponse): void {
      answer(request, response).catch(() => response.destroy());
    },
    put,
    /** A new URL for a download. */
    downloadUrl: (key: string): string => urlFor({ method: 'GET', key, bytes: null, headers: {} }),
    /** A new URL for an upload, with the headers that its signature covers. */
    uploadUrl(key: string, bytes: number, sha256: string) {
      const headers = { [SHA256_HEADER]: sha256 };
      return { url: urlFor({ method: 'PUT', key, bytes, headers }), headers };
    },
    uploads: (): readonly Upload[] => [...uploads],
    requests: (): readonly StorageRequest[] => [...requests],
  };
}

export type Storage = ReturnType<typeof createStorage>;

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The same with another byte in the middle. */
function corrupted(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = Math.floor(copy.length / 2);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

/** The bytes that a Range header asks for; several ranges and other units are ignored, as RFC 9110 permits. */
export function readRange(
  header: string | undefined,
  length: number,
): { readonly first: number; readonly last: number } | 'whole' | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '') {
    // The last bytes.
    const count = Math.min(Number(to), length);
    return count === 0 ? 'unsatisfiable' : { first: length - count, last: length - 1 };
  }
  const first = Number(from);
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== '' && Number(to) < first) return 'whole';
  return first >= length ? 'unsatisfiable' : { first, last };
}
