import { factsFrom, measured, stated } from '../fact.ts';

export const angleFacts = factsFrom("specification, 'Angles'", {
  'angles.tracked-pose-ori': measured(
    'The topic /tracked_pose carries `ori` in degrees.',
    'The mark is implied: the table gives the unit, and the 90 degrees of angles.pose-ori-readback were reported by the chassis, whose only source of state are the topics.',
    { value: 'degrees' },
  ),
  'angles.pose-ori': measured(
    'POST /chassis/pose takes `ori` in radians.',
    'The mark is implied by the observation in angles.pose-ori-readback.',
    { value: 'radians' },
  ),
  'angles.pose-ori-readback': measured(
    'A pose set with `ori` 1.5708 is reported back as 90 degrees.',
    'This one observation ties the units of two fields together. That it was /tracked_pose which reported it follows from the topics being the only source of state.',
    { value: { sentRadians: 1.5708, reportedDegrees: 90 } },
  ),
  'angles.target-ori': stated(
    'POST /chassis/moves takes `target_ori` in radians.',
    'That degrees fail was measured; radians is stated beside it. An order may rely on it because of that measurement.',
    { observedBy: 'angles.target-ori-in-degrees', value: 'radians' },
  ),
  'angles.target-ori-in-degrees': measured(
    'A `target_ori` sent in degrees ends the move with fail_reason 103 (invalid_charge_dock) and an absurd orientation.',
    '103 names a charging dock; whether every kind of move responds to a wrong unit this way is not stated. Never count on it as a guard.',
    { value: 103, source: "specification, 'Angles' and 'Errors'" },
  ),
  'angles.overlay-yaw': stated(
    'Overlays carry `yaw` in degrees, usually as a string.',
    'A row of the table of angles; no observation is stated with it.',
    { value: 'degrees' },
  ),
  'angles.overlay-icon-yaw': stated(
    'Overlays carry `iconYaw` in degrees, usually as a string.',
    'The unit only; the offset of -82 is overlays.icon-yaw-offset.',
    { value: 'degrees' },
  ),
  'angles.wrong-unit-is-silent': stated(
    'A wrong angle unit raises no error on the chassis; the robot simply moves wrongly.',
    'fail_reason 103 is the one exception seen. This is why gw gives angles a type of their own.',
  ),
  'angles.inside-degrees': stated(
    'The server keeps degrees (`yawDeg`); it converts only when it writes `target_ori` and when it reads `target_ori`.',
    'A rule, not a measurement. POST /chassis/pose is written in radians too and has a codec of its own.',
    { value: 'degrees' },
  ),
});
