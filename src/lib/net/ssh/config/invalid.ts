import { GwError } from '../../../error/index.ts';
import { shorten } from '../../../text/index.ts';

/** A problem quotes the file, whose lines may have any length. */
const MAX_PROBLEM_CHARACTERS = 300;

export function invalid(at: string, what: string, remedy?: string): GwError {
  return new GwError('SSH_CONFIG_INVALID', `${at}: ${shorten(what, MAX_PROBLEM_CHARACTERS)}.`, { remedy });
}
