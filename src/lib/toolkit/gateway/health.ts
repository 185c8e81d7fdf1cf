import { gatewayHealthSchema } from '../../operator/index.ts';
import type { Site } from '../../site/index.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type CheckVerdict, conclude } from '../verdict.ts';
import type { GatewayHealth, JudgedHealth } from './gateway.result.ts';

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

/** The same with its verdict. Throws OPERATOR_NOT_REACHABLE. */
export async function readJudgedHealth(
  toolkit: Toolkit,
  options: GatewayHealthOptions,
  context: CheckContext,
): Promise<JudgedHealth> {
  const health = await readGatewayHealth(toolkit, options, context);
  return { verdict: judgeHealth(health, toolkit.site), ...health };
}

/**
 * What the gateway says of itself; parts that it has not checked stay open where the site file configures them. Of the
 * records of remote support nothing is known before the first session, which is no fault.
 */
export function judgeHealth(
  health: GatewayHealth,
  site: Pick<Site, 'cloud' | 'fleet' | 'enrolment' | 'time'>,
): CheckVerdict {
  const { status, disk, cloud, support, fleet, certificate, clock } = health;
  const isOpen = [
    disk.state.status,
    disk.media.status,
    site.cloud && cloud.status,
    site.cloud?.tunnel && support.status,
    site.enrolment && (certificate?.status ?? 'not-checked'),
    site.enrolment?.renewal && (certificate?.renewal?.status ?? 'not-checked'),
    site.fleet && (fleet?.status ?? 'not-checked'),
    site.time && !['ok', 'wrong'].includes(clock?.status ?? '') && 'not-checked',
  ].includes('not-checked');
  return conclude([{ verdict: status === 'ok' ? 'ok' : 'wrong' }, { verdict: isOpen ? 'not-checked' : 'ok' }]);
}
