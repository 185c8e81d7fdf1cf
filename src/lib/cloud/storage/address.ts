import { GwError, type Tried } from '../../error/index.ts';
import { shorten } from '../../text/index.ts';

/** The place that a pre-signed URL names. */
export interface StorageAddress {
  /** `https://host:port` */
  readonly origin: string;
  /** Path with the query, which is a secret: for the request only. */
  readonly target: string;
  /** Host, port and path without the query. */
  readonly tried: Tried;
}

const MAX_URL_LENGTH = 8_192;
const MAX_SHOWN_PATH = 200;

/**
 * Checks a pre-signed URL: https://, without user name and fragment, and below `cloud.storageUrl` where that is set.
 * Throws STORAGE_REFUSED, which names the host and never the query.
 */
export function storageAddress(
  url: string,
  { method, storageUrl }: { readonly method: 'GET' | 'PUT'; readonly storageUrl: string | undefined },
): StorageAddress {
  const parsed = url.length <= MAX_URL_LENGTH ? URL.parse(url) : null;
  if (parsed === null) throw refused('The pre-signed URL is not a URL.');
  const { protocol, hostname, port, pathname, search } = parsed;
  const tried: Tried = {
    address: hostname.replace(/^\[|\]$/g, ''),
    ...(protocol === 'https:' && { port: port === '' ? 443 : Number(port) }),
    action: `${method} ${shorten(pathname, MAX_SHOWN_PATH)}`,
  };
  if (protocol !== 'https:') throw refused(`The pre-signed URL for ${hostname} is not https://.`, tried);
  if (parsed.username !== '' || parsed.password !== '') {
    throw refused(`The pre-signed URL for ${hostname} contains a user name or a password.`, tried);
  }
  if (storageUrl !== undefined && !isBelow(parsed, new URL(storageUrl))) {
    const { host, pathname: start } = new URL(storageUrl);
    throw refused(
      `The pre-signed URL is for ${parsed.host}, not below cloud.storageUrl (${host}${start === '/' ? '' : start}).`,
      tried,
      'Compare cloud.storageUrl in the site file with the object storage that the cloud operator names.',
    );
  }
  return { origin: parsed.origin, target: `${pathname}${search}`, tried };
}

function isBelow(url: URL, start: URL): boolean {
  const folder = start.pathname.replace(/\/+$/, '');
  return url.origin === start.origin && url.pathname.startsWith(`${folder}/`);
}

function refused(message: string, tried?: Tried, remedy?: string): GwError {
  return new GwError('STORAGE_REFUSED', message, { tried, remedy });
}

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const VALUE = /^[\t\x20-\x7e]{0,1024}$/;
const MAX_HEADERS = 20;
/** Headers that belong to the connection or to gw. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-range',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers that a signature covers, as they may be sent. Throws STORAGE_REFUSED. */
export function signedHeaders(headers: Readonly<Record<string, string>> | undefined, tried: Tried) {
  const entries = Object.entries(headers ?? {});
  if (entries.length > MAX_HEADERS) throw refused(`More than ${MAX_HEADERS} headers came with the URL.`, tried);
  const kept = entries.map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [name, value] of kept) {
    if (NAME.test(name) && !RESERVED.has(name) && typeof value === 'string' && VALUE.test(value)) continue;
    throw refused(`A header came with the URL that gw does not send: ${shorten(printable(name), 64)}.`, tried);
  }
  return Object.fromEntries(kept);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
