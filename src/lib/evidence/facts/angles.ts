import { factsOf } from '../fact.ts';

export const angleFacts = factsOf(
  { mark: 'BELEGT', basis: 'stated', source: "specification, 'Angles'" },
  {
    'angles.tracked-pose-ori': {
      statement: 'The topic /tracked_pose carries `ori` in degrees.',
      basis: 'measured',
      value: 'degrees',
      note: 'The mark is implied: the table gives the unit, and the 90 degrees of angles.pose-ori-readback were reported by the chassis, whose only source of state are the topics.',
    },
    'angles.pose-ori': {
      statement: 'POST /chassis/pose takes `ori` in radians.',
      basis: 'measured',
      value: 'radians',
      note: 'The mark is implied by the observation in angles.pose-ori-readback.',
    },
    'angles.pose-ori-readback': {
      statement: 'A pose set with `ori` 1.5708 is reported back as 90 degrees.',
      basis: 'measured',
      value: { sentRadians: 1.5708, reportedDegrees: 90 },
      note: 'This one observation ties the units of two fields together. That it was /tracked_pose which reported it follows from the topics being the only source of state.',
    },
    'angles.target-ori': {
      statement: 'POST /chassis/moves takes `target_ori` in radians.',
      observedBy: 'angles.target-ori-in-degrees',
      value: 'radians',
      note: 'That degrees fail was measured; radians is stated beside it. An order may rely on it because of that measurement.',
    },
    'angles.target-ori-in-degrees': {
      statement:
        'A `target_ori` sent in degrees ends the move with fail_reason 103 (invalid_charge_dock) and an absurd orientation.',
      basis: 'measured',
      value: 103,
      source: "specification, 'Angles' and 'Errors'",
      note: '103 names a charging dock; whether every kind of move responds to a wrong unit this way is not stated. Never count on it as a guard.',
    },
    'angles.overlay-yaw': {
      statement: 'Overlays carry `yaw` in degrees, usually as a string.',
      value: 'degrees',
      note: 'A row of the table of angles; no observation is stated with it.',
    },
    'angles.overlay-icon-yaw': {
      statement: 'Overlays carry `iconYaw` in degrees, usually as a string.',
      value: 'degrees',
      note: 'The unit only; the offset of -82 is overlays.icon-yaw-offset.',
    },
    'angles.wrong-unit-is-silent': {
      statement: 'A wrong angle unit raises no error on the chassis; the robot simply moves wrongly.',
      note: 'fail_reason 103 is the one exception seen. This is why gw gives angles a type of their own.',
    },
    'angles.inside-degrees': {
      statement:
        'The server keeps degrees (`yawDeg`); it converts only when it writes `target_ori` and when it reads `target_ori`.',
      value: 'degrees',
      note: 'A rule, not a measurement. POST /chassis/pose is written in radians too and has a codec of its own.',
    },
  },
);
