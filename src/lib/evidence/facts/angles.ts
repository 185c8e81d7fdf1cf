import type { Fact } from '../fact.ts';

const source = "specification, 'Angles'";

export const angleFacts = [
  {
    id: 'angles.tracked-pose-ori',
    statement: 'The topic /tracked_pose carries `ori` in degrees.',
    mark: 'BELEGT',
    basis: 'measured',
    value: 'degrees',
    source,
    note: 'The mark is implied: the table gives the unit, the 1.5708 observation beside it is the measurement.',
  },
  {
    id: 'angles.pose-ori',
    statement: 'POST /chassis/pose takes `ori` in radians.',
    mark: 'BELEGT',
    basis: 'measured',
    value: 'radians',
    source,
    note: 'The mark is implied by the observation in angles.pose-ori-readback.',
  },
  {
    id: 'angles.pose-ori-readback',
    statement: 'A pose set with `ori` 1.5708 is reported back on /tracked_pose as 90.',
    mark: 'BELEGT',
    basis: 'measured',
    value: { sentRadians: 1.5708, reportedDegrees: 90 },
    source,
    note: 'This one observation ties the units of two fields together.',
  },
  {
    id: 'angles.target-ori',
    statement: 'POST /chassis/moves takes `target_ori` in radians.',
    mark: 'BELEGT',
    basis: 'measured',
    value: 'radians',
    source,
    note: 'The mark is implied by the observation in angles.target-ori-in-degrees.',
  },
  {
    id: 'angles.target-ori-in-degrees',
    statement:
      'A `target_ori` sent in degrees ends the move with fail_reason 103 (invalid_charge_dock) and an absurd orientation.',
    mark: 'BELEGT',
    basis: 'measured',
    value: 103,
    source: "specification, 'Angles' and 'Errors'",
    note: '103 names a charging dock; that every kind of move answers a wrong unit so is not said. Never count on it as a guard.',
  },
  {
    id: 'angles.overlay-yaw',
    statement: 'Drawings carry `yaw` in degrees, usually as a string.',
    mark: 'BELEGT',
    basis: 'measured',
    value: 'degrees',
    source,
    note: 'The mark is implied: a row of the same table as the measured units.',
  },
  {
    id: 'angles.overlay-icon-yaw',
    statement: 'Drawings carry `iconYaw` in degrees, usually as a string.',
    mark: 'BELEGT',
    basis: 'measured',
    value: 'degrees',
    source,
    note: 'The unit only. What the offset of -82 is for stays open: overlays.icon-yaw-offset-meaning.',
  },
  {
    id: 'angles.wrong-unit-is-silent',
    statement: 'A wrong angle unit raises no error on the chassis; the robot simply moves wrongly.',
    mark: 'BELEGT',
    basis: 'stated',
    source,
    note: 'fail_reason 103 is the one exception seen. This is why gw gives angles a type of their own.',
  },
  {
    id: 'angles.inside-degrees',
    statement:
      'The server keeps degrees (`yawDeg`); it converts only when it writes `target_ori` and when it reads `target_ori`.',
    mark: 'BELEGT',
    basis: 'stated',
    value: 'degrees',
    source,
    note: 'A rule, not a measurement. POST /chassis/pose is written in radians too and has a codec of its own.',
  },
] as const satisfies readonly Fact[];
