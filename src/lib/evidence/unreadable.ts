import { GwError } from '../error/index.ts';

/** The error for an evidence file that cannot be read. */
export function unreadable(path: string, why: string, cause?: unknown): GwError {
  return new GwError('EVIDENCE_FILE_INVALID', `The evidence file ${path} cannot be read: ${why}.`, { cause });
}
