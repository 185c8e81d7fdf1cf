import { operatorAccess } from '../operator/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type GatewayHealth, gatewayHealthSchema } from './health.result.ts';

export interface GatewayHealthOptions {
  /** Where the operator server is; by default on this machine. */
  readonly host?: string;
}

/** Asks the running gateway how it is. Throws OPERATOR_NOT_REACHABLE. */
export function readGatewayHealth(
  toolkit: Toolkit,
  { host }: GatewayHealthOptions,
  context: CheckContext,
): Promise<GatewayHealth> {
  return operatorAccess(toolkit, context, host).ask('GET', '/api/health', gatewayHealthSchema);
}
