import type { SessionEntry } from '../../tunnel/index.ts';
import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { isNotConfigured, readSupport } from './status.ts';
import { sessionListSchema, type TunnelSessions } from './tunnel.result.ts';

export interface TunnelSessionsOptions extends GatewayWay {
  /** Number of sessions and refusals, the newest. */
  readonly limit: number;
}

/**
 * The sessions and refusals in the records of the gateway, newest first, as a signed-in person: with the device password,
 * or by the socket for commands on the gateway itself. Throws NOT_SIGNED_IN, SIGN_IN_FAILED, OPERATOR_NOT_REACHABLE,
 * FILE_UNREADABLE where the records cannot be read.
 */
export async function readTunnelSessions(
  toolkit: Toolkit,
  { limit, ...way }: TunnelSessionsOptions,
  context: CheckContext,
): Promise<TunnelSessions> {
  await using access = await signedInAccess(toolkit, way, context);
  const list = () => access.ask('GET', `/api/wartung/sitzungen?limit=${limit}`, sessionListSchema);
  let found = await list().catch((error: unknown) => {
    if (isNotConfigured(error)) return null;
    throw error;
  });
  if (found === null) return { sessions: null, hasMore: false, running: null };
  const running = (await readSupport(toolkit, way, context)).running?.session ?? null;
  // A session may have ended between the two requests.
  if (found.sessions.some((entry) => isOpen(entry) && entry.session !== running)) found = await list();
  return { ...found, running };
}

function isOpen(entry: SessionEntry): entry is Extract<SessionEntry, { readonly kind: 'session' }> {
  return entry.kind === 'session' && entry.end === null;
}
