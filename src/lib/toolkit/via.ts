import { GwError } from '../error/index.ts';
import { firstOf, systemClock } from '../lifecycle/index.ts';
import type { Ssh, SshOptions } from '../net/index.ts';

/** So long may nothing come over a line that is believed, in milliseconds; it is asked every 500. */
const DOUBT_MS = 1_000;

export interface ViaOptions extends SshOptions {
  readonly signal: AbortSignal;
  /**
   * Told when the line was lost and the work had a result all the same: what was changed on the robot until then must
   * not be lost sight of. Without it the loss is thrown, since a result that came over a lost line proves nothing.
   */
  readonly onLost?: ((error: GwError) => void) | undefined;
}

/**
 * Runs work with a connection by SSH and ends that afterwards. The signal that the work gets is aborted when the line
 * is lost as well. Throws what `openSsh` throws, SSH_LOST, and what the work throws.
 */
export async function throughSsh<T>(
  target: string,
  { onLost, ...options }: ViaOptions,
  work: (ssh: Ssh, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { openSsh } = await import('../net/ssh/index.ts');
  const ssh = await openSsh(target, options);
  try {
    const result = await work(ssh, firstOf(options.signal, ssh.lost));
    await certainty(ssh, options);
    if (!ssh.lost.aborted || options.signal.aborted) return result;
    if (onLost === undefined) throw ssh.lost.reason;
    onLost(ssh.lost.reason);
    return result;
  } catch (error) {
    await certainty(ssh, options);
    throw ssh.lost.aborted && !options.signal.aborted ? lostWhile(error, ssh.lost.reason) : error;
  } finally {
    await ssh[Symbol.asyncDispose]();
  }
}

/**
 * Waits until a line in doubt has spoken again or is lost: a chassis that did not answer over a dead line is no chassis
 * that does not answer.
 */
async function certainty(ssh: Ssh, { clock = systemClock, signal }: ViaOptions): Promise<void> {
  while (ssh.quietMs() > DOUBT_MS && !ssh.lost.aborted && !signal.aborted) await clock.sleep(20);
}

/** Work that was cut in the middle may know what goes on without it: that a robot drives on, for one. */
function lostWhile(error: unknown, lost: GwError): GwError {
  if (!(error instanceof GwError) || error.code !== 'INTERRUPTED' || error.message === 'Interrupted.') return lost;
  const { tried } = lost;
  return new GwError('SSH_LOST', `${lost.message} ${error.message}`, { tried, remedy: error.remedy, cause: lost });
}
