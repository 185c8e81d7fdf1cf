import type { ChassisSnapshot } from '../../../src/lib/chassis/index.ts';
import { createLiveValues } from '../../../src/lib/chassis/live-values.ts';
import { parseTopicMessage } from '../../../src/lib/chassis/topics/message.ts';
import { createFakeClock, type FakeClock } from '../../lifecycle/fake-clock.ts';
import { snapshotWith, standInHealth, standInMotion, tried } from '../../operator/stand-ins.ts';

export const inOrder = [
  { topic: '/tracked_pose', pos: [1.25, -2.5], ori: 90 },
  {
    ...{ topic: '/planning_state', action_id: 4, action_type: 'standard', move_state: 'moving', fail_reason: 0 },
    ...{ fail_reason_str: 'none', remaining_distance: 1.5 },
  },
  { topic: '/battery_state', percentage: 0.87, power_supply_status: 'discharging' },
  { topic: '/wheel_state', control_mode: 'auto', emergency_stop_pressed: false },
  { topic: '/slam/state', state: 'positioning', reliable: true },
  { topic: '/alerts', alerts: [] },
  { topic: '/map/info', name: 'EG', uid: 'u7', map_version: 3, overlays_version: 9 },
];

/** A snapshot after these messages, read by the codec of the chassis. */
export function chassisAfter(...messages: readonly object[]): {
  clock: FakeClock;
  live: ReturnType<typeof createLiveValues>;
  snapshot: (change?: Partial<ChassisSnapshot>) => ChassisSnapshot;
} {
  const clock = createFakeClock();
  const live = createLiveValues(clock);
  live.connect();
  for (const sent of messages) {
    const message = parseTopicMessage(JSON.stringify(sent));
    if (message.kind === 'data') live.update(message);
    else if (message.kind === 'complaint' && message.topic !== undefined) live.reject(message.topic, message.what);
    else throw new Error(`not a message of the chassis: ${JSON.stringify(sent)}`);
  }
  const snapshot = (change: Partial<ChassisSnapshot> = {}) => ({
    ...snapshotWith({ kind: 'connected', tried }),
    values: live.values(),
    ...change,
  });
  return { clock, live, snapshot };
}

export const motion = () => standInMotion().status();
export const health = standInHealth;
