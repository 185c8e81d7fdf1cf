import type { Degrees } from '../angle/index.ts';
import type { DeviceEvidence } from '../evidence/index.ts';
import type { CodeField, FeatureKind, OverlaysContainer, OverlaysForm } from './kinds.ts';
import type { Span } from './read/json-source.ts';
import type { CarriedMember, ChargerPair, CodeMeaning, OverlayFinding } from './schemas.ts';

export type { CodeField, FeatureKind, JsonType, OverlaysContainer, OverlaysForm, Severity } from './kinds.ts';
export type { CarriedMember, ChargerPair, CodeMeaning, KnownRow, OverlayFinding, Reading } from './schemas.ts';

/** A place on the map: metres along x and y, in the frame of the map. */
export type Place = readonly [xM: number, yM: number];

/** The geometry as far as gw interprets it; `Overlays.rawOf` gives the feature as received. */
export type Shape =
  /** `places` is set for a MultiPoint: all its places, of which `at` is the first. */
  | { readonly kind: 'point'; readonly at: Place; readonly places?: readonly Place[] }
  /** One line, or with `isMulti` those of a MultiLineString. */
  | { readonly kind: 'lane'; readonly lines: readonly (readonly Place[])[]; readonly isMulti?: true }
  /**
   * The first ring is the outline; the others should be its holes. Rings stay as received: closed or unclosed, with any
   * number of corners. `parts` is set for a MultiPolygon: the rings of each polygon; `rings` are then those of all.
   */
  | {
      readonly kind: 'zone';
      readonly rings: readonly (readonly Place[])[];
      readonly parts?: readonly (readonly (readonly Place[])[])[];
    }
  /** A geometry that gw does not read, or none: carried through. `type` as received, null when it is not a string. */
  | { readonly kind: 'other'; readonly type: string | null }
  /** A point, lane or zone with invalid coordinates. */
  | { readonly kind: 'broken'; readonly expected: 'point' | 'lane' | 'zone'; readonly problem: string };

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

/** Looks codes up; every (field, number) is resolved once. */
export interface CodeBook {
  meaning(field: CodeField, number: number): CodeMeaning;
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
