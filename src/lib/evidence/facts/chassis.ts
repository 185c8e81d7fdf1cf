import { factsOf } from '../fact.ts';

export const chassisFacts = factsOf(
  { mark: 'BELEGT', basis: 'stated', source: "specification, 'Chassis interface'" },
  {
    'chassis.interface': {
      statement: 'The chassis is a vendor device with an HTTP and WebSocket interface on TCP port 8090.',
      value: 8090,
    },
    'chassis.no-authentication': {
      statement:
        'The chassis requires no authentication at all: any client that reaches port 8090 can drive the robot.',
      source: "specification, 'Chassis interface' and 'Authentication'",
      note: 'The reason for the robot segment. A vendor text says otherwise: disagreement.c2-authentication.',
    },
    'chassis.serial-identity': {
      statement: 'The chassis serial number is the identity of the device, never its address.',
      source: "specification, 'Device' and 'Addressing rules'",
      note: 'It is also the cloud thing name, the MQTT client id and a part of every topic path.',
    },
    'chassis.device-info': {
      statement: 'GET /device/info gives device information.',
      note: 'Which fields it has is not shown: chassis.payload-shapes.',
    },
    'chassis.moves': {
      statement: 'POST /chassis/moves moves the robot; it carries `target_ori`.',
      note: 'Of its body only target_ori is shown; the rest is vendor.move.request.',
    },
    'chassis.fail-reason': { statement: 'A failed move is reported in `fail_reason`.' },
    'chassis.pose': {
      statement: 'POST /chassis/pose sets the pose; it carries `ori`.',
      note: 'Of its body only ori is shown; the rest is vendor.pose.request.',
    },
    'chassis.topics': {
      statement: 'The WebSocket /ws/v2/topics is the only source of state; its topic /tracked_pose carries `ori`.',
      value: '/ws/v2/topics',
    },
    'chassis.websocket-version': {
      statement: 'The path of the chassis WebSocket carries the version element v2.',
      value: 'v2',
      source: "specification, 'Versioning'",
    },
    'chassis.patch-maps': {
      statement: 'PATCH /maps/<map_id> changes the overlays of a map; it was never measured on a real device.',
      mark: 'VORSICHT',
      basis: 'assumed',
      note: 'The mark is implied: the call is named, its effect has no evidence. gw writes only with a backup, an explicit flag and a comparison afterwards.',
    },
    'chassis.restart-loses-maps': {
      statement: 'After restart_service the maps were gone. Seen twice.',
      basis: 'measured',
      value: 2,
      unit: 'times',
      note: 'The effect only; the cause is chassis.restart-loses-maps-cause.',
    },
    'chassis.restart-loses-maps-cause': {
      statement: 'Why the maps were gone after restart_service is unverified.',
      mark: 'OFFEN',
      basis: 'not-shown',
      note: "The mark is implied by the words 'cause unverified'.",
    },
    'chassis.fail-reason-103': {
      statement: 'fail_reason 103 is invalid_charge_dock; it was seen when `target_ori` was sent in degrees.',
      basis: 'measured',
      value: 103,
      source: "specification, 'Errors' and 'Angles'",
      note: 'Compared as a number, never by name.',
    },
    'chassis.fail-reasons': {
      statement: 'What the other values of fail_reason mean is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Errors'",
      note: 'The number is passed through. The names that the vendor gives are vendor.fail-reasons.',
    },
    'chassis.move-states': {
      statement: 'States and transitions of a move order are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'States and transitions'",
    },
    'chassis.move-pause': {
      statement: 'Whether a move order can be paused, by a state or by a service, is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'States and transitions'",
    },
    'chassis.clock-and-zone': {
      statement: 'Where the chassis shows its clock and its time zone is not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Map and overlays'",
    },
    'chassis.payload-shapes': {
      statement: 'Request and answer shapes of the chassis calls beyond the fields named are not shown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Operator server'",
      note: 'gw takes them from the vendor as HINWEIS and keeps unknown fields.',
    },
    'chassis.one-device': {
      statement: 'Every measurement of the chassis was taken on one device with one software version.',
      source: "specification, 'Versioning'",
    },
    'chassis.series-constants': {
      statement: 'Whether any measured value is a constant of the series is unknown.',
      mark: 'OFFEN',
      basis: 'not-shown',
      source: "specification, 'Versioning'",
    },
  },
);
