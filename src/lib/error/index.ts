/**
 * The error type of gw. An error has a code of the error table, what was tried and a remedy; the table gives the exit
 * code. External data that is only discarded is a returned verdict, not an error.
 */
import { type ErrorCode, type ExitCode, errorTable } from './table.ts';

export { systemReason } from './system-reason.ts';
export { type ErrorCode, type ErrorRow, type ExitCode, errorTable, exitCodes } from './table.ts';

/** The attempted connection, so that 'not connected' always names the address. */
export interface Tried {
  /** The address as dialled, without credentials: `192.0.2.7`, `robot.local`, `unix:/run/x`. */
  readonly address: string;
  readonly port?: number;
  /** SSH host in between: `technician@192.0.2.2:22`. Absent: direct. */
  readonly via?: string;
  /** Round trips to that host, where its link is slow; milliseconds. */
  readonly slowLink?: { readonly medianMs: number; readonly longestMs: number };
  /** What was attempted: `GET /device/info`, `open WebSocket`. */
  readonly action?: string;
  /** How long it was tried, in milliseconds. */
  readonly forMs?: number;
}

export interface GwErrorOptions {
  readonly tried?: Tried | undefined;
  readonly remedy?: string | undefined;
  /** Plain data for programs: `fail_reason` of the chassis, the lines of a site file. Never a secret. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

export interface ErrorJson {
  readonly code: ErrorCode;
  readonly message: string;
  readonly tried?: Tried;
  readonly remedy: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export class GwError extends Error {
  override readonly name = 'GwError';
  readonly code: ErrorCode;
  readonly tried: Tried | undefined;
  readonly remedy: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: GwErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.tried = options.tried;
    this.remedy = options.remedy ?? remedyOf(code, options.cause);
    this.details = options.details;
  }

  get exitCode(): ExitCode {
    return errorTable[this.code].exit;
  }

  /** The fields that may leave the process; cause and stack never do. */
  toJSON(): ErrorJson {
    return {
      code: this.code,
      message: this.message,
      ...(this.tried && { tried: this.tried }),
      remedy: this.remedy,
      ...(this.details && { details: this.details }),
    };
  }
}

const MISSING = 'There is no such file: name one that exists.';

/** Errors of files whose remedy speaks of lines, which a file that could not be read has not. */
const ABOUT_LINES: ReadonlySet<ErrorCode> = new Set([
  'SITE_FILE_INVALID',
  'EVIDENCE_FILE_INVALID',
  'CHECKLIST_INVALID',
  'ANSWERS_INVALID',
  'KIOSK_PROFILE_INVALID',
  'SSH_CONFIG_INVALID',
]);

/** The remedy of the table, or that of a file that is not there or cannot be read. */
function remedyOf(code: ErrorCode, cause: unknown): string {
  const { code: system, syscall } = (cause ?? {}) as { readonly code?: unknown; readonly syscall?: unknown };
  if (code !== 'FILE_UNREADABLE' && !(ABOUT_LINES.has(code) && syscall !== undefined)) return errorTable[code].remedy;
  return system === 'ENOENT' || system === 'ENOTDIR' ? MISSING : errorTable.FILE_UNREADABLE.remedy;
}

/** System errors of a disk that cannot be written to: not internal errors, since a person can fix them. */
const DISK_REFUSALS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

/**
 * Converts anything thrown to a GwError; unknown errors become INTERNAL. Of an error that was thrown during the disposal
 * after another error, the first one counts, because it names the cause.
 */
export function asGwError(error: unknown): GwError {
  const cause = firstThrown(error);
  if (!Object.is(cause, error)) return asGwError(cause);
  if (error instanceof GwError) return error;
  if (error instanceof Error && error.name === 'AbortError') {
    return new GwError('INTERRUPTED', 'Interrupted.', { cause: error });
  }
  if (error instanceof Error && 'syscall' in error && 'code' in error && DISK_REFUSALS.has(error.code)) {
    return new GwError('FILE_UNWRITABLE', `Disk error: ${textOf(error)}.`, { cause: error });
  }
  return new GwError('INTERNAL', textOf(error), { cause: error });
}

/** Bounded, because a thrown object may contain itself. */
const MAX_SUPPRESSED = 100;

/**
 * `await using` throws the error of its disposal and keeps the earlier error in `suppressed`. Recognised by name, since
 * older runtimes have no such class and the compiler provides one.
 */
function firstThrown(thrown: unknown): unknown {
  let first = thrown;
  for (let depth = 0; depth < MAX_SUPPRESSED; depth += 1) {
    if (!(first instanceof Error) || first.name !== 'SuppressedError' || !('suppressed' in first)) break;
    first = first.suppressed;
  }
  return first;
}

/** The text of anything thrown, including objects that cannot be converted. */
function textOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.message) : String(thrown);
  } catch {
    return `unprintable error (${typeof thrown})`;
  }
}

/** One line for a log or a page: `127.0.0.1:8090 (GET /device/info, 2000 ms)`. */
export function formatTried(tried: Tried): string {
  const host = tried.address.includes(':') && !tried.address.startsWith('unix:') ? `[${tried.address}]` : tried.address;
  const place = tried.port === undefined ? tried.address : `${host}:${tried.port}`;
  const where = tried.via === undefined ? place : `${place} via ${tried.via}${slowLinkText(tried)}`;
  const how = [tried.action, tried.forMs === undefined ? undefined : `${Math.round(tried.forMs)} ms`].filter(Boolean);
  return how.length > 0 ? `${where} (${how.join(', ')})` : where;
}

function slowLinkText({ slowLink }: Tried): string {
  return slowLink === undefined ? '' : `, a slow link (${roundTripText(slowLink)})`;
}

/** `round trip 306 ms, longest 951 ms` */
export function roundTripText({
  medianMs,
  longestMs,
}: {
  readonly medianMs: number;
  readonly longestMs: number;
}): string {
  return `round trip ${Math.round(medianMs)} ms, longest ${Math.round(longestMs)} ms`;
}
