import { causeTexts, incidentListSchema } from '../../pages/index.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import type { GatewayWay } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { Incidents } from './incident.result.ts';

/** The incidents that the running gateway keeps. Throws OPERATOR_NOT_REACHABLE. */
export async function listIncidents(
  toolkit: Toolkit,
  { host }: Pick<GatewayWay, 'host'>,
  context: CheckContext,
): Promise<Incidents> {
  const list = await (await gatewayAccess(toolkit, context, host)).ask('GET', '/api/vorfaelle', incidentListSchema);
  return { ...list, incidents: list.incidents.map((head) => ({ ...head, summary: causeTexts(head).join('; ') })) };
}
