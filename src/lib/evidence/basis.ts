import type { Mark } from './mark.ts';

/**
 * Basis of the mark of a fact. The specification marks some facts and states many others without a mark; the difference
 * is kept, because a movement may rely only on measurements.
 * - measured: observed on the one test device.
 * - simulated: measured while a simulator stood in for the chassis.
 * - stated: the specification says or prescribes it without a mark of its own.
 * - vendor: from a vendor description.
 * - assumed: plausible, without evidence.
 * - not-shown: the specification leaves it open.
 * - disagreement: two sources differ; the mark is that of the side that wins.
 */
export const factBases = ['measured', 'simulated', 'stated', 'vendor', 'assumed', 'not-shown', 'disagreement'] as const;
export type FactBasis = (typeof factBases)[number];

/** Basis of the mark of a value: as for a fact, or `here`: measured on this device, by gw or by a person. */
export const bases = [...factBases, 'here'] as const;
export type Basis = (typeof bases)[number];

/** Text of the basis, shown where it adds to the mark. */
const basisWords: Readonly<Record<Basis, string>> = {
  measured: 'measured',
  simulated: 'on a simulator',
  stated: 'stated',
  vendor: 'from a vendor',
  assumed: 'assumed',
  'not-shown': 'not shown',
  disagreement: 'sources differ',
  here: 'measured here',
};

const basisWordsDe: Readonly<Record<Basis, string>> = {
  measured: 'gemessen',
  simulated: 'am Simulator',
  stated: 'festgelegt, nicht gemessen',
  vendor: 'laut Hersteller',
  assumed: 'angenommen',
  'not-shown': 'nicht angegeben',
  disagreement: 'Quellen widersprechen sich',
  here: 'hier gemessen',
};

const usual: Readonly<Partial<Record<Mark, Basis>>> = { HINWEIS: 'vendor', VORSICHT: 'assumed', OFFEN: 'not-shown' };

/** Short text beside the mark; empty where the mark implies the basis. */
export function basisText(mark: Mark, basis: Basis): string {
  return usual[mark] === basis ? '' : basisWords[basis];
}

/** Display text of a mark: `BELEGT measured`, `BELEGT stated`, `BELEGT on a simulator`, `HINWEIS`. */
export function markText({ mark, basis }: { readonly mark: Mark; readonly basis: Basis }): string {
  return `${mark} ${basisText(mark, basis)}`.trimEnd();
}

/** The same for a German page or document: `BELEGT gemessen`. */
export function markTextDe({ mark, basis }: { readonly mark: Mark; readonly basis: Basis }): string {
  return usual[mark] === basis ? mark : `${mark} ${basisWordsDe[basis]}`;
}

/** Default basis of a mark; BELEGT means measured here. */
export function basisOf(mark: Mark): Basis {
  return usual[mark] ?? 'here';
}
