import { GwError } from '../../error/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { localOperatorAccess, type OperatorAccess, operatorAccess } from './access.ts';

/** How a command reaches the running gateway. */
export interface GatewayWay {
  /** Where the operator server is; by default on this machine. */
  readonly host?: string | undefined;
  /** The device password; without it what needs a signed-in person goes over the socket for local commands. */
  readonly password?: string | undefined;
}

/** The running gateway as a signed-in person; its end signs out. */
export type SignedInAccess = Omit<OperatorAccess, 'signIn'> & AsyncDisposable;

/**
 * Signs in with the password where one is given, and otherwise takes the socket for commands on the gateway itself.
 * Throws NOT_SIGNED_IN naming both ways where there is neither, OPERATOR_NOT_REACHABLE, SIGN_IN_FAILED.
 */
export async function signedInAccess(
  toolkit: Toolkit,
  { host, password }: GatewayWay,
  context: CheckContext,
): Promise<SignedInAccess> {
  if (password !== undefined) return operatorAccess(toolkit, context, host).signIn(password);
  const local = host === undefined ? await localOperatorAccess(toolkit, context) : null;
  if (local === null) throw notSignedIn();
  return { ...local, async [Symbol.asyncDispose]() {} };
}

/** The error that names both ways to sign in. */
export function notSignedIn(cause?: unknown): GwError {
  return new GwError('NOT_SIGNED_IN', 'Not signed in: this needs a signed-in person.', {
    remedy:
      'Name a file with the device password (--password-file FILE), or run it on the gateway itself as the user of `gw serve`.',
    cause,
  });
}
