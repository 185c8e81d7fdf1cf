import type { GwError } from '../lib/error/index.ts';
import type { Ssh } from '../lib/net/index.ts';
import { sshOptionsHere } from './ssh-options.ts';

export interface ViaContext {
  readonly signal: AbortSignal;
  /** See `ViaOptions.onLost`. */
  readonly onLost?: ((error: GwError) => void) | undefined;
  /** See `ViaOptions.ifLost`. */
  readonly ifLost?: ((error: GwError) => GwError) | undefined;
}

/** Runs work through the SSH host of `--via`, with the agent, files and terminal of this machine. */
export async function throughVia<T>(
  target: string,
  { signal, onLost, ifLost }: ViaContext,
  work: (ssh: Ssh, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { throughSsh } = await import('../lib/toolkit/via.ts');
  return await throughSsh(target, { ...sshOptionsHere(signal), signal, onLost, ifLost }, work);
}
