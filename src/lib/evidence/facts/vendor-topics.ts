import { factsFrom, notShown, vendor } from '../fact.ts';

export const vendorTopicFacts = factsFrom('vendor REST book', {
  'vendor.topic.enable': vendor(
    '{"enable_topic": "/x"} starts a topic on this connection, {"disable_topic": "/x"} ends it; both end with the connection.',
  ),
  'vendor.topic.enable-list': vendor(
    'Several topics can be enabled in one message since software 2.7.0, only where `caps.supportsEnableTopicList` says so.',
  ),
  'vendor.topic.acknowledgement': vendor(
    'Enabling is answered by {"enabled_topics": [...]}: the full set of the connection, newest first, without a `topic` key.',
    'In an example only.',
  ),
  'vendor.topic.errors': notShown(
    'What the chassis answers to an unknown topic or to bad JSON is described nowhere.',
    'gw notices a missing topic by its absence from the acknowledgement.',
  ),
  'vendor.topic.latched': vendor(
    'Some topics are latched: a late subscriber receives the last message. Silence on them is no fault.',
  ),
  'vendor.topic.rates': notShown(
    'The rates of the topics are mostly unstated.',
    'gw measures them: `gw chassis probe`.',
  ),
  'vendor.topic.binary': vendor(
    'Binary frames are sent only when the client requests them by a URL parameter.',
    'gw does not request them.',
    { source: 'vendor SDK' },
  ),
  'vendor.topic.twist': vendor(
    'A client can drive the robot by sending /twist on the same WebSocket.',
    'gw never sends it: its topic stream has no call for it.',
  ),
  'vendor.topic.tracked-pose': vendor(
    '/tracked_pose carries `pos` [x, y] in metres and `ori`; it is latched.',
    'The metres are implied by the pose convention.',
    { unit: 'm' },
  ),
  'vendor.topic.tracked-pose-ori': vendor(
    '/tracked_pose carries `ori` in radians, 0 along +x, pi/2 along +y.',
    'Contradicts a measurement: disagreement.c1-tracked-pose-unit.',
    { value: 'radians' },
  ),
  'vendor.topic.other-ori': vendor(
    'Every other `ori` on the WebSocket (target_poses, intent_target_pose, charger_pose, nearby_robots, the heading in /path) is in radians.',
    'The same text is wrong about /tracked_pose. gw shows these numbers raw and uses none of them for movement.',
    { value: 'radians' },
  ),
  'vendor.topic.planning-state': vendor(
    '/planning_state reports the last or running move: `action_id`, `action_type`, `move_state`, `fail_reason`, `fail_reason_str`, `remaining_distance` in metres.',
  ),
  'vendor.topic.own-moves': vendor('Moves that the robot starts by itself have a negative `action_id`.', {
    source: 'vendor REST book, withdrawn release notes (2.7.5)',
  }),
  'vendor.topic.battery-state': vendor(
    '/battery_state carries `percentage` from 0 to 1, voltage in V, current in A and `power_supply_status` (charging, discharging, full).',
    'Units implied. The current is generally negative while charging.',
    { value: ['charging', 'discharging', 'full'] },
  ),
  'vendor.topic.wheel-state': vendor(
    '/wheel_state carries `control_mode` (auto, manual, remote) and `emergency_stop_pressed`.',
    '`wheels_released` depends on the model.',
  ),
  'vendor.topic.slam-state': vendor(
    '/slam/state carries `state` (inactive, slam, positioning) and `reliable`; false means that the position is lost.',
    '`position_quality` is optional: 0 unknown, 1 lost, 3 poor, 8 good, 10 excellent.',
  ),
  'vendor.topic.alerts': vendor(
    '/alerts carries the alerts that are active now, each with code, level and text; empty means none.',
    'Levels in the vendor SDK: error, warning, none.',
  ),
  'vendor.topic.map-info': vendor(
    '/map/info reports the active map with uid and versions, latched, anew on every change; it has no numeric id.',
  ),
  'vendor.topic.path': vendor('/path carries the global path in metres; its `stamp` is in milliseconds.', {
    unit: 'ms',
  }),
  'vendor.topic.time-stamps': vendor(
    'Time stamps are mixed: most in seconds, some `stamp` in milliseconds, `timestamp_ns` in nanoseconds.',
  ),
  'vendor.topic.nearby-robots': vendor(
    '/nearby_robots names other robots near by; it needs optional radio hardware.',
    'gw gets the neighbours from the fleet heartbeat, not from this topic.',
  ),
  'vendor.topic.action-log': vendor(
    '/action is a log of events and carries personal data.',
    'gw does not subscribe to it.',
  ),
  'vendor.topic.legacy': vendor('The older /ws/topics names topics differently.', 'gw does not use it.'),
});
