import type { Degrees } from '../angle/index.ts';
import type { Basis, DeviceEvidence, Mark } from '../evidence/index.ts';
import type { Span } from './read/json-source.ts';

/** A place on the map: metres along x and y, in the frame of the map. */
export type Place = readonly [xM: number, yM: number];

/** What a feature is by its geometry alone: that much GeoJSON says (HINWEIS), whatever its codes mean. */
export type FeatureKind = 'point' | 'lane' | 'zone' | 'other';

/** The geometry as far as gw understands it. Everything as it came is at `Overlays.rawOf`. */
export type Shape =
  | { readonly kind: 'point'; readonly at: Place }
  | { readonly kind: 'lane'; readonly line: readonly Place[] }
  /** The first ring is the outside. Rings stay as they came: closed or unclosed, however many corners. */
  | { readonly kind: 'zone'; readonly rings: readonly (readonly Place[])[] }
  /** A geometry that gw does not draw, or none: carried through. `type` as it came, null when it is no text. */
  | { readonly kind: 'other'; readonly type: string | null }
  /** A point, lane or zone whose coordinates are none. */
  | { readonly kind: 'broken'; readonly expected: 'point' | 'lane' | 'zone'; readonly why: string };

/** Fields that carry a number whose meaning is a fact of its own. */
export const codeFields = ['type', 'lineType', 'regionType', 'direction', 'startType', 'endType'] as const;
export type CodeField = (typeof codeFields)[number];

export interface Code {
  readonly field: CodeField;
  /** Read from a number or a text; null when it is neither, or no whole number. */
  readonly number: number | null;
  /** As it came, in its own JSON type. */
  readonly written: unknown;
}

/** An angle of a feature: degrees, usually written as a text (specification, 'Angles'). */
export interface FeatureAngle {
  /** null when what is written is no number. Not normalised: 270 stays 270. */
  readonly deg: Degrees | null;
  readonly written: unknown;
}

/** A feature of the collection as it came. Its properties may hold any key: look keys up, never copy them. */
export type RawFeature = Readonly<Record<string, unknown>>;

/** One feature: a point, a zone, a lane, or something that gw only carries. */
export interface Feature {
  /** Its place in the collection, from 0: the one name that every feature has. */
  readonly index: number;
  /** As it came when it is a text that is not empty, or a number (as text); null when it is missing. */
  readonly id: string | null;
  readonly kind: FeatureKind;
  /** `name`, a number as text; null when that is missing, empty or neither text nor number. */
  readonly name: string | null;
  readonly shape: Shape;
  /** The code that says what kind of point, lane or zone it is: `type`, `lineType`, `regionType`. */
  readonly code: Code | null;
  /** Every code that the feature carries, `code` first. */
  readonly codes: readonly Code[];
  /** null when the feature has no `yaw` or `iconYaw`. */
  readonly yaw: FeatureAngle | null;
  readonly iconYaw: FeatureAngle | null;
  /** `id` as it came. */
  readonly writtenId: unknown;
  /** `dockingPointId`: on a charger its docking point, and some integrators write it on the docking point as well. */
  readonly partnerId: string | null;
  /** The controller of a door, as it came. */
  readonly mac: unknown;
  /** Properties whose names sound like a speed, also one level inside of others. */
  readonly speeds: readonly WrittenProperty[];
}

/** A property as it came. */
export interface WrittenProperty {
  /** Its name, or the name of the property around it and its own: 'limits.maxSpeed'. */
  readonly path: string;
  readonly value: unknown;
}

/** In which of the three forms the collection came. */
export type OverlaysForm = 'collection' | 'text-in-map' | 'object-in-map' | 'wrapped';

/**
 * What holds the features. The chassis gives a FeatureCollection (vendor, HINWEIS); one vendor example is an object with
 * `features` and no `type`. A list of features and a single one come from other programs.
 */
export const overlaysContainers = [
  'feature-collection',
  'object-with-features',
  'feature-list',
  'single-feature',
] as const;
export type OverlaysContainer = (typeof overlaysContainers)[number];

/** The features of one map. */
export interface Overlays {
  readonly form: OverlaysForm;
  readonly container: OverlaysContainer;
  readonly features: readonly Feature[];
  /** Members of the collection beside `type` and `features`, as they came (rack defaults and the like). */
  readonly topLevel: Readonly<Record<string, unknown>>;
  /** Entries of `features` that are no objects: their places in the list. Carried through, never drawn. */
  readonly notFeatures: readonly number[];
  /**
   * The map object around the features, as it came; null for a bare collection. Read from it where it is there:
   * `map_name`, `uid`, `id`, `map_version`, `overlays_version`, `grid_origin_x/y`, `grid_resolution`.
   */
  readonly map: Readonly<Record<string, unknown>> | null;
  /** Members of the features that gw gives no meaning, and of their properties. */
  readonly members: readonly CarriedMember[];
  /** A feature of these as it came. */
  readonly rawOf: (feature: Feature) => RawFeature;
  /** What was read: its JSON text, exactly. Of the collection itself, without the map around it. */
  readonly text: string;
  /** Every entry of `features` as it stands in that text, by its place in the list. */
  readonly entries: readonly Span[];
}

/** Where the picture of a map lies. The lower left pixel is at `originXM`, `originYM` (HINWEIS). */
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
  /** null: nobody knows (OFFEN). */
  readonly meaning: string | null;
  readonly mark: Mark;
  /** What the mark rests on. */
  readonly basis: Basis;
  readonly source: string;
  /** Id in the ledger. */
  readonly fact: string;
  /** Set where a record of this device raised the mark, or contradicts the reading. */
  readonly here: { readonly verdict: 'verified' | 'contradicted'; readonly who: string; readonly when: string } | null;
}

/** A code with every reading of it, shared by all features that carry it. */
export interface CodeMeaning {
  readonly field: CodeField;
  readonly number: number;
  /** At least one; the best known first. With several, they disagree or one is OFFEN beside a vendor's word. */
  readonly readings: readonly Reading[];
  /**
   * How well the meaning is known: the weakest mark among the readings that name one, since sources that disagree
   * leave it no better known than that; the best where all name the same. What was verified on this device goes before
   * everything else, what was contradicted does not count. OFFEN when none names one. Decision of ours.
   */
  readonly mark: Mark;
  /** What that mark rests on: the basis of the reading that gives it. */
  readonly basis: Basis;
  /** Id of the disagreement in the ledger, where the readings differ; null otherwise. */
  readonly disagreement: string | null;
}

/** Looks codes up; every (field, number) is worked out once. */
export interface CodeBook {
  meaning(field: CodeField, number: number): CodeMeaning;
}

export const severities = ['wrong', 'warning', 'note', 'not-checked'] as const;
/** wrong: must be mended. warning: look at it. note: known, unexplained or harmless. not-checked: never green. */
export type Severity = (typeof severities)[number];

export interface OverlayFinding {
  /** Id of the rule, `yaw-like-radians`; a row of the rule table. */
  readonly rule: string;
  readonly severity: Severity;
  /** Places of the features that it is about; empty when it is about the map as a whole. */
  readonly features: readonly number[];
  /** One sentence with the figures. Text from the device in it is bounded and on one line. */
  readonly detail: string;
  readonly remedy: string;
  /** How well that is known which the finding relies on; null when it relies on the text alone. */
  readonly mark: Mark | null;
  /** What that mark rests on; null with it. */
  readonly basis: Basis | null;
}

/**
 * A charging station: an unordered pair of a charger and a docking point (BELEGT that it is a pair). Which two belong
 * together is by the vendor's `dockingPointId` (HINWEIS), from either side. At least one of the two is there.
 */
export interface ChargerPair {
  /** Places of the two in the collection; null when that item is missing. */
  readonly charger: number | null;
  readonly dockingPoint: number | null;
  /**
   * Which of the two names the other. not-decided: its partner cannot be told, since several items share the id that
   * is referred to. null: no reference leads to a partner.
   */
  readonly namedBy: 'both' | 'charger' | 'docking-point' | 'not-decided' | null;
  /** `dockingPointId` of the charger, whatever it leads to; null when it has none. */
  readonly named: string | null;
  /** The same of the docking point. */
  readonly namedBack: string | null;
  /** Measured between the two points of the overlays. Beside it stands the one measured pair, never as a constant. */
  readonly distanceM: number | null;
}

export const jsonTypes = ['text', 'number', 'boolean', 'null', 'list', 'object'] as const;
export type JsonType = (typeof jsonTypes)[number];

/** A member that gw gives no meaning: it is carried through untouched, by name. */
export interface CarriedMember {
  readonly in: 'collection' | 'feature' | 'properties';
  readonly name: string;
  /** Features that have it; 1 for a member of the collection. */
  readonly count: number;
  /** Kinds of features that have it; empty for a member of the collection. */
  readonly kinds: readonly FeatureKind[];
  /** In the order of `jsonTypes`. */
  readonly types: readonly JsonType[];
}

/** How an angle of the features is written. */
export interface AngleSurvey {
  readonly asText: number;
  readonly asNumber: number;
  /** Of all: how many cannot be read as a number. */
  readonly unreadable: number;
}

/** What a collection holds, counted: the whole of it, whatever was selected. */
export interface Survey {
  readonly kinds: Readonly<Record<FeatureKind, number>>;
  readonly withId: number;
  /** Every code that occurs, by field and then number; `number` null for what is no whole number. */
  readonly codes: readonly { readonly field: CodeField; readonly number: number | null; readonly count: number }[];
  readonly yaw: AngleSurvey;
  readonly iconYaw: AngleSurvey;
  /**
   * Features where both angles can be read, and how many of them show the offset of the ledger: reproducible,
   * unexplained.
   */
  readonly icons: { readonly withBoth: number; readonly withOffset: number; readonly offsetDeg: number };
  /** The most frequent first, bounded. */
  readonly carried: readonly CarriedMember[];
  /** How many more names there are than `carried` holds. */
  readonly carriedMore: number;
}

/** One statement of the platform's specification about features, with what this map has of it. */
export interface KnownRow {
  /** not-shown: the specification names it as open; nobody knows. */
  readonly group: 'known' | 'not-shown';
  /** Id in the ledger. */
  readonly fact: string;
  readonly statement: string;
  /** On this very device, where something was recorded for it. */
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
  readonly here: Reading['here'];
  /** One sentence: what this map has of it, or what gw does about it. Text from outside in it is quoted and bounded. */
  readonly found: string;
}

/** A collection looked at: what every output (table, JSON, picture, CSV, GeoJSON) is made from. */
export interface Inspection {
  readonly overlays: Overlays;
  readonly frame: MapFrame | null;
  /** The features that the filters let through, in the order of the collection. */
  readonly selected: readonly Feature[];
  /** About the selected features, and with no filter about the map as a whole. Worst first. */
  readonly findings: readonly OverlayFinding[];
  readonly codeBook: CodeBook;
  /** Every pair of the collection, selected or not. */
  readonly pairs: readonly ChargerPair[];
  readonly survey: Survey;
  /** The chassis that the features are from, and what was verified on it; null when the source names none. */
  readonly device: DeviceEvidence | null;
}
