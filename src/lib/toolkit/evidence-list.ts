import { nearest } from '../document/index.ts';
import { GwError } from '../error/index.ts';
import {
  confirms,
  type Disagreement,
  disagreementsAbout,
  type Fact,
  type FactFilter,
  factById,
  facts,
  findFact,
  isDisagreement,
  loadEvidenceFile,
  type Mark,
  sectionOf,
  selectFacts,
  standing,
} from '../evidence/index.ts';
import { loadSite } from '../site/index.ts';
import type { EvidenceFact, EvidenceList } from './evidence-list.result.ts';

/** The facts of the ledger that a person asked for. */
export function listEvidence(filter: FactFilter): EvidenceList {
  const selected = selectFacts(filter);
  const count = (mark: Mark) => selected.filter((fact) => fact.mark === mark).length;
  return {
    facts: selected.map(plainFact),
    counts: { BELEGT: count('BELEGT'), HINWEIS: count('HINWEIS'), VORSICHT: count('VORSICHT'), OFFEN: count('OFFEN') },
    inLedger: facts.length,
  };
}

/**
 * One fact with its disagreements and, where there is a site file, what was recorded on that site. Throws
 * EVIDENCE_UNKNOWN with the nearest ids, SITE_FILE_INVALID, EVIDENCE_FILE_INVALID.
 */
export async function showEvidence(
  id: string,
  options: {
    readonly sitePath: string /** A person named the site file, so it must be there. */;
    readonly siteNamed: boolean;
  },
): Promise<EvidenceFact> {
  const fact = findFact(id) ?? unknownFact(id);
  const disagreements = isDisagreement(fact) ? [fact] : disagreementsAbout(fact.id);
  return {
    fact: plainFact(fact),
    disagreements: disagreements.map(plainDisagreement),
    movement: movementOf(fact),
    site: await recordsOfSite(fact, options),
  };
}

function unknownFact(id: string): never {
  const ids = facts.map((fact) => fact.id);
  const close = nearest(id, ids);
  const sharing = ids.filter((known) => id.length > 2 && known.includes(id.toLowerCase()));
  const suggestions = [...new Set([...(close === undefined ? [] : [close]), ...sharing])].slice(0, 3);
  throw new GwError('EVIDENCE_UNKNOWN', `The ledger holds no fact '${id.slice(0, 100)}'.`, {
    remedy: suggestions.length > 0 ? `Did you mean ${suggestions.join(' or ')}?` : undefined,
    details: { nearest: suggestions },
  });
}

/** By asking the gate's own rule about a device on which everything was verified, and about one where nothing was. */
function movementOf(fact: Fact): EvidenceFact['movement'] {
  const record = { fact: fact.id, value: true, serial: 's', software: 's', how: '-', who: '-', when: '-' };
  const id = fact.id as Parameters<typeof standing>[0];
  if (standing(id, { serial: 's', software: 's', records: [] }).usable) return 'may-carry';
  return standing(id, { serial: 's', software: 's', records: [record] }).usable ? 'only-where-verified' : 'never';
}

async function recordsOfSite(
  fact: Fact,
  { sitePath, siteNamed }: { readonly sitePath: string; readonly siteNamed: boolean },
): Promise<EvidenceFact['site']> {
  const site = await loadSite(sitePath).catch((error: unknown) => {
    if (!siteNamed && error instanceof GwError && error.code === 'SITE_FILE_NOT_FOUND') return null;
    throw error;
  });
  if (site === null) return null;
  const records = (await loadEvidenceFile(site.evidenceFile))
    .filter((record) => record.fact === fact.id)
    .map((record) => ({
      ...record,
      thisSerial: record.serial === site.chassis.serial,
      confirms: confirms(record, fact),
    }));
  return { path: site.path, serial: site.chassis.serial, records };
}

function plainFact(fact: Fact): EvidenceList['facts'][number] {
  const { id, statement, mark, basis, source } = fact;
  return {
    id,
    section: sectionOf(fact),
    statement,
    mark,
    basis,
    value: fact.value === undefined ? null : structuredClone(fact.value as EvidenceList['facts'][number]['value']),
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
  const sides = between.map(factById).map((side) => ({ id: side.id, statement: side.statement, mark: side.mark }));
  return { id, statement, sides, wins, consequence };
}
