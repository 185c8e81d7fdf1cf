import { type ChassisIdentity, isSimulated } from '../../../chassis/index.ts';
import { asGwError } from '../../../error/index.ts';
import { type FactId, factById, loadEvidenceFile, relianceOn } from '../../../evidence/index.ts';
import { factsOfOrder } from '../../../motion/index.ts';
import type { Site } from '../../../site/index.ts';
import { describeRelied } from '../../evidence/relied.ts';
import type { Finding } from '../../finding.result.ts';
import { notChecked, ok, wrong } from '../../finding.ts';
import type { ReliedHere } from './relied-facts.result.ts';

const start = {
  id: 'relied-facts',
  title: 'Facts that orders rely on are verified on this chassis',
  spec: 'Evidence marks; Versioning, 2',
};

/**
 * Every fact that an order relies on, with its evidence on this chassis. The specification names no device for
 * its measurements, so each of them is from another device or version unless a record of this site says otherwise.
 * `relied` is null when the evidence file cannot be read. Never throws.
 */
export async function checkReliedFacts(
  site: Pick<Site, 'evidenceFile'> & { readonly motion: Pick<Site['motion'], 'requireVerified'> },
  identity: ChassisIdentity,
): Promise<{ readonly relied: ReliedHere[] | null; readonly finding: Finding }> {
  const { serial, software } = identity;
  let relied: ReliedHere[];
  try {
    const records = await loadEvidenceFile(site.evidenceFile);
    const device = { serial, software, simulated: isSimulated(identity), records };
    const ids = new Set<FactId>(Object.values(factsOfOrder).flat());
    relied = [...ids].map((id) => {
      const { mark, basis } = factById(id);
      const { support, usable, contradictedHere, why } = relianceOn(id, device, site.motion);
      const orders = Object.entries(factsOfOrder).flatMap(([order, facts]) =>
        (facts as readonly string[]).includes(id) ? [order] : [],
      );
      return { fact: id, mark, basis, orders, support, usable, contradictedHere, detail: why };
    });
  } catch (error) {
    const [detail = ''] = asGwError(error).message.split('\n');
    const remedy = 'Repair the evidence file: `gw site check` names every invalid line.';
    return { relied: null, finding: wrong(start, detail, remedy) };
  }
  return { relied, finding: findingOf(relied) };
}

function findingOf(relied: readonly ReliedHere[]): Finding {
  const contradicted = relied.filter(({ contradictedHere }) => contradictedHere);
  if (contradicted.length > 0) {
    const detail = `contradicted on this chassis: ${names(contradicted)}; no order may rely on it`;
    return wrong(start, detail, 'Do not drive it with gw; `gw evidence show FACT` shows the records.');
  }
  if (relied.every(({ support }) => support === 'this-device')) {
    return ok(start, `all ${relied.length} facts, with this software`);
  }
  return notChecked(
    start,
    describeRelied(relied, { names: true }),
    'Verify each on this chassis: `gw evidence verify stop` first, or record a check of your own with `gw evidence record`.',
  );
}

function names(facts: readonly ReliedHere[]): string {
  return facts.map(({ fact }) => fact).join(', ');
}
