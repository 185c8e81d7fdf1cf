import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { dialFailureOf, dialFailureText } from '../../net/index.ts';

export interface ConnectFailure {
  readonly code: Extract<ErrorCode, 'TUNNEL_REFUSED' | 'TUNNEL_NOT_REACHABLE'>;
  /** One sentence for a person, without a token. */
  readonly detail: string;
  readonly remedy?: string;
  readonly status?: number;
}

const MAX_BODY_BYTES = 4_096;
const MAX_BODY_MS = 5_000;

/** What a status other than 101 means; its body is read within bounds. @source vendor (HINWEIS) */
export async function refusalOf(
  response: IncomingMessage,
  tokens: { readonly access: string; readonly client: string },
  clock: Clock,
): Promise<ConnectFailure> {
  const { statusCode: status = 0 } = response;
  const body = await bodyOf(response, clock);
  const reason = bodyText(body, [tokens.access, tokens.client]);
  const answer = reason === '' ? `status ${status}` : `status ${status}, ${quote(reason)}`;
  if (status < 300 || status >= 500) {
    return { code: 'TUNNEL_NOT_REACHABLE', status, detail: `Tunnel service returned ${answer}.` };
  }
  if (status === 400 && /\bused\b|\bmatch/i.test(body)) {
    return {
      code: 'TUNNEL_REFUSED',
      status,
      detail: `Token was used before; a token works once. The tunnel service answered: ${answer}.`,
      remedy: 'Let the tunnel be opened again, or its tokens be rotated, and use the new source token.',
    };
  }
  if (status === 429) {
    return {
      code: 'TUNNEL_REFUSED',
      status,
      detail: `Tunnel service refused the connection because of too many requests: ${answer}.`,
      remedy: 'Wait some minutes, then run the command again with the same token.',
    };
  }
  return { code: 'TUNNEL_REFUSED', status, detail: `Tunnel service refused the connection: ${answer}.` };
}

async function bodyOf(response: IncomingMessage, clock: Clock): Promise<string> {
  using _late = clock.after(MAX_BODY_MS, () => response.destroy());
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece as Buffer);
      size += (piece as Buffer).length;
      if (size >= MAX_BODY_BYTES) break;
    }
  } catch {
    // What arrived until then is what there is.
  }
  return Buffer.concat(pieces).subarray(0, MAX_BODY_BYTES).toString('utf8');
}

/** The text of a body without tags, tokens and anything that looks like one. */
export function bodyText(body: string, secrets: readonly string[]): string {
  let text = body;
  for (const secret of secrets) if (secret !== '') text = text.replaceAll(secret, '[redacted]');
  return text
    .replace(/<[^>]*>/g, ' ')
    .replace(/[A-Za-z0-9+/=_.-]{24,}/g, '[redacted]')
    .replace(/\s+/g, ' ')
    .trim();
}

/** TLS errors of Node that mean an untrusted certificate. */
const UNTRUSTED =
  /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA)/;

/** By the code of the error where it has one: the texts of libraries may contain the address. */
export function connectFailure(error: unknown): ConnectFailure {
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  const failed = (detail: string, remedy?: string): ConnectFailure => ({
    code: 'TUNNEL_NOT_REACHABLE',
    detail,
    ...(remedy !== undefined && { remedy }),
  });
  if (UNTRUSTED.test(code)) {
    return failed(
      `Certificate of the tunnel service is not trusted (${code}).`,
      'Name the CA certificates of the service with --ca-file or cloud.caFile, and check that no proxy of this network inspects TLS.',
    );
  }
  if (/^(ERR_SSL|EPROTO|ERR_TLS)/.test(code)) return failed(`No TLS at the tunnel service (${code}).`);
  if (/subprotocol/i.test(message)) {
    return failed(
      'Tunnel service did not select the offered WebSocket subprotocol.',
      'Compare cloud.tunnel.subprotocol with the value of the service.',
    );
  }
  if (/handshake has timed out/.test(message)) return failed('Tunnel service did not answer the WebSocket handshake.');
  if (code.startsWith('WS_ERR_')) return failed(`Invalid WebSocket frame of the tunnel service (${code}).`);
  if (code.startsWith('HPE_') || /Sec-WebSocket|upgrade/i.test(message)) {
    return failed('No WebSocket server at this address.');
  }
  const failure = dialFailureOf(error);
  return failed(`not connected: ${dialFailureText[failure]}${failure === 'other' && code ? ` (${code})` : ''}.`);
}
