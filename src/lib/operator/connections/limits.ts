import { readFileSync } from 'node:fs';
import { MAX_BODY_BYTES } from '../http/body-limits.ts';
import type { AdmissionLimits } from './admission.ts';

/** Limits of one listener. All are project decisions; docs/operator.md gives the reasons. */
export interface ConnectionLimits extends AdmissionLimits {
  /** Request line and headers, from the first byte, or from the accept for a connection that sends nothing. */
  readonly headersMs: number;
  /** A body, from the end of its headers. */
  readonly bodyMs: number;
  /** Of a body that is not the upload of a signed-in person; the rest of a longer one is not parsed. */
  readonly bodyBytes: number;
  /** An upload of a signed-in person has no deadline, but a minimum number of bytes in each window. */
  readonly uploadWindowMs: number;
  readonly uploadWindowBytes: number;
  /** An answer of which the client reads nothing for this long is aborted. */
  readonly unreadMs: number;
  /** Limit without a byte in either direction while an answer is in progress. A whole multiple of `unreadMs`. */
  readonly silentMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** Max. pipelined requests that wait on one connection. Browsers send none. */
  readonly pipelined: number;
}

/** Enough for the parsers behind to see that a body is too long. */
const PARSER_SLACK_BYTES = 4 * 1024;

const times = {
  headersMs: 5_000,
  bodyMs: 5_000,
  bodyBytes: MAX_BODY_BYTES + PARSER_SLACK_BYTES,
  uploadWindowMs: 30_000,
  uploadWindowBytes: 512 * 1024,
  unreadMs: 30_000,
  silentMs: 60_000,
  keepAliveMs: 30_000,
  pipelined: 8,
} as const;

/**
 * `full`: enough for ten browsers (six connections each) behind one address. `read-only`: all clients of the tunnel
 * come from 127.0.0.1, so a limit per address would let one remote viewer shut out the others. `local`: commands of the
 * owner on the gateway itself, which have no address.
 */
export const connectionLimits = {
  full: { total: 512, perPeer: 64, smallPeer: 16, ...times },
  'read-only': { total: 64, perPeer: 64, smallPeer: 64, ...times },
  local: { total: 64, perPeer: 64, smallPeer: 64, ...times },
} as const satisfies Record<string, ConnectionLimits>;

/** Descriptors for everything but the connections of the full socket. */
const OTHER_OPEN_FILES = 192;

/**
 * A connection needs one descriptor, and a second one during a media download. Beyond the limit of the process the
 * kernel would drop new connections silently, including one with a stop.
 */
export function totalWithin(wanted: number, openFileLimit: number | null): number {
  if (openFileLimit === null) return wanted;
  return Math.max(Math.min(wanted, 32), Math.min(wanted, Math.floor((openFileLimit - OTHER_OPEN_FILES) / 2)));
}

/** Soft limit of open files of this process (Linux); null where it is not known. */
export function openFileLimit(path = '/proc/self/limits'): number | null {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(path, 'utf8'))?.[1];
    return soft === undefined || soft === 'unlimited' ? null : Number(soft);
  } catch {
    return null;
  }
}
