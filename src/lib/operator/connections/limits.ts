import { readFileSync } from 'node:fs';
import type { AdmissionLimits } from './admission.ts';

/** Bounds of one listener. All of them are project decisions; the reasons stand in docs/operator.md. */
export interface ConnectionLimits extends AdmissionLimits {
  /** Request line and headers, from the first byte, or from the accept for a connection that sends nothing. */
  readonly headersMs: number;
  /** A body, from the end of its headers. */
  readonly bodyMs: number;
  /** An upload of a signed-in person has no deadline, but must bring so much in each window. */
  readonly uploadWindowMs: number;
  readonly uploadWindowBytes: number;
  /** An answer of which the reader takes nothing for so long is given up. */
  readonly unreadMs: number;
  /** No byte either way while an answer is being worked on. A whole multiple of `unreadMs`. */
  readonly silentMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** Requests that may wait on one connection for the answer to the one before. Browsers send none. */
  readonly pipelined: number;
}

const times = {
  headersMs: 5_000,
  bodyMs: 5_000,
  uploadWindowMs: 30_000,
  uploadWindowBytes: 512 * 1024,
  unreadMs: 30_000,
  silentMs: 60_000,
  keepAliveMs: 30_000,
  pipelined: 8,
} as const;

/**
 * `full`: room for ten browsers (six connections each) behind one address. `read-only`: whoever comes through the
 * tunnel comes from 127.0.0.1, so a limit per address would let one remote viewer shut out the others. `local`: commands
 * of the owner on the gateway itself, which have no address.
 */
export const connectionLimits = {
  full: { total: 512, perPeer: 64, smallPeer: 16, ...times },
  'read-only': { total: 64, perPeer: 64, smallPeer: 64, ...times },
  local: { total: 64, perPeer: 64, smallPeer: 64, ...times },
} as const satisfies Record<string, ConnectionLimits>;

/** Files, the chassis, the read-only socket and everything else that is no connection to the full socket. */
const OTHER_OPEN_FILES = 192;

/**
 * A descriptor is needed for a connection and, while it downloads media, for the file. Beyond the limit of the process
 * the kernel would drop new connections unseen, those with a stop among them.
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
