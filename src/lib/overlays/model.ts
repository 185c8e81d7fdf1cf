import type { Degrees } from '../angle/index.ts';
import type { Basis, DeviceEvidence, Mark } from '../evidence/index.ts';
import type { Span } from './read/json-source.ts';

/** A place on the map: metres along x and y, in the frame of the map. */
export type Place = readonly [xM: number, yM: number];

/** The kind of a feature by its GeoJSON geometry alone (HINWEIS), whatever its codes mean. */
export type FeatureKind = 'point' | 'lane' | 'zone' | 'other';

/** The geometry as far as gw interprets it; `Overlays.rawOf` gives the feature as received. */
export type Shape =
  | { readonly kind: 'point'; readonly at: Place }
  | { readonly kind: 'lane'; readonly line: readonly Place[] }
  /**
   * The first ring is the outline. Rings stay as received: closed or unclosed, with any number of corners. `parts` is
   * set for a MultiPolygon: the rings of each polygon; `rings` are then those of all.
   */
  | {
      readonly kind: 'zone';
      readonly rings: readonly (readonly Place[])[];
      readonly parts?: readonly (readonly (readonly Place[])[])[];
    }
  /** A geometry that gw does not render, or none: carried through. `type` as received, null when it is not a string. */
  | { readonly kind: 'other'; readonly type: string | null }
  /** A point, lane or zone with invalid coordinates. */
  | { readonly kind: 'broken'; readonly expected: 'point' | 'lane' | 'zone'; readonly problem: string };

/** Fields with a number whose meaning is a fact of its own in the ledger. */
export const codeFields = ['type', 'lineType', 'regionType', 'direction', 'startType', 'endType'] as const;
export type CodeField = (typeof codeFields)[number];

export interface Code {
  readonly field: CodeField;
  /** Parsed from a number or a string; null when it is neither, or not a whole number. */
  readonly number: number | null;
  /** As received, in its own JSON type. */
  readonly written: unknown;
}

/** An angle of a feature: degrees, usually written as a string (specification, 'Angles'). */
export interface FeatureAngle {
  /** null when the value is not a number. Not normalised: 270 stays 270. */
  readonly deg: Degrees | null;
  readonly written: unknown;
}

/** A feature of the collection as received. Its properties may hold any key: look keys up, never copy them. */
export type RawFeature = Readonly<Record<string, unknown>>;

/** One feature: a point, a zone, a lane, or a geometry that gw only carries through. */
export interface Feature {
  /** Its index in the collection, from 0: the only identifier that every feature has. */
  readonly index: number;
  /** A non-empty string as received, or a number with all its digits as string; null when missing. */
  readonly id: string | null;
  readonly kind: FeatureKind;
  /** `name`, a number as string; null when it is missing, empty or neither string nor number. */
  readonly name: string | null;
  readonly shape: Shape;
  /** The code of its kind of point, lane or zone: `type`, `lineType`, `regionType`. */
  readonly code: Code | null;
  /** Every code of the feature, `code` first. */
  readonly codes: readonly Code[];
  /** null when the feature has no `yaw` or `iconYaw`. */
  readonly yaw: FeatureAngle | null;
  readonly iconYaw: FeatureAngle | null;
  /** `id` as received. */
  readonly writtenId: unknown;
  /** `dockingPointId`: on a charger its docking point; some integrators write it on the docking point as well. */
  readonly partnerId: string | null;
  /** The door controller, as received. */
  readonly mac: unknown;
  /** Properties whose names contain speed, velocity or limit, also one level inside other properties. */
  readonly speeds: readonly WrittenProperty[];
}

/** A property as received. */
export interface WrittenProperty {
  /** Its name, or the name of the property around it and its own: 'limits.maxSpeed'. */
  readonly path: string;
  readonly value: unknown;
}

/** The form in which the collection was received. */
export type OverlaysForm = 'collection' | 'text-in-map' | 'object-in-map' | 'wrapped';

/**
 * What holds the features. The chassis returns a FeatureCollection (vendor, HINWEIS); one vendor example is an object
 * with `features` and no `type`. A list of features and a single feature come from other programs.
 */
export const overlaysContainers = [
  'feature-collection',
  'object-with-features',
  'feature-list',
  'single-feature',
] as const;
export type OverlaysContainer = (typeof overlaysContainers)[number];

/** The overlays of one map. */
export interface Overlays {
  readonly form: OverlaysForm;
  readonly container: OverlaysContainer;
  readonly features: readonly Feature[];
  /** Members of the collection beside `type` and `features`, as received (rack defaults and the like). */
  readonly topLevel: Readonly<Record<string, unknown>>;
  /** Indices of the entries of `features` that are not objects. Carried through, never rendered. */
  readonly notFeatures: readonly number[];
  /**
   * The map object around the overlays, as received; null for a bare collection. Members that gw reads:
   * `map_name`, `uid`, `id`, `map_version`, `overlays_version`, `grid_origin_x/y`, `grid_resolution`.
   */
  readonly map: Readonly<Record<string, unknown>> | null;
  /** Members of the features, and of their properties, that gw does not interpret. */
  readonly members: readonly CarriedMember[];
  /** A feature of this collection as received. */
  readonly rawOf: (feature: Feature) => RawFeature;
  /** The exact JSON text of the collection, without the map around it. */
  readonly text: string;
  /** The span of every entry of `features` in that text, by index. */
  readonly entries: readonly Span[];
}

/** Position and scale of the map's picture. The lower left pixel is at `originXM`, `originYM` (HINWEIS). */
export interface MapFrame {
  readonly originXM: number;
  readonly originYM: number;
  /** Metres per pixel. */
  readonly resolutionM: number;
  /** Pixels; null when there is no picture. */
  readonly width: number | null;
  readonly height: number | null;
}

/** One reading of what a code means. */
export interface Reading {
  /** null: unknown (OFFEN). */
  readonly meaning: string | null;
  readonly mark: Mark;
  /** What the mark rests on. */
  readonly basis: Basis;
  readonly source: string;
  /** Id in the ledger. */
  readonly fact: string;
  /** Set where an evidence record of this device raised the mark or contradicts the reading. */
  readonly here: { readonly verdict: 'verified' | 'contradicted'; readonly who: string; readonly when: string } | null;
}

/** A code with every reading of it, shared by all features with this code. */
export interface CodeMeaning {
  readonly field: CodeField;
  readonly number: number;
  /** At least one, best mark first. Several readings disagree, or one is OFFEN beside a vendor's reading. */
  readonly readings: readonly Reading[];
  /**
   * The mark of the meaning: the best one where all readings agree, otherwise the weakest among the readings with a
   * meaning. Readings verified on this device take precedence, contradicted ones do not count. OFFEN when no reading
   * has a meaning. Project decision.
   */
  readonly mark: Mark;
  /** The basis of the reading that determines the mark. */
  readonly basis: Basis;
  /** Id of the disagreement in the ledger, where the readings differ; null otherwise. */
  readonly disagreement: string | null;
}

/** Looks codes up; every (field, number) is resolved once. */
export interface CodeBook {
  meaning(field: CodeField, number: number): CodeMeaning;
}

export const severities = ['wrong', 'warning', 'note', 'not-checked'] as const;
/** wrong: must be corrected. warning: to be checked by a person. note: known, unexplained or harmless. not-checked: never green. */
export type Severity = (typeof severities)[number];

export interface OverlayFinding {
  /** Id of the rule, `yaw-like-radians`; a row of the rule table. */
  readonly rule: string;
  readonly severity: Severity;
  /** Indices of the features concerned; empty when the finding concerns the map as a whole. */
  readonly features: readonly number[];
  /** One sentence with the figures. Text from the device is bounded and on one line. */
  readonly detail: string;
  readonly remedy: string;
  /** The mark of the fact that the finding relies on; null when it relies on the JSON text alone. */
  readonly mark: Mark | null;
  /** The basis of that mark; null where the mark is null. */
  readonly basis: Basis | null;
}

/**
 * A charging station: an unordered pair of a charger and a docking point (BELEGT that it is a pair). Which two belong
 * together follows from the vendor's `dockingPointId` (HINWEIS) on either side. At least one of the two is present.
 */
export interface ChargerPair {
  /** Indices of the two in the collection; null when that item is missing. */
  readonly charger: number | null;
  readonly dockingPoint: number | null;
  /**
   * Which of the two refers to the other. not-decided: the partner is ambiguous, since several items share the id that
   * is referred to. null: no reference leads to a partner.
   */
  readonly linkedBy: 'both' | 'charger' | 'docking-point' | 'not-decided' | null;
  /** `dockingPointId` of the charger, whether or not it resolves; null when it has none. */
  readonly chargerReference: string | null;
  /** The same of the docking point. */
  readonly dockingPointReference: string | null;
  /** Distance between the two points in the overlays. The one measured pair is shown beside it, never as a constant. */
  readonly distanceM: number | null;
}

export const jsonTypes = ['string', 'number', 'boolean', 'null', 'array', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];

/** A member that gw does not interpret and carries through unchanged. */
export interface CarriedMember {
  readonly in: 'collection' | 'feature' | 'properties';
  readonly name: string;
  /** Number of features with this member; 1 for a member of the collection. */
  readonly count: number;
  /** Kinds of features with this member; empty for a member of the collection. */
  readonly kinds: readonly FeatureKind[];
  /** In the order of `jsonTypes`. */
  readonly types: readonly JsonType[];
}

/** Counts of the forms in which an angle of the features is written. */
export interface AngleSurvey {
  readonly asString: number;
  readonly asNumber: number;
  /** Of all: how many are not a number. */
  readonly unreadable: number;
}

/** Counts of the whole collection, whatever was selected. */
export interface Survey {
  readonly kinds: Readonly<Record<FeatureKind, number>>;
  readonly withId: number;
  /** Every code that occurs, by field and then number; `number` is null where the value is not a whole number. */
  readonly codes: readonly { readonly field: CodeField; readonly number: number | null; readonly count: number }[];
  readonly yaw: AngleSurvey;
  readonly iconYaw: AngleSurvey;
  /**
   * Features with two valid angles, and how many of them show the offset of the ledger: reproducible, unexplained.
   */
  readonly icons: { readonly withBoth: number; readonly withOffset: number; readonly offsetDeg: number };
  /** The most frequent first, bounded. */
  readonly carried: readonly CarriedMember[];
  /** Number of names beyond those in `carried`. */
  readonly carriedMore: number;
}

/** One statement of the platform's specification about overlays, with the corresponding content of this map. */
export interface KnownRow {
  /** not-shown: the specification names it as open. */
  readonly group: 'known' | 'not-shown';
  /** Id in the ledger. */
  readonly fact: string;
  readonly statement: string;
  /** For this device, where an evidence record exists. */
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
  readonly here: Reading['here'];
  /** One sentence: the content of this map, or how gw treats it. Foreign text is quoted and bounded. */
  readonly found: string;
}

/** The inspection of a collection, from which every output (table, JSON, picture, CSV, GeoJSON) is made. */
export interface Inspection {
  readonly overlays: Overlays;
  readonly frame: MapFrame | null;
  /** The features that pass the filters, in the order of the collection. */
  readonly selected: readonly Feature[];
  /** Findings on the selected features, and without a filter on the map as a whole. Worst first. */
  readonly findings: readonly OverlayFinding[];
  readonly codeBook: CodeBook;
  /** Every pair of the collection, selected or not. */
  readonly pairs: readonly ChargerPair[];
  readonly survey: Survey;
  /** The chassis of the overlays and its evidence records; null when the source names none. */
  readonly device: DeviceEvidence | null;
}
