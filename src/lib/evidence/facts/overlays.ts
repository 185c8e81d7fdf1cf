import { factsOf } from '../fact.ts';

export const overlayFacts = factsOf(
  { mark: 'OFFEN', basis: 'not-shown', source: "specification, 'Map and overlays'" },
  {
    'overlays.map-id': { statement: 'A map is identified by its <map_id>.', mark: 'BELEGT', basis: 'stated' },
    'overlays.map-data': {
      statement: 'A map is available as data: points, zones, position of the robot.',
      mark: 'BELEGT',
      basis: 'stated',
    },
    'overlays.map-image': { statement: 'A map is available as a PNG image.', mark: 'BELEGT', basis: 'stated' },
    'overlays.features': {
      statement: 'Overlays of a map are points, zones and lanes.',
      mark: 'BELEGT',
      basis: 'stated',
      value: ['point', 'zone', 'lane'],
    },
    'overlays.version': {
      statement: 'A map carries `overlays_version`.',
      mark: 'BELEGT',
      basis: 'stated',
      note: 'Whether a write raises it is not known, so gw compares content, never this counter alone.',
    },
    'overlays.point-type': { statement: 'A point has a numeric type.', mark: 'BELEGT', basis: 'stated' },
    'overlays.point-type-11': {
      statement: "Point type 11 is assumed to mean 'Delivery Point'.",
      mark: 'VORSICHT',
      basis: 'assumed',
      value: 'Delivery Point',
      note: 'What was observed is overlays.point-type-11-observed. The vendor reads 11 otherwise. Stations are never derived from it: a person names them in the site file.',
    },
    'overlays.point-type-11-observed': {
      statement: 'Points of type 11 were observed as the stations A, B and C.',
      mark: 'BELEGT',
      basis: 'measured',
      value: ['A', 'B', 'C'],
      note: 'The observation alone: what the type means is only assumed, overlays.point-type-11.',
    },
    'overlays.point-start-end-type': {
      statement: 'Points also have `startType` and `endType`.',
      mark: 'BELEGT',
      basis: 'stated',
    },
    'overlays.start-end-type-meaning': {
      statement: 'What `startType` and `endType` mean is not shown.',
      note: 'Carried through untouched.',
    },
    'overlays.point-kind-numbers': {
      statement: 'The numbers of point kinds such as reception, lift and electric door are not shown.',
      note: 'They depend on the business scenario that is configured.',
    },
    'overlays.lane-direction': {
      statement: 'A lane has a numeric `direction`; the value 3 was observed.',
      mark: 'BELEGT',
      basis: 'measured',
      value: 3,
    },
    'overlays.lane-direction-3': {
      statement: 'What lane `direction` 3 means is not shown.',
      note: 'The number is passed through unchanged.',
    },
    'overlays.zone-region-type': { statement: 'A zone has a numeric `regionType`.', mark: 'BELEGT', basis: 'stated' },
    'overlays.zone-kinds': {
      statement: '24 kinds of zone exist by name.',
      mark: 'BELEGT',
      basis: 'stated',
      value: 24,
      note: 'By name only: none of their numbers is given.',
    },
    'overlays.no-go-region-type': { statement: 'The `regionType` number of a no-go zone is not shown.' },
    'overlays.other-region-types': { statement: 'The `regionType` numbers of the other 23 zone kinds are not shown.' },
    'overlays.zone-speed-limit-field': {
      statement: 'The name of the field that limits the speed in a zone is not shown.',
    },
    'overlays.charging-pair': {
      statement: 'A charging station is a pair of items.',
      mark: 'BELEGT',
      basis: 'stated',
      note: 'Measured was one distance: overlays.charging-pair-distance.',
    },
    'overlays.charging-pair-distance': {
      statement: 'One pair of items of a charging station, measured four times, gave 0.899 m.',
      mark: 'BELEGT',
      basis: 'measured',
      value: 0.899,
      unit: 'm',
      note: 'One pair. gw reads it as the distance between the two. See overlays.charging-pair-distance-constant before using it anywhere else.',
    },
    'overlays.charging-pair-distance-constant': {
      statement: 'Whether 0.899 m is a constant of the series is not shown.',
    },
    'overlays.icon-yaw-offset': {
      statement: 'An `iconYaw` offset of -82 is reproducible.',
      mark: 'BELEGT',
      basis: 'measured',
      value: -82,
      unit: 'degrees',
      note: 'The reference of the offset is not stated; gw compares `iconYaw` with `yaw`. Its cause is overlays.icon-yaw-offset-meaning.',
    },
    'overlays.icon-yaw-offset-meaning': { statement: 'The `iconYaw` offset of -82 is unexplained.' },
    'overlays.icon-yaw-display-only': {
      statement: 'The `iconYaw` offset of -82 seems to affect display only.',
      mark: 'VORSICHT',
      basis: 'assumed',
      note: "The mark is implied by the word 'seems'.",
    },
    'overlays.feature-identifiers': {
      statement: 'Whether the chassis assigns its own identifiers to features that are written is not shown.',
    },
    'overlays.map-fields': {
      statement: 'The fields of a map beyond those named are not shown.',
      source: "specification, 'Other records'",
    },
    'overlays.point-fields': {
      statement: 'The fields of a point beyond those named are not shown.',
      source: "specification, 'Other records'",
    },
    'overlays.zone-fields': {
      statement: 'The fields of a zone beyond those named are not shown.',
      source: "specification, 'Other records'",
    },
    'overlays.lane-fields': {
      statement: 'The fields of a lane beyond those named are not shown.',
      source: "specification, 'Other records'",
    },
  },
);
