import { factsOf } from '../fact.ts';

export const vendorTopicFacts = factsOf(
  { mark: 'HINWEIS', basis: 'vendor', source: 'vendor REST book' },
  {
    'vendor.topic.enable': {
      statement:
        '{"enable_topic": "/x"} starts a topic on this connection, {"disable_topic": "/x"} ends it; both end with the connection.',
    },
    'vendor.topic.enable-list': {
      statement:
        'Several topics can be enabled in one message since software 2.7.0, only where `caps.supportsEnableTopicList` says so.',
    },
    'vendor.topic.acknowledgement': {
      statement:
        'Enabling is answered by {"enabled_topics": [...]}: the full set of the connection, newest first, without a `topic` key.',
      note: 'In an example only.',
    },
    'vendor.topic.errors': {
      statement: 'What the chassis answers to an unknown topic or to bad JSON is described nowhere.',
      mark: 'OFFEN',
      basis: 'not-shown',
      note: 'gw notices a missing topic by its absence from the acknowledgement.',
    },
    'vendor.topic.latched': {
      statement: 'Some topics are latched: a late subscriber receives the last message. Silence on them is no fault.',
    },
    'vendor.topic.rates': {
      statement: 'The rates of the topics are mostly unstated.',
      mark: 'OFFEN',
      basis: 'not-shown',
      note: 'gw measures them: `gw chassis probe`.',
    },
    'vendor.topic.binary': {
      statement: 'Binary frames are sent only when the client requests them by a URL parameter.',
      source: 'vendor SDK',
      note: 'gw does not request them.',
    },
    'vendor.topic.twist': {
      statement: 'A client can drive the robot by sending /twist on the same WebSocket.',
      note: 'gw never sends it: its topic stream has no call for it.',
    },
    'vendor.topic.tracked-pose': {
      statement: '/tracked_pose carries `pos` [x, y] in metres and `ori`; it is latched.',
      unit: 'm',
      note: 'The metres are implied by the pose convention.',
    },
    'vendor.topic.tracked-pose-ori': {
      statement: '/tracked_pose carries `ori` in radians, 0 along +x, pi/2 along +y.',
      value: 'radians',
      note: 'Contradicts a measurement: disagreement.c1-tracked-pose-unit.',
    },
    'vendor.topic.other-ori': {
      statement:
        'Every other `ori` on the WebSocket (target_poses, intent_target_pose, charger_pose, nearby_robots, the heading in /path) is in radians.',
      value: 'radians',
      note: 'The same text is wrong about /tracked_pose. gw shows these numbers raw and uses none of them for movement.',
    },
    'vendor.topic.planning-state': {
      statement:
        '/planning_state reports the last or running move: `action_id`, `action_type`, `move_state`, `fail_reason`, `fail_reason_str`, `remaining_distance` in metres.',
    },
    'vendor.topic.own-moves': {
      statement: 'Moves that the robot starts by itself have a negative `action_id`.',
      source: 'vendor REST book, withdrawn release notes (2.7.5)',
    },
    'vendor.topic.battery-state': {
      statement:
        '/battery_state carries `percentage` from 0 to 1, voltage in V, current in A and `power_supply_status` (charging, discharging, full).',
      value: ['charging', 'discharging', 'full'],
      note: 'Units implied. The current is generally negative while charging.',
    },
    'vendor.topic.wheel-state': {
      statement: '/wheel_state carries `control_mode` (auto, manual, remote) and `emergency_stop_pressed`.',
      note: '`wheels_released` depends on the model.',
    },
    'vendor.topic.slam-state': {
      statement:
        '/slam/state carries `state` (inactive, slam, positioning) and `reliable`; false means that the position is lost.',
      note: '`position_quality` is optional: 0 unknown, 1 lost, 3 poor, 8 good, 10 excellent.',
    },
    'vendor.topic.alerts': {
      statement: '/alerts carries the alerts that are active now, each with code, level and text; empty means none.',
      note: 'Levels in the vendor SDK: error, warning, none.',
    },
    'vendor.topic.map-info': {
      statement:
        '/map/info reports the active map with uid and versions, latched, anew on every change; it has no numeric id.',
    },
    'vendor.topic.path': {
      statement: '/path carries the global path in metres; its `stamp` is in milliseconds.',
      unit: 'ms',
    },
    'vendor.topic.time-stamps': {
      statement: 'Time stamps are mixed: most in seconds, some `stamp` in milliseconds, `timestamp_ns` in nanoseconds.',
    },
    'vendor.topic.nearby-robots': {
      statement: '/nearby_robots names other robots near by; it needs optional radio hardware.',
      note: 'gw gets the neighbours from the fleet heartbeat, not from this topic.',
    },
    'vendor.topic.action-log': {
      statement: '/action is a log of events and carries personal data.',
      note: 'gw does not subscribe to it.',
    },
    'vendor.topic.legacy': { statement: 'The older /ws/topics names topics differently.', note: 'gw does not use it.' },
  },
);
