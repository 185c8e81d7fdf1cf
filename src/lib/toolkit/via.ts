import { GwError } from '../error/index.ts';
import { firstOf, systemClock } from '../lifecycle/index.ts';
import type { Ssh, SshOptions } from '../net/index.ts';

/** After this silence the state of the connection is uncertain; keepalives are sent every 500 ms. */
const UNCERTAIN_AFTER_MS = 1_000;

export interface ViaOptions extends SshOptions {
  readonly signal: AbortSignal;
  /**
   * Called when the connection was lost and the work still has a result, which may report changes of the robot. Without
   * it the loss is thrown, because a result over a lost connection proves nothing.
   */
  readonly onLost?: ((error: GwError) => void) | undefined;
  /**
   * What the loss means for work that may have moved the robot: the error to throw in place of SSH_LOST, whose remedy
   * would be to run the command again.
   */
  readonly ifLost?: ((error: GwError) => GwError) | undefined;
}

/**
 * Runs work with an SSH connection and closes it afterwards. The signal passed to the work is also aborted when the
 * connection is lost. Throws what `openSsh` throws, SSH_LOST, and what the work throws.
 */
export async function throughSsh<T>(
  target: string,
  { onLost, ifLost, ...options }: ViaOptions,
  work: (ssh: Ssh, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { openSsh } = await import('../net/ssh/index.ts');
  const ssh = await openSsh(target, options);
  try {
    const result = await work(ssh, firstOf(options.signal, ssh.lost));
    await settle(ssh, options);
    if (!ssh.lost.aborted || options.signal.aborted) return result;
    if (onLost === undefined) throw ssh.lost.reason;
    onLost(ssh.lost.reason);
    return result;
  } catch (error) {
    await settle(ssh, options);
    if (!ssh.lost.aborted) throw error;
    const { reason } = ssh.lost;
    // After an interruption its own error counts, but never the bare loss.
    if (options.signal.aborted && !isLoss(error)) throw error;
    throw ifLost?.(reason) ?? lossDuring(error, reason);
  } finally {
    await ssh[Symbol.asyncDispose]();
  }
}

/**
 * Waits until an uncertain connection has received data again or is lost, so that a lost connection is not reported as a
 * chassis that does not answer.
 */
async function settle(ssh: Ssh, { clock = systemClock, signal }: ViaOptions): Promise<void> {
  while (ssh.quietMs() > UNCERTAIN_AFTER_MS && !ssh.lost.aborted && !signal.aborted) await clock.sleep(20);
}

function isLoss(error: unknown): boolean {
  return error instanceof GwError && error.code === 'SSH_LOST';
}

/** An interrupted work may report what continues without it, for example that the robot drives on. */
function lossDuring(error: unknown, lost: GwError): GwError {
  if (!(error instanceof GwError) || error.code !== 'INTERRUPTED' || error.message === 'Interrupted.') return lost;
  const { tried } = lost;
  return new GwError('SSH_LOST', `${lost.message} ${error.message}`, { tried, remedy: error.remedy, cause: lost });
}
