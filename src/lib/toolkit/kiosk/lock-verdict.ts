import { type CheckVerdict, conclude } from '../verdict.ts';
import type { LockOutcome } from './kiosk.result.ts';

/** Whether the tablet itself was seen closed; a refusal by a device that is not identified decides nothing. */
export function portVerdict({ port, verdict, answeredBy }: LockOutcome): CheckVerdict {
  if (port === 'open') return 'wrong';
  return port === 'closed' && verdict !== 'not-verified' && answeredBy === 'same' ? 'ok' : 'not-checked';
}

/** Whether it stays closed after a restart, watched now; what an earlier run watched is not checked. */
export function restartVerdict({ afterRestart, afterRestartBasis }: LockOutcome): CheckVerdict {
  if (afterRestart === 'open') return 'wrong';
  return afterRestart === 'closed' && afterRestartBasis === 'read-now' ? 'ok' : 'not-checked';
}

/** The verdict of a lock by the one rule. The restart is needed where it was requested, or where it is known to open. */
export function concludeLock(lock: LockOutcome, { afterRestart }: { readonly afterRestart: boolean }): CheckVerdict {
  const restart = restartVerdict(lock);
  const need = afterRestart || restart === 'wrong' ? 'needed' : 'optional';
  return conclude([{ verdict: portVerdict(lock) }, { verdict: restart, need }]);
}
