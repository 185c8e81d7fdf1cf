import type { FactId } from '../../evidence/index.ts';
import type { Severity } from '../model.ts';

/** One rule for overlays. Its title and reason are on the page docs/overlays.md. */
export interface OverlayRule {
  readonly severity: Severity;
  /** An imperative. */
  readonly remedy: string;
  /** The fact that the rule relies on; its mark is the mark of the finding. Without one: the JSON text alone. */
  readonly fact?: FactId;
}

/** A zone smaller than this, in square metres, counts as accidental. Project decision. */
export const MIN_ZONE_M2 = 0.01;
/** A line shorter than this, in metres, counts as accidental. Project decision. */
export const MIN_LANE_M = 0.01;
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
 * Every rule that `findFaults` checks, by the id that findings and the documentation refer to. No source defines valid overlays: the rules are project decisions, and those that
 * rely on a vendor's reading have its mark.
 */
const rules = {
  'not-a-feature-collection': {
    severity: 'note',
    remedy: 'No action needed: gw reads these features as well. Whether the chassis does is not shown.',
    fact: 'vendor.overlays.geojson',
  },
  'no-overlays': {
    severity: 'note',
    remedy: 'Add the points and zones in the map editor, or restore the map from a backup, if it should have some.',
  },
  'no-feature': {
    severity: 'wrong',
    remedy: 'Remove the entry from the collection, or restore the map from a backup.',
  },
  'broken-geometry': { severity: 'wrong', remedy: correct },
  'unknown-geometry': {
    severity: 'not-checked',
    remedy:
      'Write it as points, lines and polygons, or check it in the map editor: gw carries it through unchanged, and whether the robot uses it is unknown.',
  },
  'geometry-elsewhere': {
    severity: 'not-checked',
    remedy:
      'Write it as the geometry of a feature of its own, or check it in the map editor: gw carries it through unchanged, and whether the robot uses it is unknown.',
  },
  'properties-unread': {
    severity: 'not-checked',
    remedy: 'Write `properties` as an object, or check these features in the map editor.',
  },
  'duplicate-id': {
    severity: 'wrong',
    remedy: 'Give each of them a unique id in the map editor, and update references to the old one.',
  },
  'missing-id': {
    severity: 'warning',
    remedy: 'Give them an id in the map editor, or compare maps by geometry.',
    fact: 'vendor.overlays.identifiers',
  },
  'id-not-text': {
    severity: 'warning',
    remedy: 'Write the id as a string in the map editor.',
    fact: 'vendor.overlays.identifiers',
  },
  'id-loses-digits': {
    severity: 'warning',
    remedy: 'Write the id as a string in the map editor, and so every reference to it.',
  },
  'code-not-whole': { severity: 'wrong', remedy: askAuthor },
  'code-missing': { severity: 'warning', remedy: askAuthor, fact: 'vendor.overlays.kind-json-types' },
  'code-of-another-kind': {
    severity: 'not-checked',
    remedy:
      'Write the geometry that the number is for, or the number of the geometry, in the map editor: a zone is a polygon, a lane a line.',
    fact: 'vendor.overlays.kind-json-types',
  },
  'code-unknown': { severity: 'note', remedy: verify },
  'yaw-not-a-number': {
    severity: 'wrong',
    remedy: 'Write the heading in degrees in the map editor.',
    fact: 'angles.overlay-yaw',
  },
  'yaw-like-radians': {
    severity: 'warning',
    remedy: 'Compare the feature with the building, and write the heading in degrees.',
  },
  'yaw-beyond-turn': {
    severity: 'warning',
    remedy: 'Write the heading between -180 and 180 degrees in the map editor.',
    fact: 'angles.overlay-yaw',
  },
  'outside-picture': {
    severity: 'warning',
    remedy: 'Check whether the features belong to this map; move or delete them in the map editor.',
    fact: 'vendor.map.grid',
  },
  'picture-not-checked': {
    severity: 'not-checked',
    remedy: 'Inspect the live map, or name its picture with --image.',
    fact: 'vendor.map.grid',
  },
  'coordinates-like-longitude-latitude': {
    severity: 'warning',
    remedy: 'Ask the author of the file; overlays are in metres, x and y on the map.',
    fact: 'vendor.overlays.geojson',
  },
  'coordinates-beyond-site': {
    severity: 'wrong',
    remedy: 'Ask the author of the file for its unit and reference system; overlays are in metres, x and y on the map.',
  },
  'foreign-reference-system': {
    severity: 'warning',
    remedy: 'Ask the author of the file; overlays are in metres, x and y on the map.',
    fact: 'vendor.overlays.geojson',
  },
  'third-coordinate': {
    severity: 'note',
    remedy: 'No action needed: gw carries them through unchanged. Whether the robot uses them is unknown.',
    fact: 'vendor.overlays.geojson',
  },
  'point-in-no-go-zone': {
    severity: 'warning',
    remedy: 'Move the point or the zone in the map editor. Verify on the device that the zone is a no-go zone.',
    fact: 'vendor.overlays.region-types',
  },
  'ring-no-hole': {
    severity: 'wrong',
    remedy:
      'Write the outline as the first ring, and a separate part as a zone of its own. Until then gw takes every place inside any ring of a no-go zone as inside.',
  },
  'zone-crosses-itself': { severity: 'wrong', remedy: correct },
  'zone-touches-itself': { severity: 'warning', remedy: correct },
  'zone-tiny': { severity: 'warning', remedy: 'Delete it in the map editor, or correct its size.' },
  'lane-tiny': { severity: 'warning', remedy: 'Delete it in the map editor, or correct its end.' },
  'ring-not-closed': {
    severity: 'note',
    remedy: 'No action needed: gw reads the outline as closed.',
    fact: 'vendor.overlays.geojson',
  },
  'charger-without-partner': {
    severity: 'warning',
    remedy:
      'Write the id of its docking point as dockingPointId of the charger, or ask the vendor whether this model needs one.',
    fact: 'vendor.overlays.charger-partner',
  },
  'docking-point-without-charger': {
    severity: 'warning',
    remedy: 'Write its id as dockingPointId of the charger, or delete it in the map editor.',
    fact: 'vendor.overlays.charger-partner',
  },
  'docking-point-shared': {
    severity: 'warning',
    remedy: 'Give each charger its own docking point in the map editor.',
    fact: 'vendor.overlays.charger-partner',
  },
  'charger-shared': {
    severity: 'warning',
    remedy: 'Keep one docking point for the charger: correct the dockingPointId of the charger and of the others.',
    fact: 'vendor.overlays.charger-partner',
  },
  'docking-reference-unresolved': {
    severity: 'warning',
    remedy: 'Write the id of the other item of the station as dockingPointId, or remove the reference.',
    fact: 'vendor.overlays.charger-partner',
  },
  'door-without-controller': {
    severity: 'warning',
    remedy: 'Enter the address of the door controller (mac) in the map editor.',
    fact: 'vendor.overlays.automatic-doors',
  },
  'speed-limit-uninterpreted': {
    severity: 'not-checked',
    remedy: 'Measure on the device whether and how it limits the speed; gw carries the value through.',
    fact: 'overlays.zone-speed-limit-field',
  },
  'name-not-unique': { severity: 'warning', remedy: 'Give each of them a name of its own in the map editor.' },
  'name-with-control-characters': { severity: 'warning', remedy: 'Retype the name in the map editor.' },
  'not-finished': {
    severity: 'not-checked',
    remedy: 'Check these features in the map editor: so many corners, or so many features on one spot, are unusual.',
  },
} as const satisfies Readonly<Record<string, OverlayRule>>;

export type OverlayRuleId = keyof typeof rules;
export const overlayRules: Readonly<Record<OverlayRuleId, OverlayRule>> = rules;
