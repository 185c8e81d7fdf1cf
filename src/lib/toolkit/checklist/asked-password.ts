import { GwError } from '../../error/index.ts';
import type { Ssh } from '../../net/index.ts';
import type { ChecklistRunOptions } from './run-options.ts';

/** So few that the gateway does not yet refuse further attempts. */
const TRIES = 3;

/**
 * The typed device password; null: none, or each was rejected. A running gateway judges it before the first step, since
 * a mistyped one would be noticed only where it is used. One that no gateway can judge is kept: its step says why.
 */
export async function askedPassword(
  { askPassword, sitePaths, signal, onWarning = () => {} }: ChecklistRunOptions,
  ssh: Ssh | undefined,
): Promise<string | null> {
  for (let turn = 1; askPassword && turn <= TRIES; turn += 1) {
    const password = await askPassword(signal);
    if (password === null) return null;
    const rejected = await Promise.all(sitePaths.map((path) => isRejected(path, { ssh, password, signal })));
    if (!rejected.includes(true)) return password;
    const then =
      turn === TRIES ? 'The steps that sign in are questions.' : 'Type it again, or press Enter to answer questions.';
    onWarning(`The gateway rejects this device password. ${then}`);
  }
  return null;
}

interface Attempt {
  readonly ssh: Ssh | undefined;
  readonly password: string;
  readonly signal: AbortSignal;
}

async function isRejected(sitePath: string, { ssh, password, signal }: Attempt): Promise<boolean> {
  const [{ openToolkit }, { operatorAccess }] = await Promise.all([
    import('../toolkit.ts'),
    import('../operator/access.ts'),
  ]);
  try {
    const toolkit = await openToolkit(sitePath, ssh);
    await using _session = await operatorAccess(toolkit, { signal, onProgress: () => {} }).signIn(password);
    return false;
  } catch (error) {
    return error instanceof GwError && error.details?.status === 401;
  }
}
