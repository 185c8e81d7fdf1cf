import { isRecord } from '../../json/index.ts';
import { MAX_SERVICES, type ProxyExit, proxyExits } from '../model.ts';
import type { ProxyEvent } from '../proxy.result.ts';

/** Longest line on stdout of the proxy. Project decision. */
export const MAX_LINE_BYTES = 16 * 1024;
const MAX_TEXT_CHARACTERS = 500;
const SERVICE = /^[A-Za-z0-9:_-]{1,128}$/;
const CHANNEL_ID = /^[\x21-\x7e]{1,256}$/;
const ADDRESS = /^[0-9A-Za-z.:%-]{1,128}$/;
const NEWLINE = 0x0a;

/** Reads a line on stdout of the proxy; null: not an event. Texts come from the cloud: they are bounded, one line each. */
export function parseProxyEvent(line: string): ProxyEvent | null {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(json)) return null;
  switch (json.event) {
    case 'connected':
      return connectedOf(json);
    case 'services':
      return servicesOf(json);
    case 'lost':
      return typeof json.detail === 'string' ? { event: 'lost', detail: oneLine(json.detail) } : null;
    case 'counts':
      return countsOf(json);
    case 'ended': {
      const { exit, detail } = json;
      return isProxyExit(exit) && typeof detail === 'string' ? { event: 'ended', exit, detail: oneLine(detail) } : null;
    }
    default:
      return null;
  }
}

function connectedOf({ channelId, localAddress }: Record<string, unknown>): ProxyEvent | null {
  if (channelId !== null && !(typeof channelId === 'string' && CHANNEL_ID.test(channelId))) return null;
  if (typeof localAddress !== 'string' || !ADDRESS.test(localAddress)) return null;
  return { event: 'connected', channelId, localAddress };
}

function servicesOf({ services }: Record<string, unknown>): ProxyEvent | null {
  const isList = Array.isArray(services) && services.length <= MAX_SERVICES;
  if (!isList || !services.every((one) => typeof one === 'string' && SERVICE.test(one))) return null;
  return { event: 'services', services };
}

function countsOf({ open, connections, bytesIn, bytesOut }: Record<string, unknown>): ProxyEvent | null {
  if (!isCount(open) || !isCount(connections) || !isCount(bytesIn) || !isCount(bytesOut)) return null;
  return open > connections ? null : { event: 'counts', open, connections, bytesIn, bytesOut };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isProxyExit(value: unknown): value is ProxyExit {
  return typeof value === 'string' && Object.hasOwn(proxyExits, value);
}

/** Without control characters, which could forge lines of a log or colours of a terminal, and with a limit. */
export function oneLine(text: string, maxCharacters = MAX_TEXT_CHARACTERS): string {
  const plain = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return plain.length > maxCharacters ? `${plain.slice(0, maxCharacters).toWellFormed()}…` : plain;
}

/**
 * Splits bytes into lines of UTF-8; keeps at most one line of `MAX_LINE_BYTES`. Null stands for a longer line, or for bytes
 * that are not UTF-8.
 */
export function createLineReader(onLine: (line: string | null) => void): { push(bytes: Uint8Array): void } {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pieces: Uint8Array[] = [];
  let length = 0;
  let isTooLong = false;

  function keep(piece: Uint8Array): void {
    length += piece.length;
    if (length > MAX_LINE_BYTES) {
      isTooLong = true;
      pieces = [];
    } else if (piece.length > 0) pieces.push(piece);
  }

  function finish(): void {
    const line = isTooLong ? null : decoded(Buffer.concat(pieces));
    [pieces, length, isTooLong] = [[], 0, false];
    if (line !== '') onLine(line);
  }

  function decoded(bytes: Uint8Array): string | null {
    try {
      return decoder.decode(bytes);
    } catch {
      return null;
    }
  }

  return {
    push(bytes) {
      let rest = bytes;
      for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
        keep(rest.subarray(0, at));
        finish();
        rest = rest.subarray(at + 1);
      }
      keep(rest);
    },
  };
}
