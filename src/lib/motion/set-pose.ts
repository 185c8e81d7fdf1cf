import { degrees } from '../angle/index.ts';
import { chosen } from '../evidence/index.ts';
import type { PlaceMap } from '../site/index.ts';
import type { MoveOutcome, Order } from './model.ts';
import { carryOut, isCertainlyNotAccepted, type OrderTools } from './orders.ts';
import type { PoseAlarm } from './pose-alarm.ts';

type PoseOrder = Extract<Order, { kind: 'pose' }>;

/**
 * Sets the pose with the alarm raised until the chassis has reported it back. Any other end leaves the alarm raised: the
 * pose is wrong, or not known. Throws FILE_UNWRITABLE before anything is sent.
 */
export async function setPoseWithAlarm(
  order: PoseOrder,
  tools: OrderTools,
  alarm: PoseAlarm,
  signal: AbortSignal,
): Promise<MoveOutcome> {
  const before = alarm.state();
  await alarm.raise('A pose was sent to the robot, and it is not known whether it took effect.');
  let outcome: MoveOutcome;
  try {
    outcome = await carryOut(order, tools, signal);
  } catch (error) {
    if (isCertainlyNotAccepted(error)) await (before === null ? alarm.clear() : alarm.raise(before.reason));
    throw error;
  }
  if (outcome.state === 'succeeded') await alarm.clear();
  else await alarm.raise(outcome.reason ?? 'The pose that was sent is not reported by the robot.');
  return outcome;
}

/**
 * The order that sets the pose that a person chose: metres on this map, the heading in degrees.
 * `source`: who chose it, and where. Throws RangeError when the heading is not finite.
 */
export function chosenPose(
  pose: { readonly xM: number; readonly yM: number; readonly yawDeg: number; readonly map: PlaceMap | null },
  source: string,
): Order {
  const { xM, yM, yawDeg, map } = pose;
  return { kind: 'pose', pose: chosen({ xM, yM, yawDeg: degrees(yawDeg), map }, source) };
}
