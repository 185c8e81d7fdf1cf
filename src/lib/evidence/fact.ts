/**
 * Evidence marks; the names are those of the platform.
 * - BELEGT: measured on the one test device.
 * - HINWEIS: from a vendor description, to be verified on the device before use.
 * - VORSICHT: plausible, without evidence; must not drive any decision that triggers movement.
 * - OFFEN: unknown; the number is passed through and no meaning is asserted.
 * @source specification, 'Evidence marks'
 */
export const marks = ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const;
export type Mark = (typeof marks)[number];

/** Lower is better evidence. */
export const markRank: Readonly<Record<Mark, number>> = { BELEGT: 0, HINWEIS: 1, VORSICHT: 2, OFFEN: 3 };

/** Of two statements about the same subject the one with the higher mark wins; the other is kept as a disagreement. */
export function stronger<A extends { readonly mark: Mark }, B extends { readonly mark: Mark }>(a: A, b: B): A | B {
  return markRank[b.mark] < markRank[a.mark] ? b : a;
}

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

/** The basis of a value in German, for pages and documents. */
export const basisWordsDe: Readonly<Record<Basis, string>> = {
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

export type FactValue =
  | string
  | number
  | boolean
  | readonly (string | number)[]
  | { readonly [name: string]: string | number | boolean };

/** One fact about the platform, or one known gap. */
export interface Fact {
  /** `section.words-with-dashes`; never changes its meaning, since evidence files and checklists refer to it. */
  readonly id: string;
  /** One or two plain sentences. */
  readonly statement: string;
  readonly mark: Mark;
  readonly basis: FactBasis;
  /** Source: `specification, 'Angles'`, `vendor REST book`. */
  readonly source: string;
  /** The value of the fact, where there is one. A record of a device is compared with it. */
  readonly value?: FactValue;
  /** Unit of `value`: 'degrees', 'm', 's', 'bytes'. */
  readonly unit?: string;
  /**
   * Of a stated fact: the measured fact about the same field that supports it, so that a movement may rely on it.
   */
  readonly observedBy?: string;
  /** Reason of the mark, consequence for gw, cautions. */
  readonly note?: string;
}

/** The mark of a fact, by its basis. */
const markOf = {
  measured: 'BELEGT',
  simulated: 'BELEGT',
  stated: 'BELEGT',
  vendor: 'HINWEIS',
  assumed: 'VORSICHT',
  'not-shown': 'OFFEN',
} as const satisfies Partial<Record<FactBasis, Mark>>;
type RowBasis = keyof typeof markOf;

/** What only some facts have; `source` where it is not that of the facts around it. */
type Extras = Pick<Fact, 'value' | 'unit' | 'observedBy'> & { readonly source?: string };
interface Row<M extends Mark = Mark> extends Extras, Pick<Fact, 'statement' | 'note' | 'basis'> {
  readonly mark: M;
}

function rowOf<B extends RowBasis>(basis: B) {
  return (statement: string, ...[first = {}, second]: [note: string, Extras?] | [Extras?]): Row<(typeof markOf)[B]> => {
    const [note, extras] = typeof first === 'string' ? [{ note: first }, second] : [{}, first];
    return { statement, mark: markOf[basis], basis, ...extras, ...note };
  };
}

/** One row of the ledger, under the name of its basis: the statement, a note, and what else it has. */
export const measured = rowOf('measured');
export const simulated = rowOf('simulated');
export const stated = rowOf('stated');
export const vendor = rowOf('vendor');
export const assumed = rowOf('assumed');
export const notShown = rowOf('not-shown');

type Rows = Readonly<Record<string, Row>>;
type FactOf<R extends Rows, Id extends keyof R> = Id extends string ? Fact & { id: Id; mark: R[Id]['mark'] } : never;

/** Facts of one source by their ids, in this order. */
export function factsFrom<const R extends Rows>(source: string, rows: R): readonly FactOf<R, keyof R>[] {
  return Object.entries<Row>(rows).map(([id, { note, ...row }]) => {
    return { id, ...row, source: row.source ?? source, ...(note !== undefined && { note }) };
  }) as unknown as readonly FactOf<R, keyof R>[];
}

/** Two facts about the same subject that differ. */
export interface Disagreement<Id extends string = string> extends Fact {
  readonly basis: 'disagreement';
  /** The side of the specification first. */
  readonly between: readonly [Id, Id];
  /** The one of `between` that holds in gw: the one with the higher mark. */
  readonly wins: Id;
  /** How gw handles it. */
  readonly consequence: string;
}
