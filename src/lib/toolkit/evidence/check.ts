import { createChassisClient, isSimulated } from '../../chassis/index.ts';
import { type FactId, factById, loadEvidenceFile, relianceOn } from '../../evidence/index.ts';
import { factsOfOrder } from '../../motion/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { describeRelied } from './relied.ts';

export type OrderKind = keyof typeof factsOfOrder;
export const orderKinds = Object.keys(factsOfOrder) as OrderKind[];

export interface EvidenceCheck {
  readonly serial: string;
  readonly software: string | null;
  /** How many of the facts are verified on this chassis, which a simulator is not; orders may also rely on others. */
  readonly verified: number;
  /** The same with what the others stand on, as `gw chassis probe` says it. */
  readonly summary: string;
  readonly findings: readonly {
    readonly id: string;
    readonly title: string;
    readonly verdict: 'ok' | 'wrong';
    readonly detail: string;
  }[];
}

/**
 * Whether orders may rely on their facts on this chassis: reads the identity of the chassis and the site's evidence
 * file. Throws what the chassis client throws, EVIDENCE_FILE_INVALID.
 */
export async function checkEvidence(
  toolkit: Toolkit,
  { orders }: { readonly orders: readonly OrderKind[] },
  context: CheckContext,
): Promise<EvidenceCheck> {
  const records = await loadEvidenceFile(toolkit.site.evidenceFile);
  await using client = createChassisClient(await chassisAccess(toolkit));
  const identity = await client.identity(context.signal);
  const { serial, software } = identity;
  const device = { serial, software, simulated: isSimulated(identity), records };
  const ids = new Set<FactId>(orders.flatMap((order) => factsOfOrder[order]));
  const reliances = [...ids].map((id) => relianceOn(id, device, toolkit.site.motion));
  const findings = reliances.map(({ fact, usable, why }) => {
    return { id: fact, title: fact, verdict: usable ? ('ok' as const) : ('wrong' as const), detail: why };
  });
  const verified = reliances.filter(({ support }) => support === 'this-device').length;
  const relied = reliances.map(({ fact, support }) => ({ fact, support, basis: factById(fact).basis }));
  return { serial, software, verified, summary: describeRelied(relied, { names: false }), findings };
}
