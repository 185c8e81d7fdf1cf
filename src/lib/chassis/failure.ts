import { formatTried, GwError, type Tried } from '../error/index.ts';
import { DialError, dialFailureText } from '../net/index.ts';
import type { ConnectionFailure } from './model.ts';

export { isBeforeConnection } from '../net/index.ts';

/** A response beyond the limit of its request, whatever it contains. */
export function tooLarge(what: string, tried: Tried): GwError {
  const { code, message } = badAnswer(what, tried);
  return new GwError(code, message, { tried, details: { problem: what, isTooLarge: true } });
}

export function isTooLarge(error: unknown): boolean {
  return error instanceof GwError && error.details?.isTooLarge === true;
}

/** A response that a chassis would not send. `what` is a clause: `answered with HTML instead of JSON`. */
export function badAnswer(what: string, tried: Tried, cause?: unknown, remedy?: string): GwError {
  return new GwError('CHASSIS_BAD_ANSWER', `Not a chassis response from ${formatTried(tried)}: ${what}.`, {
    tried,
    details: { problem: what },
    cause,
    remedy,
  });
}

/** For an error of an HTTP parser, with the reason that it gives. */
export function malformedHttp(error: Error & { readonly reason?: unknown }, tried: Tried): GwError {
  const { reason = /\((.+)\)$/.exec(error.message)?.[1], message } = error;
  return badAnswer(`malformed HTTP response: ${reason ?? message}`, tried, error);
}

/** For an interim response that no request asked for. */
export function unaskedInterim(status: string, tried: Tried, cause?: unknown): GwError {
  const what = `interim response ${status}, which gw did not ask for`;
  return badAnswer(what, tried, cause, 'Look for a proxy in front of the chassis: a chassis answers without one.');
}

export function wrongDevice(expectedSerial: string, foundSerial: string, tried: Tried): GwError {
  return new GwError(
    'CHASSIS_WRONG_DEVICE',
    `Another chassis answers: serial number ${JSON.stringify(foundSerial)}, expected ${JSON.stringify(expectedSerial)}.`,
    { tried, details: { expectedSerial, foundSerial } },
  );
}

/** The kind of connection failure of a client error. */
export function connectionFailureOf(error: unknown): ConnectionFailure {
  if (error instanceof DialError) return error.failure;
  if (!(error instanceof GwError)) return 'other';
  if (error.code === 'CHASSIS_WRONG_DEVICE') return 'wrong-device';
  if (error.code === 'CHASSIS_BAD_ANSWER' || error.code === 'CHASSIS_REFUSED') return 'bad-answer';
  return 'other';
}

/** One sentence without the address, which the state holds separately. */
export function failureDetail(error: unknown): string {
  if (error instanceof DialError) return dialFailureText[error.failure];
  if (error instanceof GwError) {
    const problem = error.details?.problem;
    return typeof problem === 'string' ? problem : error.message;
  }
  return error instanceof Error ? error.message : String(error);
}

/** An abort by the caller as a GwError; a GwError given as reason is returned unchanged. */
export function interrupted(reason: unknown, tried: Tried): GwError {
  if (reason instanceof GwError) return reason;
  return new GwError('INTERRUPTED', 'Interrupted.', { tried, cause: reason });
}
