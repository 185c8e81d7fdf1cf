import { assumed, factsFrom, measured, notShown, stated } from '../fact.ts';

export const chassisFacts = factsFrom("specification, 'Chassis interface'", {
  'chassis.interface': stated('The chassis is a vendor device with an HTTP and WebSocket interface on TCP port 8090.', {
    value: 8090,
  }),
  'chassis.no-authentication': stated(
    'The chassis requires no authentication at all: any client that reaches port 8090 can drive the robot.',
    'The reason for the robot segment. A vendor text says otherwise: disagreement.c2-authentication.',
    { source: "specification, 'Chassis interface' and 'Authentication'" },
  ),
  'chassis.serial-identity': stated(
    'The chassis serial number is the identity of the device, never its address.',
    'It is also the cloud thing name, the MQTT client id and a part of every topic path.',
    { source: "specification, 'Device' and 'Addressing rules'" },
  ),
  'chassis.device-info': stated(
    'GET /device/info gives device information.',
    'Which fields it has is not shown: chassis.payload-shapes.',
  ),
  'chassis.moves': stated(
    'POST /chassis/moves moves the robot; it carries `target_ori`.',
    'Of its body only target_ori is shown; the rest is vendor.move.request.',
  ),
  'chassis.fail-reason': stated('A failed move is reported in `fail_reason`.'),
  'chassis.pose': stated(
    'POST /chassis/pose sets the pose; it carries `ori`.',
    'Of its body only ori is shown; the rest is vendor.pose.request.',
  ),
  'chassis.topics': stated(
    'The WebSocket /ws/v2/topics is the only source of state; its topic /tracked_pose carries `ori`.',
    { value: '/ws/v2/topics' },
  ),
  'chassis.websocket-version': stated('The path of the chassis WebSocket carries the version element v2.', {
    value: 'v2',
    source: "specification, 'Versioning'",
  }),
  'chassis.patch-maps': assumed(
    'PATCH /maps/<map_id> changes the overlays of a map; it was never measured on a real device.',
    'The mark is implied: the call is named, its effect has no evidence. gw writes only with a backup, an explicit flag and a comparison afterwards.',
  ),
  'chassis.restart-loses-maps': measured(
    'After restart_service the maps were gone. Seen twice.',
    'The effect only; the cause is chassis.restart-loses-maps-cause.',
    { value: 2, unit: 'times' },
  ),
  'chassis.restart-loses-maps-cause': notShown(
    'Why the maps were gone after restart_service is unverified.',
    "The mark is implied by the words 'cause unverified'.",
  ),
  'chassis.fail-reason-103': measured(
    'fail_reason 103 is invalid_charge_dock; it was seen when `target_ori` was sent in degrees.',
    'Compared as a number, never by name.',
    { value: 103, source: "specification, 'Errors' and 'Angles'" },
  ),
  'chassis.fail-reasons': notShown(
    'What the other values of fail_reason mean is not shown.',
    'The number is passed through. The names that the vendor gives are vendor.fail-reasons.',
    { source: "specification, 'Errors'" },
  ),
  'chassis.move-states': notShown('States and transitions of a move order are not shown.', {
    source: "specification, 'States and transitions'",
  }),
  'chassis.move-pause': notShown('Whether a move order can be paused, by a state or by a service, is not shown.', {
    source: "specification, 'States and transitions'",
  }),
  'chassis.clock-and-zone': notShown('Where the chassis shows its clock and its time zone is not shown.', {
    source: "specification, 'Map and overlays'",
  }),
  'chassis.payload-shapes': notShown(
    'Request and answer shapes of the chassis calls beyond the fields named are not shown.',
    'gw takes them from the vendor as HINWEIS and keeps unknown fields.',
    { source: "specification, 'Operator server'" },
  ),
  'chassis.one-device': stated('Every measurement of the chassis was taken on one device with one software version.', {
    source: "specification, 'Versioning'",
  }),
  'chassis.series-constants': notShown('Whether any measured value is a constant of the series is unknown.', {
    source: "specification, 'Versioning'",
  }),
});
