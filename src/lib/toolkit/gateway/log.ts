import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type GatewayLog, gatewayLogSchema } from './gateway.result.ts';

/**
 * The last log events of the running gateway, as a signed-in person. Throws NOT_SIGNED_IN, SIGN_IN_FAILED,
 * OPERATOR_NOT_REACHABLE.
 */
export async function readGatewayLog(toolkit: Toolkit, way: GatewayWay, context: CheckContext): Promise<GatewayLog> {
  await using access = await signedInAccess(toolkit, way, context);
  return await access.ask('GET', '/api/protokolle', gatewayLogSchema);
}
