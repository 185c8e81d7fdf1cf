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
/** A common vendor puts its own name before it. The versions are interoperable. */
const SUBPROTOCOL = /^(?:[A-Za-z0-9.-]+\.)?securetunneling-[123]\.0$/;

/** Answers are those of a common vendor, in own words (HINWEIS). Its cookie for the access token is not simulated. */
export function readHandshake({ url = '', headers }: IncomingMessage): ReadHandshake {
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
  // Node joins repeated headers to one text, which is no token.
  const accessToken = headers['access-token']?.toString();
  const clientToken = headers['client-token']?.toString() ?? null;
  if (accessToken === undefined) return invalid('Missing access token');
  return { kind: 'valid', side, subprotocol, accessToken, clientToken };
}

/** Answers an upgrade request in plain text and closes the connection. */
export function answerPlain(socket: Duplex, status: number, body: string): void {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
