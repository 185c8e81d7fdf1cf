import type { Mark } from './mark.ts';

/**
 * What the mark of a fact rests on. The specification marks what matters and states much else plainly; the difference
 * is kept, because only what was seen on a device may carry a movement.
 * - measured: seen on the one test device.
 * - simulated: measured while a simulator stood in for the chassis.
 * - stated: the specification says or prescribes it without a mark of its own.
 * - vendor: from a vendor description.
 * - assumed: plausible, without evidence.
 * - not-shown: the specification leaves it open.
 * - disagreement: two sources differ; the mark is that of the side that wins.
 */
export const factBases = ['measured', 'simulated', 'stated', 'vendor', 'assumed', 'not-shown', 'disagreement'] as const;
export type FactBasis = (typeof factBases)[number];

/** What the mark of a value rests on: as for a fact, or `here`: measured on this very device, by gw or by a person. */
export const bases = [...factBases, 'here'] as const;
export type Basis = (typeof bases)[number];

/** In words, where the basis says more than the mark. A HINWEIS is from a vendor, a VORSICHT is assumed: nothing more. */
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

/** Two words at most beside the mark; empty where the mark says it all. */
export function basisText(mark: Mark, basis: Basis): string {
  return usual[mark] === basis ? '' : basisWords[basis];
}

/** A mark as people read it: `BELEGT measured`, `BELEGT stated`, `BELEGT on a simulator`, `HINWEIS`. */
export function markText({ mark, basis }: { readonly mark: Mark; readonly basis: Basis }): string {
  return `${mark} ${basisText(mark, basis)}`.trimEnd();
}

/** The same for a German page or document: `BELEGT gemessen`. */
export function markTextDe({ mark, basis }: { readonly mark: Mark; readonly basis: Basis }): string {
  return usual[mark] === basis ? mark : `${mark} ${basisWordsDe[basis]}`;
}

/** What the basis of a mark is where only the mark was given: BELEGT then is what was measured here. */
export function basisOf(mark: Mark): Basis {
  return usual[mark] ?? 'here';
}
