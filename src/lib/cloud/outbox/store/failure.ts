import type { FailureKind } from './model.ts';

/** Found by gw itself, where SQLite sees nothing wrong. */
export class DamagedContentError extends Error {
  override readonly name = 'DamagedContentError';
}

/** A message of the file was made for another robot. */
export class OtherRobotError extends Error {
  override readonly name = 'OtherRobotError';
}

/** The file has a later format than this version of gw knows. */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError';
}

/** Primary result codes of SQLite. @source sqlite.org/rescode.html */
const DISK_CODES: ReadonlySet<number> = new Set([3, 5, 6, 8, 10, 13, 14, 23]);
/** With 19 and 20: keys and types that gw itself never violates. */
const CORRUPT_CODES: ReadonlySet<number> = new Set([11, 19, 20, 26]);
const SQLITE_ERROR = 1;
/** Result codes of system calls that a person can fix. */
const SYSTEM_ERROR = /^E[A-Z0-9]+$/;

/** Sorts what a statement or a call of the operating system throws, by its code. */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof DamagedContentError) return 'corrupt';
  if (error instanceof NewerFormatError) return 'foreign';
  if (error instanceof OtherRobotError) return 'other-robot';
  if (!(error instanceof Error) || !('code' in error)) return 'internal';
  if (error.code === 'ERR_SQLITE_ERROR' && 'errcode' in error && typeof error.errcode === 'number') {
    const primary = error.errcode & 0xff;
    if (DISK_CODES.has(primary)) return 'disk';
    if (CORRUPT_CODES.has(primary)) return 'corrupt';
    // A damaged schema page yields missing tables and columns; the statements of gw have no other syntax errors.
    if (primary === SQLITE_ERROR) return 'corrupt';
    return 'internal';
  }
  // An integer that JavaScript cannot hold; gw stores none.
  if (error.code === 'ERR_OUT_OF_RANGE') return 'corrupt';
  return typeof error.code === 'string' && SYSTEM_ERROR.test(error.code) && 'syscall' in error ? 'disk' : 'internal';
}

export function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
