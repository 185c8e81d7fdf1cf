import type { FactBasis } from './basis.ts';
import type { Mark } from './mark.ts';

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
