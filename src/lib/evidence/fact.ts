import type { FactBasis } from './basis.ts';
import type { Mark } from './mark.ts';

export type FactValue =
  | string
  | number
  | boolean
  | readonly (string | number)[]
  | { readonly [name: string]: string | number | boolean };

/** One thing that is known about the platform, or known to be unknown. */
export interface Fact {
  /** `section.words-with-dashes`; never changes its meaning, since evidence files and checklists refer to it. */
  readonly id: string;
  /** One or two plain sentences. */
  readonly statement: string;
  readonly mark: Mark;
  readonly basis: FactBasis;
  /** Where it is from: `specification, 'Angles'`, `vendor REST book`. */
  readonly source: string;
  /** The number, word or table itself, where there is one. A record of a device is compared with it. */
  readonly value?: FactValue;
  /** Unit of `value`: 'degrees', 'm', 's', 'bytes'. */
  readonly unit?: string;
  /**
   * Of a stated fact: the measured one about the same field that bears it out, so that a movement may rely on it.
   */
  readonly observedBy?: string;
  /** Why this mark, what it means for gw, what to be careful about. */
  readonly note?: string;
}

/** Two facts about the same thing that differ. */
export interface Disagreement<Id extends string = string> extends Fact {
  readonly basis: 'disagreement';
  /** The side of the specification first. */
  readonly between: readonly [Id, Id];
  /** The one of `between` that holds in gw: the one with the higher mark. */
  readonly wins: Id;
  /** What gw does about it. */
  readonly consequence: string;
}
