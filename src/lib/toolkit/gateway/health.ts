import { gatewayAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type GatewayHealth, gatewayHealthSchema } from './health.result.ts';

export interface GatewayHealthOptions {
  /** Host of the operator server; by default this machine. */
  readonly host?: string | undefined;
}

/** Reads the health of the running gateway. Throws OPERATOR_NOT_REACHABLE. */
export async function readGatewayHealth(
  toolkit: Toolkit,
  { host }: GatewayHealthOptions,
  context: CheckContext,
): Promise<GatewayHealth> {
  return (await gatewayAccess(toolkit, context, host)).ask('GET', '/api/health', gatewayHealthSchema);
}
