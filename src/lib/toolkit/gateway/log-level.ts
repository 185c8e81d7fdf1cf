import { type LogLevel, logLevelSchema } from '../../operator/index.ts';
import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { GatewayLogLevel } from './gateway.result.ts';

/**
 * The level of the log that the running gateway writes, changed for `forS` seconds where `level` is given. Throws
 * NOT_SIGNED_IN, SIGN_IN_FAILED, OPERATOR_NOT_REACHABLE.
 */
export async function gatewayLogLevel(
  toolkit: Toolkit,
  { level, forS, ...way }: GatewayWay & { readonly level: LogLevel | undefined; readonly forS: number | undefined },
  context: CheckContext,
): Promise<GatewayLogLevel> {
  await using access = await signedInAccess(toolkit, way, context);
  const path = '/api/protokolle/stufe';
  if (level === undefined) return await access.ask('GET', path, logLevelSchema);
  return await access.ask('POST', path, logLevelSchema, { level, ...(forS !== undefined && { forS }) });
}
