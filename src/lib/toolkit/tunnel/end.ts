import { z } from 'zod';
import { gatewayAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { isNotConfigured, readSupport, SUPPORT_PATH, type TunnelOptions } from './status.ts';
import type { TunnelEnd } from './tunnel.result.ts';

export const endedSchema = z.strictObject({ ended: z.boolean() });

/**
 * Ends the running session of remote support, and reads the state afterwards. By the socket for local
 * commands where there is one, so that the log names a command on the gateway. Throws OPERATOR_NOT_REACHABLE.
 */
export async function endTunnel(toolkit: Toolkit, { host }: TunnelOptions, context: CheckContext): Promise<TunnelEnd> {
  const before = await readSupport(toolkit, { host }, context);
  const access = await gatewayAccess(toolkit, context, host);
  const ended = await access.ask('DELETE', SUPPORT_PATH, endedSchema).then(
    (answer) => answer.ended,
    (error: unknown) => {
      if (isNotConfigured(error)) return false;
      throw error;
    },
  );
  const { status, running } = await readSupport(toolkit, { host }, context);
  return { ended, status, session: before.running, running };
}

/** Whether the session that ran before does not run any more. */
export function isEnded({ session, running }: TunnelEnd): boolean {
  return session === null || session.session !== running?.session;
}
