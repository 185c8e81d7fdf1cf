import { assumed, factsFrom, notShown, vendor } from '../fact.ts';

/** docs/evidence.md lists the repository and revision of each source. */
export const vendorCallFacts = [
  ...factsFrom('comparison of the vendor texts with the specification', {
    'vendor.texts-about-this-chassis': assumed(
      'The vendor texts that gw reads are assumed to describe this very chassis.',
      'The specification does not name the vendor. Paths, field names and the WebSocket of the texts agree with it; every other fact of this section hangs on it, so each is verified on the device before an order relies on it.',
    ),
    'vendor.move.request': vendor(
      'POST /chassis/moves takes `creator`, `type`, `target_x`, `target_y` (m), `target_z` (0), `target_ori`, `target_accuracy` (m) and further optional fields, and answers with the `id` of the move.',
      'The field carries no unit in this text; the measured unit of target_ori is angles.target-ori. The reference answers {id}, the guide the whole move: only `id` is relied on.',
      { source: 'vendor REST book' },
    ),
    'vendor.move.state': vendor(
      'GET /chassis/moves/<id> gives the state of a move: idle, moving, succeeded, failed or cancelled; `fail_reason` counts only when it failed.',
      "The guide once shows 'finished'. An unknown state is unknown, never success.",
      { source: 'vendor REST book' },
    ),
    'vendor.move.charge-target': vendor(
      'A move of type charge takes the pose of the dock in `target_x`, `target_y` and `target_ori`; no move by the identifier of a charger exists.',
      'Weaker than the rest: the page has since been deleted.',
      { source: 'vendor REST book, withdrawn page' },
    ),
  }),
  ...factsFrom('vendor REST book', {
    'vendor.move.cancel': vendor(
      'PATCH /chassis/moves/current with {"state":"cancelled"} cancels the running move.',
      'Stopping is never gated: gw sends it whether or not it was verified here.',
    ),
    'vendor.pose.request': vendor(
      'POST /chassis/pose takes `position` [x, y, 0] in metres, `ori` counter-clockwise with 0 along +x, and `adjust_position`.',
      'Without adjust_position the behaviour is undefined, so gw always sends it. The unit of ori is angles.pose-ori.',
    ),
    'vendor.move.types': vendor(
      'The kinds of move, by name.',
      'leave_elevator is deprecated there. gw orders standard and charge, nothing else.',
      {
        value: [
          'standard',
          'charge',
          'return_to_elevator_waiting_point',
          'enter_elevator',
          'leave_elevator',
          'along_given_route',
          'align_with_rack',
          'to_unload_point',
          'follow_target',
        ],
      },
    ),
    'vendor.move.no-pause': vendor(
      'A move cannot be paused or resumed at this interface, only cancelled.',
      'gw pauses by cancelling and ordering again.',
      { source: 'vendor REST book, withdrawn page' },
    ),
    'vendor.move.second-order': notShown(
      'What a second order does while a move runs is described nowhere.',
      'gw orders one move at a time.',
    ),
    'vendor.state.rest-readable': vendor(
      'Moves and the current map can also be read by REST; polling is called inefficient.',
    ),
    'vendor.pose.lost-on-map-change': vendor(
      'The client of the vendor sets a pose anew right after every change of the map.',
      'A pose is not expected to survive a map change.',
      { source: 'vendor SDK' },
    ),
    'vendor.move.needs-map-and-pose': vendor('Moving needs a current map and a pose that was set.'),
    'vendor.identity.device-info': vendor(
      'GET /device/info carries the serial number in `device.sn`, unique to each device.',
      { value: 'device.sn' },
    ),
    'vendor.identity.brief-without-serial': vendor(
      'The brief device information, by REST or topic, may leave out the serial number.',
      'Seen in an example only.',
    ),
    'vendor.software-version': vendor(
      'GET /device/info carries the chassis software version in `axbot_version`.',
      'Records of an evidence file count for exactly this text.',
      { value: 'axbot_version' },
    ),
    'vendor.capabilities': vendor(
      '`caps` in GET /device/info announces optional features; a flag that is absent means no.',
    ),
    'vendor.dimensions': vendor(
      '`robot` in GET /device/info gives footprint and sizes in metres, the origin at the centre of rotation, x to the right and y to the front.',
      'The unit is implied there, not stated.',
      { unit: 'm' },
    ),
    'vendor.device-time': vendor(
      '`time` in GET /device/info is the clock of the chassis, without a time zone.',
      'In one old example only.',
    ),
    'vendor.step-time': vendor('GET /services/step_time checks the clock of the chassis, POST corrects it.'),
    'vendor.boot-phase': vendor(
      'While the chassis starts, every request is answered 503, except GET /device/boot_progress, which is always 200.',
      { value: 503 },
    ),
    'vendor.boot-progress': vendor('GET /device/boot_progress gives `progress` from 0 to 1 and a log of steps.'),
    'vendor.http-statuses': vendor(
      'The HTTP statuses of the chassis that are named: 200, 201 (created, also: service run), 204, 400, 404, 500 and 503.',
      { value: [200, 201, 204, 400, 404, 500, 503] },
    ),
    'vendor.error-body': vendor(
      'An error body has no general shape; `message`, `error` and `detail` are seen, and plain text.',
      { source: 'vendor REST book and vendor SDK' },
    ),
    'vendor.secret-header': vendor(
      'A `Secret` request header is required on HTTP requests, except from two private address ranges of the robot itself.',
      'gw can send one (chassis.secretFile). It is never counted on as protection.',
      { source: 'vendor REST book, since software 2.7.1' },
    ),
    'vendor.default-addresses': vendor(
      'The documented addresses of a chassis: on the wire 192.168.25.25, on its own access point 192.168.12.1.',
      'gw never assumes an address: the site file names it.',
      { value: ['192.168.25.25', '192.168.12.1'] },
    ),
    'vendor.trailing-slashes': vendor(
      'Paths are written with and without a trailing slash, also for the same resource.',
    ),
    'vendor.rest-unversioned': vendor(
      'REST paths carry no version; a replaced call stays for at least one major version of the software.',
    ),
    'vendor.call-guard': vendor('Calls that are too frequent raise an alert on the chassis; no figure is given.', {
      source: 'vendor REST book, withdrawn release notes (2.7.1)',
    }),
    'vendor.delete-collection': vendor(
      'DELETE on a collection removes everything in it: DELETE /maps wipes every map.',
      'gw has no call for it.',
    ),
    'vendor.current-map': vendor(
      'POST /chassis/current-map sets the map by `map_id` or `map_uid`; GET gives id, uid, name and both versions.',
    ),
    'vendor.current-map-from-data': vendor(
      'The current map has `id` -1 when it was set from data and not from a stored map.',
      { value: -1 },
    ),
    'vendor.map.list': vendor(
      'GET /maps/ lists the stored maps with id, uid, name and versions, without overlays and without grid.',
    ),
    'vendor.map.grid': vendor(
      'GET /maps/<id> adds the grid: `grid_origin_x`, `grid_origin_y` in metres at the lower left pixel, `grid_resolution` in metres per pixel.',
      'Usually 0.05 metres per pixel.',
    ),
    'vendor.map.image': vendor('GET /maps/<id>.png is the map in full resolution.'),
    'vendor.map.localisation': vendor(
      'GET /maps/<id>.pbstream is the localisation data of the map, which POST /maps/ takes as `carto_map`.',
      'Bytes that only a chassis understands. Whether a map made from them is the one that was lost was never measured.',
    ),
    'vendor.map.overlays-string': vendor(
      'Over REST, `overlays` is a JSON text inside the JSON: parsed twice, serialised before it is sent.',
      'On the topic /map/info it is an object, or text, or a wrapper: all three are accepted.',
    ),
    'vendor.map.patch': vendor(
      'PATCH /maps/<id> takes `map_name` and `overlays`; it presumably replaces all overlays.',
      'Never measured on a device: chassis.patch-maps.',
    ),
    'vendor.map.patch-effects': notShown(
      'What PATCH /maps/<id> answers, whether it raises `overlays_version` and whether a running map reloads is described nowhere.',
    ),
    'vendor.map.running-overlays': vendor(
      'A running robot continues with the overlays it has loaded until POST /chassis/current-map selects the map again; `overlays_version` may stay the same.',
      { source: 'code of a public integrator, firmware 2.12.21 by its own account' },
    ),
    'vendor.map.create': vendor(
      'POST /maps/ creates a map from data: `map_name`, `occupancy_grid` (PNG) and `carto_map` (localisation data) in base64, the grid, and optionally `overlays`, `uid` and both versions. The chassis chooses its number.',
      'How gw brings a lost map back: everything is read back and compared.',
    ),
    'vendor.map.urls': vendor(
      'Addresses inside map answers are absolute and name the host of the robot itself.',
      'gw builds every address from the site file and follows none of these.',
    ),
    'vendor.map.mappings': vendor('A mapping task is not a map: it must first be saved through POST /maps/.'),
    'vendor.service.restart': vendor(
      'POST /services/restart_service restarts the robot software; no side effect is named.',
    ),
    'vendor.service.emergency-stop': vendor(
      'POST /services/wheel_control/set_emergency_stop with `enable` is a stop by software, reported on /wheel_state.',
      'A deprecation page spells the path otherwise. gw does not use it; the emergency stop is the one on the robot.',
    ),
    'vendor.service.control-mode': vendor(
      'POST /services/wheel_control/set_control_mode sets auto, manual or remote.',
      'The reference and the guide name the key differently.',
      { value: ['auto', 'manual', 'remote'] },
    ),
    'vendor.service.charger-pose': vendor(
      'GET /services/query_pose/charger_pose gives the pose of the dock while the robot stands on it.',
      'The unit of its ori is not known.',
    ),
  }),
];
