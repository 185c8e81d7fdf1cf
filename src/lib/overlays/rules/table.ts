import type { FactId } from '../../evidence/index.ts';
import type { Severity } from '../model.ts';

/** One rule for overlays. */
export interface OverlayRule {
  /** Stable: findings and the documentation refer to it. */
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  /** An imperative. */
  readonly remedy: string;
  /** Why it is a fault; a project decision in it is named as such. */
  readonly reason: string;
  /** The fact that the rule relies on; its mark is the mark of the finding. null: the JSON text alone. */
  readonly fact: FactId | null;
}

/** A zone smaller than this, in square metres, counts as accidental. Project decision. */
export const MIN_ZONE_M2 = 0.01;
/** Largest extent of all features, in the unit of the coordinates: 5 cm, or in degrees about 5 km. Project decision. */
export const MAX_SPOT_EXTENT = 0.05;
/** No land is nearer to 0° north, 0° east than this, in degrees; the origin of a map in metres is in the building. */
export const MIN_LAND_DISTANCE_DEG = 4;
/** A coordinate beyond this, in metres, is in another unit or system: no order of gw accepts it. Project decision. */
export const MAX_COORDINATE_M = 10_000;
/** Largest absolute heading in degrees. Project decision. */
export const MAX_YAW_DEG = 360;

const correct = 'Correct the feature in the map editor.';
const askAuthor = 'Ask the author of the map what is meant, and correct the feature in the map editor.';
const verify = 'Determine the meaning on the device and record it with gw evidence record; do not rely on it before.';

/**
 * Every rule that `findFaults` checks. No source defines valid overlays: the rules are project decisions, and those that
 * rely on a vendor's reading have its mark.
 */
export const overlayRules = [
  {
    id: 'not-a-feature-collection',
    title: 'The overlays are not written as a FeatureCollection',
    severity: 'note',
    remedy: 'No action needed: gw reads these features as well. Whether the chassis does is not shown.',
    reason: 'A list of features, a single one, and an object with `features` and no `type` are read as a collection.',
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'no-overlays',
    title: 'A map without overlays',
    severity: 'note',
    remedy: 'Add the points and zones in the map editor, or restore the map from a backup, if it should have some.',
    reason: 'Without overlays the map has no station, no charger and no zone; whether that is meant is unknown.',
    fact: null,
  },
  {
    id: 'no-feature',
    title: 'An entry of the collection is not a feature',
    severity: 'wrong',
    remedy: 'Remove the entry from the collection, or restore the map from a backup.',
    reason: 'A collection holds objects; any other entry is damage.',
    fact: null,
  },
  {
    id: 'broken-geometry',
    title: 'Invalid coordinates of a feature',
    severity: 'wrong',
    remedy: correct,
    reason: 'A place is two finite numbers, a line has at least two places, a zone at least three corners.',
    fact: null,
  },
  {
    id: 'unknown-geometry',
    title: 'A geometry that gw does not render',
    severity: 'note',
    remedy: 'No action needed: gw carries it through unchanged. Whether the robot uses it is unknown.',
    reason:
      'Points, lines, polygons and several polygons are interpreted; other geometries, and features without one, are carried through unchecked.',
    fact: null,
  },
  {
    id: 'duplicate-id',
    title: 'Several features have the same id',
    severity: 'wrong',
    remedy: 'Give each of them a unique id in the map editor, and update references to the old one.',
    reason: 'A reference to this id (the partner of a charger) is ambiguous, and so is a comparison of two maps.',
    fact: null,
  },
  {
    id: 'missing-id',
    title: 'Features without an id',
    severity: 'warning',
    remedy: 'Give them an id in the map editor, or compare maps by geometry.',
    reason: 'Such a feature cannot be referred to, and a comparison matches it by geometry only. An id may be absent.',
    fact: 'vendor.overlays.identifiers',
  },
  {
    id: 'id-not-text',
    title: 'An id that is not a string',
    severity: 'warning',
    remedy: 'Write the id as a string in the map editor.',
    reason: 'Every id in vendor texts is a string; whether the chassis accepts another type is unknown.',
    fact: 'vendor.overlays.identifiers',
  },
  {
    id: 'id-loses-digits',
    title: 'An id that loses digits',
    severity: 'warning',
    remedy: 'Write the id as a string in the map editor, and so every reference to it.',
    reason:
      'Numbers beyond ±9007199254740991 are rounded by most programs, so that two ids become one. gw compares and shows all digits as written; other programs may not.',
    fact: null,
  },
  {
    id: 'code-not-whole',
    title: 'A code that is not a whole number',
    severity: 'wrong',
    remedy: askAuthor,
    reason: 'The kinds of points, lanes and zones are numbers.',
    fact: null,
  },
  {
    id: 'code-missing',
    title: 'Features without the number of their kind',
    severity: 'warning',
    remedy: askAuthor,
    reason:
      'Points carry `type`, lines `lineType`, zones `regionType`; without it the purpose of the feature is unknown.',
    fact: 'vendor.overlays.kind-json-types',
  },
  {
    id: 'code-unknown',
    title: 'A code of unknown meaning',
    severity: 'note',
    remedy: verify,
    reason: 'A number without a reading is carried through unchanged.',
    fact: null,
  },
  {
    id: 'yaw-not-a-number',
    title: 'A heading that is not a number',
    severity: 'wrong',
    remedy: 'Write the heading in degrees in the map editor.',
    reason: '`yaw` and `iconYaw` are degrees, as a number or as a string with a number.',
    fact: 'angles.overlay-yaw',
  },
  {
    id: 'yaw-like-radians',
    title: 'A heading that looks like radians',
    severity: 'warning',
    remedy: 'Compare the feature with the building, and write the heading in degrees.',
    reason:
      'To the written digits it equals a common angle in radians (a multiple of π/12, with two decimals of π/4), while degrees are mostly whole. A heuristic, a project decision: gw keeps reading it as degrees.',
    fact: null,
  },
  {
    id: 'yaw-beyond-turn',
    title: 'A heading beyond a full turn',
    severity: 'warning',
    remedy: 'Write the heading between -180 and 180 degrees in the map editor.',
    reason: 'More than 360 degrees in either direction is an unusual notation or a misplaced decimal point.',
    fact: 'angles.overlay-yaw',
  },
  {
    id: 'outside-picture',
    title: 'Features outside the picture of the map',
    severity: 'warning',
    remedy: 'Check whether the features belong to this map; move or delete them in the map editor.',
    reason: 'Outside the picture nothing was mapped. Points count, and lanes and zones that are entirely outside.',
    fact: 'vendor.map.grid',
  },
  {
    id: 'picture-not-checked',
    title: 'Features within the picture: not checked',
    severity: 'not-checked',
    remedy: 'Inspect the live map, or name its picture with --image.',
    reason: 'Without the grid and the size of the picture its edges are unknown.',
    fact: 'vendor.map.grid',
  },
  {
    id: 'coordinates-like-longitude-latitude',
    title: 'Coordinates that look like longitude and latitude',
    severity: 'warning',
    remedy: 'Ask the author of the file; overlays are in metres, x and y on the map.',
    reason: `At least three features in different places are all within ${MAX_SPOT_EXTENT} of each other, at least ${MIN_LAND_DISTANCE_DEG} from the origin and within 180 and 90: in metres one spot, in degrees a site. A heuristic, a project decision: gw keeps reading them as metres. A file that spans more than a site is not recognised.`,
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'coordinates-beyond-site',
    title: 'Coordinates beyond any site',
    severity: 'wrong',
    remedy: 'Ask the author of the file for its unit and reference system; overlays are in metres, x and y on the map.',
    reason: `No site reaches ${MAX_COORDINATE_M / 1_000} km from the origin of its map, and gw accepts no order beyond; systems of a whole country have such numbers. A project decision: gw keeps reading them as metres.`,
    fact: null,
  },
  {
    id: 'foreign-reference-system',
    title: 'A reference system of its own',
    severity: 'warning',
    remedy: 'Ask the author of the file; overlays are in metres, x and y on the map.',
    reason:
      'The member `crs` (GeoJSON of 2008) says that the coordinates are in another system. gw does not interpret it and keeps reading them as metres of the map.',
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'third-coordinate',
    title: 'Places of more than two coordinates',
    severity: 'note',
    remedy: 'No action needed: gw carries them through unchanged. Whether the robot uses them is unknown.',
    reason: 'Only x and y are read; a height is neither shown nor checked.',
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'point-in-no-go-zone',
    title: 'Points inside a no-go zone',
    severity: 'warning',
    remedy: 'Move the point or the zone in the map editor. Verify on the device that the zone is a no-go zone.',
    reason: "The robot cannot reach such a point if the vendor's reading of the zone number applies.",
    fact: 'vendor.overlays.region-types',
  },
  {
    id: 'zone-crosses-itself',
    title: 'A zone whose outline crosses itself',
    severity: 'wrong',
    remedy: correct,
    reason: 'The inside of such an outline is ambiguous.',
    fact: null,
  },
  {
    id: 'zone-touches-itself',
    title: 'A zone whose outline touches itself',
    severity: 'warning',
    remedy: correct,
    reason:
      'An outline that meets itself at a corner or runs back along itself is an error, and may be a crossing at a corner.',
    fact: null,
  },
  {
    id: 'zone-tiny',
    title: 'A tiny zone',
    severity: 'warning',
    remedy: 'Delete it in the map editor, or correct its size.',
    reason: `Less than ${MIN_ZONE_M2} m² (a square of 10 cm) is an accident rather than a zone. The threshold is a project decision.`,
    fact: null,
  },
  {
    id: 'ring-not-closed',
    title: 'Zones with an unclosed outline',
    severity: 'note',
    remedy: 'No action needed: gw reads the outline as closed.',
    reason: 'Both forms occur in vendor texts.',
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'charger-without-partner',
    title: 'A charger without its docking point',
    severity: 'warning',
    remedy:
      'Write the id of its docking point as dockingPointId of the charger, or ask the vendor whether this model needs one.',
    reason: 'A charging station is a pair of items; which two belong together follows from a vendor field.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'docking-point-without-charger',
    title: 'A docking point without its charger',
    severity: 'warning',
    remedy: 'Write its id as dockingPointId of the charger, or delete it in the map editor.',
    reason:
      'A charging station is a pair of items, and a reference on either of them counts. A docking point of a rack is not part of a charging station.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'docking-point-shared',
    title: 'A docking point of several chargers',
    severity: 'warning',
    remedy: 'Give each charger its own docking point in the map editor.',
    reason: 'A charging station is a pair of items, not three.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'charger-shared',
    title: 'A charger of several docking points',
    severity: 'warning',
    remedy: 'Keep one docking point for the charger: correct the dockingPointId of the charger and of the others.',
    reason: 'A charging station is a pair of items, not three; which one the robot drives to is unknown.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'docking-reference-unresolved',
    title: 'A charging station with an unresolved reference',
    severity: 'warning',
    remedy: 'Write the id of the other item of the station as dockingPointId, or remove the reference.',
    reason:
      'One of the two refers to the other, which itself refers elsewhere; which reference the robot uses is unknown.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'door-without-controller',
    title: 'A door zone without its controller',
    severity: 'warning',
    remedy: 'Enter the address of the door controller (mac) in the map editor.',
    reason: 'The robot sends the open request to the controller by radio; without `mac` it has no address.',
    fact: 'vendor.overlays.automatic-doors',
  },
  {
    id: 'speed-limit-uninterpreted',
    title: 'A property that may limit the speed',
    severity: 'not-checked',
    remedy: 'Measure on the device whether and how it limits the speed; gw carries the value through.',
    reason:
      'Its name contains speed, velocity or limit. Which field limits the speed, and in which unit, is not shown.',
    fact: 'overlays.zone-speed-limit-field',
  },
  {
    id: 'name-with-control-characters',
    title: 'A name with invisible characters',
    severity: 'warning',
    remedy: 'Retype the name in the map editor.',
    reason: 'Control characters, direction marks and characters of no width make a name look like another one.',
    fact: null,
  },
  {
    id: 'not-finished',
    title: 'An unfinished check',
    severity: 'not-checked',
    remedy: 'Check these features in the map editor: so many corners, or so many features on one spot, are unusual.',
    reason: 'Each check has a limit of steps, so that no map can block the program. The limit is a project decision.',
    fact: null,
  },
] as const satisfies readonly OverlayRule[];

export type OverlayRuleId = (typeof overlayRules)[number]['id'];
