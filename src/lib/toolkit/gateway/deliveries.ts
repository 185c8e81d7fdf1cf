import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type Deliveries, deliveriesSchema } from './deliveries.result.ts';

/**
 * What the robot drove since then (`7d`, `24h`, a day), by the clock of the gateway, as a signed-in person. Throws
 * NOT_SIGNED_IN, SIGN_IN_FAILED, OPERATOR_NOT_REACHABLE, FILE_UNREADABLE.
 */
export async function listDeliveries(
  toolkit: Toolkit,
  { since, ...way }: GatewayWay & { readonly since: string },
  context: CheckContext,
): Promise<Deliveries> {
  await using access = await signedInAccess(toolkit, way, context);
  return await access.ask('GET', `/api/lieferungen?seit=${encodeURIComponent(since)}`, deliveriesSchema);
}
