import type { AuthenticationType, AuthHandlerMiddleware } from 'ssh2';
import type { ErrorCode } from '../../../error/index.ts';
import { type HostSettings, nameOf } from '../config/config.ts';
import { findIdentities, type Identities, type IdentityContext } from './identities.ts';
import { createLogin, type Login } from './login.ts';

export interface AuthenticationOptions {
  readonly settings: HostSettings;
  readonly context: IdentityContext;
  /** Whether there is a user who can be asked for a password. */
  readonly hasPerson: boolean;
  /** No further method can be tried. */
  readonly onError: (error: unknown) => void;
}

/** The login at one host: its keys are looked for when the server first asks for a method. */
export function createAuthentication({ settings, context, hasPerson, onError }: AuthenticationOptions) {
  const where = nameOf(settings);
  let identities: Identities | undefined;
  let login: Login | undefined;

  async function nextMethod(left: readonly AuthenticationType[] | null) {
    identities ??= await findIdentities(settings, context);
    const { user } = settings;
    login ??= createLogin({ user, where, identities, askSecret: hasPerson ? context.askSecret : null });
    return await login.next(left);
  }

  const handler: AuthHandlerMiddleware = (left, _partial, next) => {
    // `false` means that no method is left; the library's types omit it.
    const answer = next as (method: unknown) => void;
    nextMethod(left).then(answer, (error: unknown) => {
      onError(error);
      answer(false);
    });
  };

  return {
    handler,

    /** Whether the server has asked for a method, and the keys are known. */
    hasBegun: () => login !== undefined,

    /** Why no method has led to a login. `what`: what has happened, without the full stop. */
    refusal(what: string): { readonly code: ErrorCode; readonly message: string } {
      const problems = identities?.problems ?? [];
      const attempts = login === undefined ? '' : ` (${login.attempts()})`;
      return problems.length > 0
        ? { code: 'SSH_KEY_UNUSABLE', message: `${what}${attempts}. ${problems.join(' ')}` }
        : { code: 'SSH_AUTH_REFUSED', message: `${what}${attempts}.` };
    },
  };
}
