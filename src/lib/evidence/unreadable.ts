import { GwError } from '../error/index.ts';

/** Says that an evidence file cannot be read as a whole. */
export function unreadable(path: string, why: string, cause?: unknown): GwError {
  return new GwError('EVIDENCE_FILE_INVALID', `The evidence file ${path} cannot be read: ${why}.`, { cause });
}
