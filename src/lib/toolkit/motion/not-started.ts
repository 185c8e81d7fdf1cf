import { type ErrorCode, GwError } from '../../error/index.ts';
import { DialError } from '../../net/index.ts';

/** A run is only started by the answer; these come before it. A pose is sent before the answer, so for it they may come after. */
const BEFORE_A_RUN: ReadonlySet<ErrorCode> = new Set([
  'CHASSIS_NOT_CONNECTED',
  'CHASSIS_BOOTING',
  'CHASSIS_WRONG_DEVICE',
]);

/** Whether it is certain that this error came before any order reached the chassis. Any other error decides nothing. */
export function isBeforeOrder(error: GwError, kind: 'run' | 'pose'): boolean {
  if (error.code === 'GATEWAY_OTHER_ROBOT') return true;
  const status = error.details?.status;
  if (typeof status === 'number' && error.code !== 'OPERATOR_NOT_REACHABLE') {
    return status < 500 || (kind === 'run' && BEFORE_A_RUN.has(error.code));
  }
  // The question for the robot of the gateway precedes the order; a connection that could not be opened carried none.
  return error.tried?.action?.startsWith('GET ') === true || error.cause instanceof DialError;
}

/** The answer first: a person who reads one line must know that nothing was ordered. Code and exit code are those of the cause. */
export function notStarted(cause: GwError, word: 'started' | 'set' = 'started'): GwError {
  return new GwError(cause.code, `Not ${word}, no order was sent: ${cause.message}`, {
    tried: cause.tried,
    remedy: cause.remedy,
    details: { ...cause.details, ordered: false },
    cause,
  });
}
