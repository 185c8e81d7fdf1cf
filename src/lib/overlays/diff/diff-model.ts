import type { Degrees } from '../../angle/index.ts';
import type { CodeField, FeatureKind } from '../model.ts';

/** How two features were found to be one and the same. */
export type PairedBy =
  /** The same id, which stands once on either side. */
  | 'id'
  /** The same geometry. With several of them the ones that share most: content, name, code, then order. */
  | 'geometry'
  /** Not at the same place, but the nearest of the same kind and code within 1 m. Decision of ours. */
  | 'nearness';

/** A feature as a difference names it. */
export interface FeatureRef {
  readonly index: number;
  readonly id: string | null;
  readonly name: string | null;
  /** 'no-feature' is an entry of `features` that is no object. */
  readonly kind: FeatureKind | 'no-feature';
  /** Its point, or the middle between its corners, in metres; null when it has neither. */
  readonly xM: number | null;
  readonly yM: number | null;
}

/** A member that is not the same on both sides. */
export interface ValueChange {
  /** In whose members it stands. */
  readonly in: 'collection' | 'feature' | 'properties' | 'document';
  readonly name: string;
  /**
   * type: the JSON type differs, '11' against 11. doubled: the key stands twice in one object and the texts differ,
   * so that nobody can say which value counts.
   */
  readonly change: 'added' | 'removed' | 'value' | 'type' | 'doubled';
  /** JSON text exactly as it stands in the source; null when the member is not there. */
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** A code that is written differently. Equal numbers: only its JSON type changed. */
export interface CodeChange {
  readonly field: CodeField;
  readonly from: number | null;
  readonly to: number | null;
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** A heading that is written differently. */
export interface TurnChange {
  readonly field: 'yaw' | 'iconYaw';
  readonly fromDeg: Degrees | null;
  readonly toDeg: Degrees | null;
  /** The short way round, counter-clockwise; null where one side has no number. */
  readonly turnedDeg: Degrees | null;
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** Where two texts begin to differ: `coordinates/0/2`. */
export interface PlaceOfChange {
  readonly path: string;
  /** JSON text as it stands there; null when it is not there. */
  readonly fromJson: string | null;
  readonly toJson: string | null;
}

/** A geometry that is not the same. */
export interface ShapeChange {
  /** `type` of the geometry as it came, null when it has none. */
  readonly fromType: string | null;
  readonly toType: string | null;
  /** How far the point, or the middle between the corners, has moved; null when that cannot be said. */
  readonly movedM: number | null;
  /**
   * How far the corner that moved most has moved, read in the direction and from the corner in which that is least;
   * null when the number of corners or the kind differs.
   */
  readonly largestShiftM: number | null;
  /** Every corner moved by the same way: another place and the same form. */
  readonly isMovedAsWhole: boolean;
  /** Corners on either side, 1 for a point, without the repeated last corner of a ring; null when there are none. */
  readonly fromCorners: number | null;
  readonly toCorners: number | null;
  /** Length of a line in metres; null for everything else. */
  readonly fromLengthM: number | null;
  readonly toLengthM: number | null;
  /** Area of a zone in square metres, without its holes; null for everything else. */
  readonly fromAreaM2: number | null;
  readonly toAreaM2: number | null;
  /** A line runs the other way. */
  readonly isReversed: boolean;
  /** The outline of a zone begins at another corner, or is written the other way round. */
  readonly isRewound: boolean;
  /** The first place at which the texts differ, where nothing above says what differs; null otherwise. */
  readonly first: PlaceOfChange | null;
}

/** A feature that stands on both sides and is not the same. */
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

/** The same number written in another way: 1.0 against 1. Equal, and told. */
export interface NumberNotation {
  /** Place of the feature on the left side; null for a member of the collection. */
  readonly index: number | null;
  /** Where in it, `properties/yaw`. */
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
  /** Of the changed ones: another place or form; another heading; another code; anything else, also how it is written. */
  readonly moved: number;
  /** Of the moved ones: another form, size or direction, not only another place. */
  readonly reshaped: number;
  readonly turned: number;
  readonly recoded: number;
  readonly otherwise: number;
  readonly added: number;
  readonly removed: number;
  readonly reordered: number;
}

/**
 * What differs between two collections, the left one taken as the old one. Numbers count as the same when they are
 * equal as numbers; whole numbers too large for that are compared digit by digit. The order of keys and the
 * whitespace say nothing in JSON and do not count; the order of the features does.
 */
export interface OverlaysDiff {
  /** Every feature, its order, every value with its JSON type and every member of the collection are the same. */
  readonly same: boolean;
  /** The texts are the same character for character. */
  readonly sameText: boolean;
  readonly counts: DiffCounts;
  /** In the order of the left side. */
  readonly changed: readonly ChangedFeature[];
  readonly added: readonly FeatureRef[];
  readonly removed: readonly FeatureRef[];
  /** The fewest features that one would have to lift out of the order to make both orders the same. */
  readonly reordered: readonly { readonly from: FeatureRef; readonly to: FeatureRef }[];
  /** Members of the collection beside `features`, and of a document around it. */
  readonly members: readonly ValueChange[];
  /** Numbers that are equal and written differently: how many, and the first of them. */
  readonly notation: { readonly numbers: number; readonly examples: readonly NumberNotation[] };
}
