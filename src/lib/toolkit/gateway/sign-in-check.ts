import { randomBytes } from 'node:crypto';
import { GwError } from '../../error/index.ts';
import type { Finding } from '../finding.result.ts';
import { type FindingStart, notChecked, ok, wrong } from '../finding.ts';
import { type OperatorAccess, operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { SignInCheck } from './gateway.result.ts';

/** Needs a session, reads only. */
const BEHIND_SIGN_IN = '/api/einstellungen';
const SIGN_IN_PATH = '/api/anmeldung';

/**
 * Signs in to the running gateway with the device password and out again, and tries one wrong password. Changes
 * nothing; leaves no session. Throws OPERATOR_NOT_REACHABLE.
 * @source specification, 'Authentication'; the statuses are the platform's where it shows them, else project decisions
 */
export async function checkSignIn(
  toolkit: Toolkit,
  { password }: { readonly password: string },
  context: CheckContext,
): Promise<SignInCheck> {
  const operator = operatorAccess(toolkit, context);
  return {
    findings: [
      await closedFinding(operator),
      await wrongPasswordFinding(operator),
      ...(await sessionFindings(operator, password)),
    ],
  };
}

async function closedFinding(operator: OperatorAccess): Promise<Finding> {
  const start = { id: 'closed', title: 'Routes that need a session refuse without one', spec: 'Errors' };
  const { status } = await operator.answerTo('GET', BEHIND_SIGN_IN);
  if (status === 401) return ok(start, `GET ${BEHIND_SIGN_IN} answers 401`);
  return wrong(start, `GET ${BEHIND_SIGN_IN} answers ${status}, expected 401`, 'Do not hand the gateway over.');
}

async function wrongPasswordFinding(operator: OperatorAccess): Promise<Finding> {
  const start = { id: 'wrong-password', title: 'A wrong password is rejected', spec: 'Authentication' };
  // Long and random, so it cannot be the device password.
  const { status, code } = await operator.answerTo('POST', SIGN_IN_PATH, {
    password: randomBytes(24).toString('base64url'),
  });
  if (status === 401 && code === 'SIGN_IN_FAILED') return ok(start, 'a random password was rejected with 401');
  if (status === 429) return notChecked(start, 'too many failed attempts before', 'Wait a minute, then try again.');
  if (code === 'NOT_CONFIGURED') return noPassword(start);
  return wrong(start, `a random password was answered with ${status}, expected 401`, 'Do not hand the gateway over.');
}

async function sessionFindings(operator: OperatorAccess, password: string): Promise<Finding[]> {
  const signIn = { id: 'sign-in', title: 'The device password signs in', spec: 'Authentication' };
  const signOut = { id: 'sign-out', title: 'Signing out ends the session', spec: 'Authentication' };
  try {
    await using session = await operator.signIn(password);
    const inside = await session.answerTo('GET', BEHIND_SIGN_IN);
    if (inside.status !== 200) {
      const detail = `signed in, and GET ${BEHIND_SIGN_IN} still answers ${inside.status}`;
      return [wrong(signIn, detail, 'See the log of `gw serve`.'), notChecked(signOut, 'there was no session')];
    }
    const found = ok(signIn, `signed in; GET ${BEHIND_SIGN_IN} answers 200`);
    const ended = await session.signOut();
    // The cookie is sent again: a session that ends only in the browser has not ended.
    const after = await session.answerTo('GET', BEHIND_SIGN_IN);
    if (ended.status === 200 && after.status === 401) return [found, ok(signOut, 'the same session answers 401 now')];
    const detail = `sign-out answers ${ended.status}, and the same session ${after.status} after it`;
    return [found, wrong(signOut, detail, 'Do not hand the gateway over; a lost tablet would stay signed in.')];
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    const none = notChecked(signOut, 'there was no session');
    switch (error.details?.status) {
      case 401:
        return [
          wrong(signIn, 'the given device password is rejected', 'Pass the right one with --password-file.'),
          none,
        ];
      case 409:
        return [noPassword(signIn), none];
      case 429:
        return [notChecked(signIn, 'too many failed attempts before', 'Wait a minute, then try again.'), none];
      default:
        throw error;
    }
  }
}

function noPassword(start: FindingStart): Finding {
  return wrong(
    start,
    'no device password is set on this gateway',
    'Set one with `gw operator password`, and name its file in operator.passwordFile.',
  );
}
