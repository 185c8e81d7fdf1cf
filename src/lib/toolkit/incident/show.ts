import { GwError, systemReason } from '../../error/index.ts';
import { decodeIncident, type Incident, MAX_INCIDENT_BYTES } from '../../incident/index.ts';
import { readWhole } from '../../lifecycle/index.ts';
import { incidentEventTexts } from '../../pages/index.ts';
import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { ShownIncident } from './incident.result.ts';

/**
 * One incident of the running gateway, as a signed-in person. Throws INCIDENT_UNKNOWN, INCIDENT_INVALID, NOT_SIGNED_IN,
 * SIGN_IN_FAILED, OPERATOR_NOT_REACHABLE.
 */
export async function showIncident(
  toolkit: Toolkit,
  { id, ...way }: GatewayWay & { readonly id: number },
  context: CheckContext,
): Promise<ShownIncident> {
  return shown((await fetchIncident(toolkit, id, way, context)).incident, null);
}

/** The same of a file that `exportIncident` wrote. Throws FILE_UNREADABLE, INCIDENT_INVALID. */
export async function showIncidentFile(path: string): Promise<ShownIncident> {
  const bytes = await readWhole(path, MAX_INCIDENT_BYTES).catch((cause: NodeJS.ErrnoException) => {
    throw new GwError('FILE_UNREADABLE', `${path} cannot be read (${systemReason(cause)}).`, { cause });
  });
  return shown(decodeIncident(bytes, path), path);
}

/** The file of an incident, and what it holds. */
export async function fetchIncident(toolkit: Toolkit, id: number, way: GatewayWay, context: CheckContext) {
  await using access = await signedInAccess(toolkit, way, context);
  const text = await access.askText(`/api/vorfaelle/${id}`);
  return { text, incident: decodeIncident(Buffer.from(text), `incident ${id}`) };
}

function shown({ head, body, sha256 }: Incident, path: string | null): ShownIncident {
  const { log, leftOut, poses } = body;
  const maps = (body.maps ?? [])
    .map((map, index) => ({ ...map, poses: poses.filter((pose) => pose.map === index).length }))
    .filter((map) => map.poses > 0);
  return { path, sha256, head, events: [...incidentEventTexts(head, body)], log, leftOut, poses: poses.length, maps };
}
