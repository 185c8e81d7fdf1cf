import type { Degrees } from '../../angle/index.ts';
import type { CodeField, FeatureKind } from '../model.ts';

/** How two features were matched. */
export type PairedBy =
  /** The same id, unique on both sides. */
  | 'id'
  /** The same geometry. Several candidates are matched by content, name, code, then order. */
  | 'geometry'
  /** The nearest of the same kind and code within 1 m. Project decision. */
  | 'nearness';

/** A reference to a feature in a difference. */
export interface FeatureRef {
  readonly index: number;
  readonly id: string | null;
  readonly name: string | null;
  /** 'no-feature': an entry of `features` that is not an object. */
  readonly kind: FeatureKind | 'no-feature';
  /** Its point, or the mean of its corners, in metres; null when it has neither. */
  readonly xM: number | null;
  readonly yM: number | null;
}

/** A member that differs. */
export interface ValueChange {
  /** The object that holds the member. */
  readonly in: 'collection' | 'feature' | 'properties' | 'document';
  readonly name: string;
  /**
   * type: the JSON type differs, '11' against 11. duplicate-key: one object has the key twice and the texts differ, so
   * which value applies is undefined.
   */
  readonly change: 'added' | 'removed' | 'value' | 'type' | 'duplicate-key';
  /** Exact JSON text of the source; null when the member is missing. */
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** A changed code. Equal numbers: only the JSON type changed. */
export interface CodeChange {
  readonly field: CodeField;
  readonly from: number | null;
  readonly to: number | null;
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** A changed heading. */
export interface TurnChange {
  readonly field: 'yaw' | 'iconYaw';
  readonly fromDeg: Degrees | null;
  readonly toDeg: Degrees | null;
  /** The smaller rotation, counter-clockwise positive; null where one side is not a number. */
  readonly turnedDeg: Degrees | null;
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** The first difference of two texts: `coordinates/0/2`. */
export interface FirstDifference {
  readonly path: string;
  /** JSON text at the path; null when missing. */
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** A changed geometry. */
export interface ShapeChange {
  /** `type` of the geometry as received; null when it has none. */
  readonly fromType: string | null;
  readonly toType: string | null;
  /** Displacement of the point, or of the mean of the corners; null when undefined. */
  readonly movedM: number | null;
  /**
   * Largest displacement of a corner, for the order and starting corner that minimise it; null when the number of
   * corners or the kind differs.
   */
  readonly largestShiftM: number | null;
  /** Every corner has the same displacement: moved, form unchanged. */
  readonly isMovedAsWhole: boolean;
  /** Number of corners, 1 for a point, without the closing corner of a ring; null when there are none. */
  readonly fromCorners: number | null;
  readonly toCorners: number | null;
  /** Length of a line in metres; null for everything else. */
  readonly fromLengthM: number | null;
  readonly toLengthM: number | null;
  /** Area of a zone in square metres, without its holes; null for everything else. */
  readonly fromAreaM2: number | null;
  readonly toAreaM2: number | null;
  /** The order of the places of a line is reversed. */
  readonly isReversed: boolean;
  /** The outline of a zone starts at another corner or has the opposite orientation. */
  readonly isRewound: boolean;
  /** The first difference of the texts, where none of the members above shows it; null otherwise. */
  readonly first: FirstDifference | null;
}

/** A feature on both sides with a difference. */
export interface ChangedFeature {
  readonly from: FeatureRef;
  readonly to: FeatureRef;
  readonly pairedBy: PairedBy;
  /** null when the geometry is the same. */
  readonly shape: ShapeChange | null;
  readonly turns: readonly TurnChange[];
  readonly codes: readonly CodeChange[];
  /** Everything else, the id included. */
  readonly values: readonly ValueChange[];
}

/** Equal numbers in different notation: 1.0 against 1. Reported, not a difference. */
export interface NumberNotation {
  /** Index of the feature on the left side; null for a member of the collection. */
  readonly index: number | null;
  /** Path in the feature, `properties/yaw`. */
  readonly path: string;
  readonly fromJson: string;
  readonly toJson: string;
}

interface DiffCounts {
  /** Entries of `features` on the left and on the right. */
  readonly from: number;
  readonly to: number;
  /** On both sides with the same content. */
  readonly unchanged: number;
  readonly changed: number;
  /** Of the changed ones: place or form; heading; code; anything else, including notation. */
  readonly moved: number;
  /** Of the moved ones: form, size or direction changed as well. */
  readonly reshaped: number;
  readonly turned: number;
  readonly recoded: number;
  readonly otherwise: number;
  readonly added: number;
  readonly removed: number;
  readonly reordered: number;
}

/**
 * The difference of two collections, the left one being the old one. Numbers are compared by value, integers beyond the
 * exact range digit by digit. Key order and whitespace are insignificant in JSON and ignored; the order of the features
 * counts.
 */
export interface OverlaysDiff {
  /** Features, their order, values with JSON types and members of the collection are equal. */
  readonly same: boolean;
  /** The texts are identical. */
  readonly sameText: boolean;
  readonly counts: DiffCounts;
  /** In the order of the left side. */
  readonly changed: readonly ChangedFeature[];
  readonly added: readonly FeatureRef[];
  readonly removed: readonly FeatureRef[];
  /** The smallest set of features whose removal makes both orders equal. */
  readonly reordered: readonly { readonly from: FeatureRef; readonly to: FeatureRef }[];
  /** Members of the collection beside `features`, and of a document around it. */
  readonly members: readonly ValueChange[];
  /** Equal numbers in different notation: their count, and the first of them. */
  readonly notation: { readonly numbers: number; readonly examples: readonly NumberNotation[] };
}
