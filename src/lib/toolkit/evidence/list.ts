import { nearest } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import {
  checkAttachment,
  compareWithFact,
  type DeviceEvidence,
  type Disagreement,
  disagreementsAbout,
  type Fact,
  type FactFilter,
  type FactId,
  factById,
  facts,
  findFact,
  isDisagreement,
  type Mark,
  relianceOn,
  scopeOf,
  sectionOf,
  selectFacts,
  tableOf,
} from '../../evidence/index.ts';
import type { CheckContext } from '../toolkit.ts';
import type { EvidenceFact, EvidenceList, PlainFact } from './evidence.result.ts';
import { type EvidenceSite, type EvidenceSiteOptions, entriesOf, hereOf, openEvidenceSite } from './site.ts';

/**
 * The facts of the ledger that a person asked for and, where there is a site file, what was recorded about them.
 * Throws what `openEvidenceSite` throws.
 */
export async function listEvidence(
  filter: FactFilter,
  options: EvidenceSiteOptions,
  context: CheckContext,
): Promise<EvidenceList> {
  const selected = selectFacts(filter);
  const site = await openEvidenceSite(options, context);
  const count = (mark: Mark) => selected.filter((fact) => fact.mark === mark).length;
  return {
    facts: selected.map((fact) => ({ ...plainFact(fact), here: site && hereOf(fact, site) })),
    counts: { BELEGT: count('BELEGT'), HINWEIS: count('HINWEIS'), VORSICHT: count('VORSICHT'), OFFEN: count('OFFEN') },
    inLedger: facts.length,
    site: plainSite(site),
  };
}

/**
 * One fact with its disagreements and, where there is a site file, what was recorded on that site. Throws
 * EVIDENCE_UNKNOWN with the nearest ids, what `openEvidenceSite` throws.
 */
export async function showEvidence(
  id: string,
  options: EvidenceSiteOptions,
  context: CheckContext,
): Promise<EvidenceFact> {
  const fact = namedFact(id);
  const disagreements = isDisagreement(fact) ? [fact] : disagreementsAbout(fact.id);
  const site = await openEvidenceSite(options, context);
  return {
    fact: plainFact(fact),
    disagreements: disagreements.map(plainDisagreement),
    movement: movementOf(fact),
    movementHere: site && site.software !== null ? movementHere(fact, site) : null,
    site: plainSite(site),
    here: site && hereOf(fact, site),
    entries: site ? entriesOf(fact, site) : [],
    records: site === null ? [] : await recordsAbout(fact, site),
  };
}

async function recordsAbout(fact: Fact, site: EvidenceSite): Promise<EvidenceFact['records']> {
  return await Promise.all(
    site.lines
      .filter((record) => record.fact === fact.id)
      .map(async (record) => ({
        ...record,
        scope: scopeOf(record, site),
        unsealed: !site.records.includes(record),
        comparison: compareWithFact(record.value, fact),
        attachmentState: record.attachment ? await checkAttachment(site.evidenceFile, record.attachment) : null,
      })),
  );
}

/** The fact that a person named. Throws EVIDENCE_UNKNOWN with the nearest ids. */
export function namedFact(id: string): Fact {
  return findFact(id) ?? unknownFact(id);
}

/** The gate's verdict for this device; it is stricter than the displayed mark. */
export function movementHere(fact: Fact, device: DeviceEvidence): { usable: boolean; why: string } {
  const { usable, why } = relianceOn(fact.id as FactId, device);
  const newest = device.records.findLast((record) => record.fact === fact.id && scopeOf(record, device) === 'here');
  // The gate treats a partial record as a contradiction: the refusal is right, but its text would not be.
  const isPart =
    newest !== undefined && tableOf(fact.value) !== undefined && compareWithFact(newest.value, fact) === 'undecided';
  if (usable || !isPart) return { usable, why };
  return { usable, why: `The newest record about ${fact.id} covers only part of it; an order needs the whole fact.` };
}

function plainSite(site: EvidenceSite | null): EvidenceList['site'] {
  return site && { path: site.path, serial: site.serial, software: site.software };
}

function unknownFact(id: string): never {
  const ids = facts.map((fact) => fact.id);
  const close = nearest(id, ids);
  const sharing = ids.filter((known) => id.length > 2 && known.includes(id.toLowerCase()));
  const suggestions = [...new Set([...(close === undefined ? [] : [close]), ...sharing])].slice(0, 3);
  throw new GwError('EVIDENCE_UNKNOWN', `Unknown fact '${id.slice(0, 100)}'.`, {
    remedy: suggestions.length > 0 ? `Did you mean ${suggestions.join(' or ')}?` : undefined,
    details: { nearest: suggestions },
  });
}

/** Applies the gate's rule to a device with everything verified, and to one without records. */
function movementOf(fact: Fact): EvidenceFact['movement'] {
  const record = { fact: fact.id, value: true, serial: 's', software: 's', how: '-', who: '-', when: '-' };
  const id = fact.id as FactId;
  if (relianceOn(id, { serial: 's', software: 's', records: [] }).usable) return 'may-carry';
  return relianceOn(id, { serial: 's', software: 's', records: [record] }).usable ? 'only-where-verified' : 'never';
}

export function plainFact(fact: Fact): PlainFact {
  const { id, statement, mark, basis, source } = fact;
  return {
    id,
    section: sectionOf(fact),
    statement,
    mark,
    basis,
    value: fact.value === undefined ? null : structuredClone(fact.value as PlainFact['value']),
    unit: fact.unit ?? null,
    source,
    note: fact.note ?? null,
  };
}

function plainDisagreement({
  id,
  statement,
  between,
  wins,
  consequence,
}: Disagreement): EvidenceFact['disagreements'][number] {
  const sides = between
    .map(factById)
    .map((side) => ({ id: side.id, statement: side.statement, mark: side.mark, basis: side.basis }));
  return { id, statement, sides, wins, consequence };
}
