import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * Pre-signed URLs of the simulated storage: an HMAC over method, path, end, size and signed headers, in the query.
 * A form of its own; real ones differ and are opaque to the device.
 */
export interface SignedRequest {
  readonly method: 'GET' | 'PUT';
  /** Below the bucket, elements separated by `/`. */
  readonly key: string;
  /** Seconds since 1970. */
  readonly expiresS: number;
  /** Exact size of the body; null for a download. */
  readonly bytes: number | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

export type UrlCheck =
  | { readonly kind: 'valid'; readonly key: string; readonly bytes: number | null }
  | { readonly kind: 'unsigned' | 'expired' | 'not-matching' };

const BUCKET = 'sim-bucket';
const query = {
  expires: 'X-Sim-Expires',
  bytes: 'X-Sim-Bytes',
  headers: 'X-Sim-Signed-Headers',
  signature: 'X-Sim-Signature',
} as const;

export function signUrl(base: string, secret: Uint8Array, request: SignedRequest): string {
  const path = pathOf(request.key);
  const names = Object.keys(request.headers).toSorted();
  const url = new URL(path, base);
  url.searchParams.set(query.expires, String(request.expiresS));
  if (request.bytes !== null) url.searchParams.set(query.bytes, String(request.bytes));
  url.searchParams.set(query.headers, names.join(';'));
  const values = names.map((name) => request.headers[name] ?? '');
  const signed = canonical(request.method, path, url.searchParams, names, values);
  url.searchParams.set(query.signature, signature(secret, signed));
  return url.href;
}

/** Whether a request may be served now. `nowMs`: by the clock of the storage. */
export function checkUrl(
  secret: Uint8Array,
  request: { readonly method: string; readonly target: string; readonly headers: IncomingHttpHeaders },
  nowMs: number,
): UrlCheck {
  const url = URL.parse(request.target, 'https://storage.invalid');
  const given = url?.searchParams.get(query.signature) ?? '';
  if (url === null || given === '') return { kind: 'unsigned' };
  const allowed: readonly string[] = Object.values(query);
  const keys = [...url.searchParams.keys()];
  if (new Set(keys).size !== keys.length || keys.some((key) => !allowed.includes(key))) return { kind: 'not-matching' };
  const names = (url.searchParams.get(query.headers) ?? '').split(';').filter((name) => name !== '');
  const values = names.map((name) => String(request.headers[name] ?? ''));
  const wanted = signature(secret, canonical(request.method, url.pathname, url.searchParams, names, values));
  const isSame = given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
  if (!isSame) return { kind: 'not-matching' };
  if (Number(url.searchParams.get(query.expires)) * 1_000 <= nowMs) return { kind: 'expired' };
  const bytes = url.searchParams.get(query.bytes);
  const key = url.pathname.split('/').slice(2).map(decodeURIComponent).join('/');
  return { kind: 'valid', key, bytes: bytes === null ? null : Number(bytes) };
}

function pathOf(key: string): string {
  return `/${BUCKET}/${key.split('/').map(encodeURIComponent).join('/')}`;
}

function canonical(
  method: string,
  path: string,
  parameters: URLSearchParams,
  names: readonly string[],
  values: readonly string[],
): string {
  const end = parameters.get(query.expires) ?? '';
  const bytes = parameters.get(query.bytes) ?? '';
  return JSON.stringify([method, path, end, bytes, names, values]);
}

function signature(secret: Uint8Array, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}
