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

/** What most facts of a file have in common. */
type Common = Pick<Fact, 'mark' | 'basis' | 'source'>;
type Row = Omit<Fact, 'id' | keyof Common> & Partial<Common>;
type Rows = Readonly<Record<string, Row>>;
type NoOtherKeys<R extends Rows> = { [Id in keyof R]: { [K in Exclude<keyof R[Id], keyof Row>]: never } };
type FactOf<C extends Common, R extends Rows, Id extends keyof R> = Id extends string
  ? Fact & { readonly id: Id; readonly mark: R[Id] extends { readonly mark: infer M extends Mark } ? M : C['mark'] }
  : never;

/** Facts by their ids, in this order. A row states mark, basis and source only where they differ from the common ones. */
export function factsOf<const C extends Common, const R extends Rows>(
  common: C,
  rows: R & NoOtherKeys<R>,
): readonly FactOf<C, R, keyof R>[] {
  return Object.entries<Row>(rows).map(([id, row]) => {
    const { statement, mark, basis, source, note, ...rest } = { ...common, ...row };
    return { id, statement, mark, basis, ...rest, source, ...(note === undefined ? {} : { note }) };
  }) as unknown as readonly FactOf<C, R, keyof R>[];
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
