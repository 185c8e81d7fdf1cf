import { assumed, factsFrom, measured, notShown, stated } from '../fact.ts';

export const overlayFacts = [
  ...factsFrom("specification, 'Map and overlays'", {
    'overlays.map-id': stated('A map is identified by its <map_id>.'),
    'overlays.map-data': stated('A map is available as data: points, zones, position of the robot.'),
    'overlays.map-image': stated('A map is available as a PNG image.'),
    'overlays.features': stated('Overlays of a map are points, zones and lanes.', { value: ['point', 'zone', 'lane'] }),
    'overlays.version': stated(
      'A map carries `overlays_version`.',
      'Whether a write raises it is not known, so gw compares content, never this counter alone.',
    ),
    'overlays.point-type': stated('A point has a numeric type.'),
    'overlays.point-type-11': assumed(
      "Point type 11 is assumed to mean 'Delivery Point'.",
      'What was observed is overlays.point-type-11-observed. The vendor reads 11 otherwise. Stations are never derived from it: a person names them in the site file.',
      { value: 'Delivery Point' },
    ),
    'overlays.point-type-11-observed': measured(
      'Points of type 11 were observed as the stations A, B and C.',
      'The observation alone: what the type means is only assumed, overlays.point-type-11.',
      { value: ['A', 'B', 'C'] },
    ),
    'overlays.point-start-end-type': stated('Points also have `startType` and `endType`.'),
    'overlays.start-end-type-meaning': notShown(
      'What `startType` and `endType` mean is not shown.',
      'Carried through untouched.',
    ),
    'overlays.point-kind-numbers': notShown(
      'The numbers of point kinds such as reception, lift and electric door are not shown.',
      'They depend on the business scenario that is configured.',
    ),
    'overlays.lane-direction': measured('A lane has a numeric `direction`; the value 3 was observed.', { value: 3 }),
    'overlays.lane-direction-3': notShown(
      'What lane `direction` 3 means is not shown.',
      'The number is passed through unchanged.',
    ),
    'overlays.zone-region-type': stated('A zone has a numeric `regionType`.'),
    'overlays.zone-kinds': stated('24 kinds of zone exist by name.', 'By name only: none of their numbers is given.', {
      value: 24,
    }),
    'overlays.no-go-region-type': notShown('The `regionType` number of a no-go zone is not shown.'),
    'overlays.other-region-types': notShown('The `regionType` numbers of the other 23 zone kinds are not shown.'),
    'overlays.zone-speed-limit-field': notShown('The name of the field that limits the speed in a zone is not shown.'),
    'overlays.charging-pair': stated(
      'A charging station is a pair of items.',
      'Measured was one distance: overlays.charging-pair-distance.',
    ),
    'overlays.charging-pair-distance': measured(
      'One pair of items of a charging station, measured four times, gave 0.899 m.',
      'One pair. gw reads it as the distance between the two. See overlays.charging-pair-distance-constant before using it anywhere else.',
      { value: 0.899, unit: 'm' },
    ),
    'overlays.charging-pair-distance-constant': notShown('Whether 0.899 m is a constant of the series is not shown.'),
    'overlays.icon-yaw-offset': measured(
      'An `iconYaw` offset of -82 is reproducible.',
      'The reference of the offset is not stated; gw compares `iconYaw` with `yaw`. Its cause is overlays.icon-yaw-offset-meaning.',
      { value: -82, unit: 'degrees' },
    ),
    'overlays.icon-yaw-offset-meaning': notShown('The `iconYaw` offset of -82 is unexplained.'),
    'overlays.icon-yaw-display-only': assumed(
      'The `iconYaw` offset of -82 seems to affect display only.',
      "The mark is implied by the word 'seems'.",
    ),
    'overlays.feature-identifiers': notShown(
      'Whether the chassis assigns its own identifiers to features that are written is not shown.',
    ),
  }),
  ...factsFrom("specification, 'Other records'", {
    'overlays.map-fields': notShown('The fields of a map beyond those named are not shown.'),
    'overlays.point-fields': notShown('The fields of a point beyond those named are not shown.'),
    'overlays.zone-fields': notShown('The fields of a zone beyond those named are not shown.'),
    'overlays.lane-fields': notShown('The fields of a lane beyond those named are not shown.'),
  }),
];
