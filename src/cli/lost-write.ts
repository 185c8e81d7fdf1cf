import { exitCodes, GwError } from '../lib/error/index.ts';
import type { Outcome } from './command.ts';

/** A lost SSH connection during work that throws only before its first write: afterwards everything is a result. */
export function nothingWritten(lost: GwError, during?: unknown): GwError {
  // A fault of gw itself may be thrown at any time.
  if (during instanceof GwError && during.code === 'INTERNAL') return lost;
  if (during !== undefined && !(during instanceof GwError)) return lost;
  return new GwError('SSH_LOST', `${lost.message} Nothing was written: it was lost before the first write.`, {
    tried: lost.tried,
    remedy: 'Check radio and cable, then run the command again.',
    cause: lost,
  });
}

/** Exit code of a run that did not end: a lost connection (3) is no interruption by a person (130). */
export function unended(lost: GwError | undefined): Pick<Outcome<object>, 'exitCode' | 'error'> {
  return lost === undefined ? { exitCode: exitCodes.interrupted } : { exitCode: exitCodes.notReachable, error: lost };
}
