import type { FactId } from '../../evidence/index.ts';
import type { Severity } from '../model.ts';

/** One thing that can be wrong with features. */
export interface OverlayRule {
  /** Never changes its meaning: findings and the documentation refer to it. */
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  /** What somebody can do about it. */
  readonly remedy: string;
  /** Why it is a fault, and where a number in it is a decision of ours, that it is. */
  readonly why: string;
  /** What the rule relies on; its mark is the mark of the finding. null: the feature speaks for itself. */
  readonly fact: FactId | null;
}

/** A zone smaller than this, in square metres, is taken for a slip of the hand. Decision of ours. */
export const TINY_ZONE_M2 = 0.01;
/** All features within this box, in the unit of the coordinates: 5 cm, or in degrees some 5 km. Project decision. */
export const ONE_SPOT = 0.05;
/** No dry land lies nearer to 0° north, 0° east than this, in degrees; the origin of a map in metres is in the building. */
export const FARTHEST_FROM_LAND_DEG = 4;
/** A heading beyond one turn, in degrees, either way. Decision of ours. */
export const WIDEST_YAW_DEG = 360;

const redraw = 'Mend the feature in the map editor.';
const askAuthor = 'Ask whoever drew the map what is meant, and mend the feature in the map editor.';
const verify =
  'Find out on the device what it means and record it with gw evidence record; until then build nothing on it.';

/**
 * Every rule that `findFaults` checks. What makes a feature broken is shown nowhere: the rules are decisions of ours,
 * and those that lean on a reading of the vendor carry its mark.
 */
export const overlayRules = [
  {
    id: 'not-a-feature-collection',
    title: 'The overlays are not written as a FeatureCollection',
    severity: 'note',
    remedy: 'Nothing to do for gw: it reads the features all the same. Whether the chassis does is not shown.',
    why: 'A list of features, a single one, and an object with `features` and no `type` are read as a collection.',
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'no-feature',
    title: 'An entry of the collection is no feature',
    severity: 'wrong',
    remedy: 'Take the entry out of the collection, or restore the map from a backup.',
    why: 'A collection holds objects; anything else there is damage.',
    fact: null,
  },
  {
    id: 'broken-geometry',
    title: 'The coordinates of a feature are none',
    severity: 'wrong',
    remedy: redraw,
    why: 'A place is two finite numbers, a line has at least two places, a zone at least three corners.',
    fact: null,
  },
  {
    id: 'unknown-geometry',
    title: 'A feature that gw does not draw',
    severity: 'note',
    remedy: 'Nothing to do for gw: it is carried through as it is. Whether the robot heeds it is not known.',
    why: 'Points, lanes and zones are known; other geometries, and features without one, are carried through unchecked.',
    fact: null,
  },
  {
    id: 'duplicate-id',
    title: 'Several features have the same id',
    severity: 'wrong',
    remedy: 'Give each of them an id of its own in the map editor; mind what refers to the old one.',
    why: 'A reference to this id (the partner of a charger) has no single answer, nor has a comparison of two maps.',
    fact: null,
  },
  {
    id: 'missing-id',
    title: 'Features without an id',
    severity: 'warning',
    remedy: 'Give them an id in the map editor, or compare maps by geometry.',
    why: 'Nothing can refer to such a feature, and after a change it is recognised by its geometry only. An id may be absent.',
    fact: 'vendor.overlays.identifiers',
  },
  {
    id: 'id-not-text',
    title: 'An id that is no text',
    severity: 'warning',
    remedy: 'Write the id as a text in the map editor.',
    why: 'Every id seen in vendor texts is a text; whether another kind of value is found again is not known.',
    fact: 'vendor.overlays.identifiers',
  },
  {
    id: 'code-not-whole',
    title: 'A code that is no whole number',
    severity: 'wrong',
    remedy: askAuthor,
    why: 'The kinds of points, lanes and zones are numbers.',
    fact: null,
  },
  {
    id: 'code-missing',
    title: 'Features that do not say of what kind they are',
    severity: 'warning',
    remedy: askAuthor,
    why: 'Points carry `type`, lines `lineType`, zones `regionType`; without it nobody can tell what the feature does.',
    fact: 'vendor.overlays.kind-json-types',
  },
  {
    id: 'code-unknown',
    title: 'A code whose meaning nobody knows',
    severity: 'note',
    remedy: verify,
    why: 'A number without a reading is passed through as it is.',
    fact: null,
  },
  {
    id: 'yaw-not-a-number',
    title: 'A heading that is no number',
    severity: 'wrong',
    remedy: 'Write the heading in degrees in the map editor.',
    why: '`yaw` and `iconYaw` are degrees, as a number or as a text with a number in it.',
    fact: 'angles.overlay-yaw',
  },
  {
    id: 'yaw-like-radians',
    title: 'A heading that looks like radians',
    severity: 'warning',
    remedy: 'Compare the feature with the place itself, and write the heading in degrees.',
    why: 'To the digits written it is a usual turn in radians (a multiple of π/12, with two digits of π/4), while degrees are mostly whole. A suspicion of ours: gw keeps reading it as degrees.',
    fact: null,
  },
  {
    id: 'yaw-beyond-turn',
    title: 'A heading beyond a full turn',
    severity: 'warning',
    remedy: 'Write the heading between -180 and 180 degrees in the map editor.',
    why: 'More than 360 degrees either way is the same direction written oddly, or a slip of the decimal point.',
    fact: 'angles.overlay-yaw',
  },
  {
    id: 'outside-picture',
    title: 'Features outside the picture of the map',
    severity: 'warning',
    remedy: 'Check whether the features belong to this map; move or delete them in the map editor.',
    why: 'Where there is no picture nothing was mapped. Points count, and lanes and zones that lie outside altogether.',
    fact: 'vendor.map.grid',
  },
  {
    id: 'picture-not-checked',
    title: 'Whether features lie within the picture',
    severity: 'not-checked',
    remedy: 'Look at the live map, or name its picture with --image.',
    why: 'Without the grid and the size of the picture its edges are not known.',
    fact: 'vendor.map.grid',
  },
  {
    id: 'coordinates-like-longitude-latitude',
    title: 'Coordinates that look like longitude and latitude',
    severity: 'warning',
    remedy: 'Ask whoever made the file; overlays of a map are written in metres, x and y on the map.',
    why: `At least three features in different places all lie within ${ONE_SPOT} of each other, at least ${FARTHEST_FROM_LAND_DEG} from the origin and within 180 and 90: in metres one spot, in degrees a site. A suspicion, a project decision: gw keeps reading them as metres. A file that spans more than a site is not recognised.`,
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'point-in-no-go-zone',
    title: 'Points inside a no-go zone',
    severity: 'warning',
    remedy: 'Move the point or the zone in the map editor. Check on the device that the zone is one.',
    why: 'The robot would not be able to reach such a point, if the number of the zone means what the vendor says.',
    fact: 'vendor.overlays.region-types',
  },
  {
    id: 'zone-crosses-itself',
    title: 'A zone whose outline crosses itself',
    severity: 'wrong',
    remedy: redraw,
    why: 'What lies inside such an outline depends on who reads it.',
    fact: null,
  },
  {
    id: 'zone-touches-itself',
    title: 'A zone whose outline touches itself',
    severity: 'warning',
    remedy: redraw,
    why: 'An outline that meets itself in a corner or runs back along itself is a slip, and may be a crossing in a corner.',
    fact: null,
  },
  {
    id: 'zone-tiny',
    title: 'A zone that is tiny',
    severity: 'warning',
    remedy: 'Delete it in the map editor, or draw it in its true size.',
    why: `Less than ${TINY_ZONE_M2} m² (a square of 10 cm) is a slip of the hand rather than a zone. The threshold is ours.`,
    fact: null,
  },
  {
    id: 'ring-not-closed',
    title: 'Zones whose outline does not end where it begins',
    severity: 'note',
    remedy: 'Nothing to do: gw reads the outline as closed.',
    why: 'Both forms occur in vendor texts.',
    fact: 'vendor.overlays.geojson',
  },
  {
    id: 'charger-without-partner',
    title: 'A charger without its docking point',
    severity: 'warning',
    remedy:
      'Write the id of its docking point as dockingPointId of the charger, or ask the vendor whether this model needs one.',
    why: 'A charging station is a pair of items; which two belong together is by a field of the vendor.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'docking-point-without-charger',
    title: 'A docking point without its charger',
    severity: 'warning',
    remedy: 'Write its id as dockingPointId of the charger, or delete it in the map editor.',
    why: 'A charging station is a pair of items, and a reference from either of them counts. One that belongs to a rack is no charging station.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'docking-point-shared',
    title: 'A docking point of several chargers',
    severity: 'warning',
    remedy: 'Give each charger its own docking point in the map editor.',
    why: 'A charging station is a pair of items, not three.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'charger-shared',
    title: 'A charger of several docking points',
    severity: 'warning',
    remedy: 'Leave one docking point to the charger: correct the dockingPointId of the charger and of the others.',
    why: 'A charging station is a pair of items, not three; which one the robot drives to is not known.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'docking-reference-unresolved',
    title: 'A charging station with a reference that leads elsewhere',
    severity: 'warning',
    remedy: 'Write the id of the other item of the station as dockingPointId, or remove the reference.',
    why: 'One of the two names the other, which itself names something else; which reference the robot reads is not known.',
    fact: 'vendor.overlays.charger-partner',
  },
  {
    id: 'door-without-controller',
    title: 'A door zone without its controller',
    severity: 'warning',
    remedy: 'Enter the address of the door controller (mac) in the map editor.',
    why: 'The robot asks the controller by radio to open; without `mac` there is nobody to ask.',
    fact: 'vendor.overlays.automatic-doors',
  },
  {
    id: 'speed-limit-uninterpreted',
    title: 'A property that may limit the speed',
    severity: 'not-checked',
    remedy: 'Measure on the device whether and how it slows the robot down; gw carries the value through.',
    why: 'Its name contains speed, velocity or limit. Which field limits the speed, and in which unit, is not shown.',
    fact: 'overlays.zone-speed-limit-field',
  },
  {
    id: 'name-with-control-characters',
    title: 'A name with characters that cannot be seen',
    severity: 'warning',
    remedy: 'Type the name anew in the map editor.',
    why: 'Control characters, and those that turn the direction of writing, make a name look like another one.',
    fact: null,
  },
  {
    id: 'not-finished',
    title: 'A check that was not finished',
    severity: 'not-checked',
    remedy: 'Look at these features in the map editor: outlines of so many corners, or so many on one spot, are odd.',
    why: 'Each check may take a bounded number of steps, so that no map can hold up the program. The bound is ours.',
    fact: null,
  },
] as const satisfies readonly OverlayRule[];

export type OverlayRuleId = (typeof overlayRules)[number]['id'];
