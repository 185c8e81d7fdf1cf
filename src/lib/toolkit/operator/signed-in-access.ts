import { GwError } from '../../error/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { operatorAccess } from './access.ts';
import { type GatewayAccess, localOperatorAccess, localSocketRefusal } from './local-access.ts';

/** Address and password of the running gateway. */
export interface GatewayWay {
  /** Host of the operator server; by default this machine. */
  readonly host?: string | undefined;
  /** The device password; without it the socket for local commands is used. */
  readonly password?: string | undefined;
}

/** A signed-in client of the running gateway; its disposal signs out. */
export type SignedInAccess = GatewayAccess & AsyncDisposable;

/**
 * Signs in with the password if given, otherwise uses the socket for local commands. Throws NOT_SIGNED_IN where there is
 * neither, OPERATOR_NOT_REACHABLE, SIGN_IN_FAILED.
 */
export async function signedInAccess(
  toolkit: Toolkit,
  { host, password }: GatewayWay,
  context: CheckContext,
): Promise<SignedInAccess> {
  if (password !== undefined) return operatorAccess(toolkit, context, host).signIn(password);
  const local = host === undefined ? await localOperatorAccess(toolkit, context) : null;
  if (local === null) throw notSignedIn(toolkit);
  return { ...local, async [Symbol.asyncDispose]() {} };
}

/** The error that names both ways to sign in. */
export function notSignedIn(toolkit: Pick<Toolkit, 'ssh'>, cause?: unknown): GwError {
  const refusal = localSocketRefusal(toolkit);
  const socket = refusal === undefined ? 'no local socket' : `the local socket was not looked for: ${refusal.message}`;
  return new GwError('NOT_SIGNED_IN', `Sign-in required: no password, and ${socket.replace(/\.$/, '')}.`, {
    remedy:
      'Pass the device password with --password-file FILE, or run the command on the gateway as the user of `gw serve`, or log in as that user or root with --via (docs/via.md).',
    cause: cause ?? refusal,
  });
}
