import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Side } from './rules.ts';

/** The request of a client, as far as it is independent of the tunnels. */
export type ReadHandshake =
  | {
      readonly kind: 'valid';
      readonly side: Side;
      readonly subprotocol: string;
      readonly accessToken: string;
      readonly clientToken: string | null;
    }
  | { readonly kind: 'invalid'; readonly side: Side | null; readonly reason: string };

const PATH = '/tunnel';
/** 16 bytes. @source RFC 6455, 4.1 */
const KEY = /^[A-Za-z0-9+/]{22}==$/;
/** A common vendor puts its own name before it. The versions are interoperable. */
const SUBPROTOCOL = /^(?:[A-Za-z0-9.-]+\.)?securetunneling-[123]\.0$/;

/** Answers are those of a common vendor, in own words (HINWEIS). Its cookie for the access token is not simulated. */
export function readHandshake({ method, url = '', headers, rawHeaders }: IncomingMessage): ReadHandshake {
  const target = URL.parse(url, 'https://localhost');
  const mode = target?.searchParams.getAll('local-proxy-mode') ?? [];
  const side = mode.length === 1 && (mode[0] === 'source' || mode[0] === 'destination') ? mode[0] : null;
  const invalid = (reason: string) => ({ kind: 'invalid', side, reason }) as const;
  if (target?.pathname !== PATH) return invalid('Invalid path');
  if (side === null) return invalid('Invalid local proxy mode');
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  // The names differ in the version only, so that the last one in order is the newest.
  const subprotocol = offered
    .filter((name) => SUBPROTOCOL.test(name))
    .toSorted()
    .at(-1);
  if (subprotocol === undefined) return invalid('Invalid subprotocol');
  const { 'sec-websocket-key': key = '', 'sec-websocket-version': version, upgrade = '' } = headers;
  const isWebSocket = method === 'GET' && upgrade.toLowerCase() === 'websocket' && version === '13' && KEY.test(key);
  if (!isWebSocket) return invalid('Invalid WebSocket handshake');
  const accessTokens = valuesOf(rawHeaders, 'access-token');
  const clientTokens = valuesOf(rawHeaders, 'client-token');
  if (accessTokens.length === 0) return invalid('Missing access token');
  if (accessTokens.length > 1) return invalid('More than one access token');
  if (clientTokens.length > 1) return invalid('More than one client token');
  const [accessToken = ''] = accessTokens;
  const [clientToken = null] = clientTokens;
  return { kind: 'valid', side, subprotocol, accessToken, clientToken };
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name);
}

/** Answers an upgrade request in plain text and closes the connection. */
export function answerPlain(
  socket: Duplex,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const head = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': `${Buffer.byteLength(body)}`,
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}\r\n${body}`);
}
