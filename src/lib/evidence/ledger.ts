import { GwError } from '../error/index.ts';
import { type Disagreement, type Fact, type Mark, stronger } from './fact.ts';
import { angleFacts } from './facts/angles.ts';
import { chassisFacts } from './facts/chassis.ts';
import { cloudFacts } from './facts/cloud.ts';
import { disagreements } from './facts/disagreements.ts';
import { errorFacts } from './facts/errors.ts';
import { fleetFacts } from './facts/fleet.ts';
import { limitFacts } from './facts/limits.ts';
import { networkFacts } from './facts/network.ts';
import { operatorFacts } from './facts/operator.ts';
import { overlayFacts } from './facts/overlays.ts';
import { tunnelFacts } from './facts/tunnel.ts';
import { vendorCallFacts } from './facts/vendor-calls.ts';
import { vendorCodeFacts } from './facts/vendor-codes.ts';
import { vendorTopicFacts } from './facts/vendor-topics.ts';

const plainFacts = [
  ...angleFacts,
  ...overlayFacts,
  ...chassisFacts,
  ...networkFacts,
  ...operatorFacts,
  ...errorFacts,
  ...fleetFacts,
  ...cloudFacts,
  ...tunnelFacts,
  ...limitFacts,
  ...vendorCallFacts,
  ...vendorTopicFacts,
  ...vendorCodeFacts,
] as const;
type PlainId = (typeof plainFacts)[number]['id'];

const disagreementFacts = disagreementsOf(disagreements);

/** The ledger: every fact of specification and vendor that gw relies on, shows, or leaves open. */
export const facts = [...plainFacts, ...disagreementFacts];

type Sides = readonly [ours: PlainId, theirs: PlainId, statement: string, consequence: string, note?: string];

/** The side with the higher mark wins, and gives the disagreement its mark. */
function disagreementsOf<R extends Readonly<Record<string, Sides>>>(rows: R) {
  return Object.entries(rows).map(([id, [ours, theirs, statement, consequence, note]]) => {
    const [side, other] = [ours, theirs].map((side) => plainFacts.find((fact) => fact.id === side)) as [Fact, Fact];
    const { id: wins, mark } = stronger(side, other);
    const rest = { consequence, source: 'specification against vendor texts', ...(note !== undefined && { note }) };
    return { id, statement, mark, basis: 'disagreement', between: [ours, theirs], wins, ...rest };
  }) as unknown as readonly (Disagreement & { readonly id: keyof R })[];
}

/** Sections: the part of an id before the dot, with its title. In the order of the ledger. */
export const sections = {
  angles: 'Angles',
  overlays: 'Map and overlays',
  chassis: 'Chassis',
  network: 'Network and interfaces',
  operator: 'Operator server',
  errors: 'Errors',
  fleet: 'Fleet heartbeat',
  cloud: 'Cloud and enrolment',
  tunnel: 'Remote support',
  limits: 'Limits',
  vendor: 'Vendor descriptions',
  disagreement: 'Disagreements',
} as const;
type Section = keyof typeof sections;

type LedgerFact = (typeof facts)[number];
export type FactId = LedgerFact['id'];
/** Ids of the facts with these marks, so that a compiler refuses the others. */
export type FactIdMarked<M extends Mark> = Extract<LedgerFact, { readonly mark: M }>['id'];

const byId: ReadonlyMap<string, Fact> = new Map(facts.map((fact) => [fact.id, fact]));

export function findFact(id: string): Fact | undefined {
  return byId.get(id);
}

/** Throws EVIDENCE_UNKNOWN: an id may come from a file or untyped code. */
export function factById(id: FactId | (string & {})): Fact {
  const fact = byId.get(id);
  if (fact) return fact;
  throw new GwError('EVIDENCE_UNKNOWN', `Unknown fact '${id}'.`, { details: { id } });
}

export function sectionOf(fact: Pick<Fact, 'id'>): string {
  return fact.id.slice(0, fact.id.indexOf('.'));
}

export interface FactFilter {
  readonly mark?: Mark | undefined;
  /** Every word must occur somewhere in the fact; case-insensitive. */
  readonly about?: string | undefined;
}

/** The facts that match, in the order of the ledger. */
export function selectFacts({ mark, about }: FactFilter): readonly Fact[] {
  const words = (about ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return (facts as readonly Fact[]).filter((fact) => {
    if (mark && fact.mark !== mark) return false;
    const text = `${Object.values(fact).map(textOf).join(' ')} ${sections[sectionOf(fact) as Section]}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Every disagreement that this fact is a side of. */
export function disagreementsAbout(id: string): readonly Disagreement[] {
  const all: readonly Disagreement[] = disagreementFacts;
  return all.filter(({ between }) => between.includes(id));
}

export function isDisagreement(fact: Fact): fact is Disagreement {
  return fact.basis === 'disagreement';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
