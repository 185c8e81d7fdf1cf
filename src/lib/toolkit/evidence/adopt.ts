import type { EvidenceAdoption } from '../../evidence/index.ts';
import { type GatewayWay, signedInAccess } from '../operator/signed-in-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { evidenceAdoptionSchema } from './evidence.result.ts';

/**
 * Adopts the whole evidence file of the running gateway at once, as after a restart. Throws
 * NOT_SIGNED_IN, OPERATOR_NOT_REACHABLE, EVIDENCE_FILE_INVALID.
 */
export async function adoptEvidence(
  toolkit: Toolkit,
  way: GatewayWay,
  context: CheckContext,
): Promise<EvidenceAdoption> {
  await using gateway = await signedInAccess(toolkit, way, context);
  return await gateway.ask('POST', '/api/evidenz/uebernahme', evidenceAdoptionSchema, {});
}
