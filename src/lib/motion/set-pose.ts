import { degrees } from '../angle/index.ts';
import { asGwError } from '../error/index.ts';
import { chosen } from '../evidence/index.ts';
import type { PlaceMap } from '../site/index.ts';
import { asClause, confirmMap, leftFrame } from './map-frame.ts';
import type { MoveOutcome, Order } from './model.ts';
import { carryOut, isCertainlyNotAccepted, type OrderTools } from './orders.ts';
import type { PoseAlarm } from './pose-alarm.ts';

type PoseOrder = Extract<Order, { kind: 'pose' }>;

const NOT_KNOWN = 'A pose was sent to the robot, and it is not known whether it took effect.';

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
  const { map } = order.pose.value;
  using frame = followFrame(map, tools);
  const withdraw = await alarm.raiseBefore(NOT_KNOWN, map);
  let outcome: MoveOutcome;
  try {
    outcome = await setInFrame(order, tools, frame, signal);
  } catch (error) {
    if (isCertainlyNotAccepted(error)) await withdraw();
    // The chassis may have set it on the other map.
    else if (frame.left() !== null) await alarm.raise(NOT_KNOWN, null);
    throw error;
  }
  if (outcome.state === 'succeeded') await alarm.clear(map);
  else {
    const reason = outcome.reason ?? 'The pose that was sent is not reported by the robot.';
    await alarm.raise(reason, frame.left() === null ? map : null);
  }
  return outcome;
}

/** Whether the robot has been on the map of an order all the time. */
export interface FollowedFrame extends Disposable {
  /** Why not, as a clause; null: it has been. */
  left(): string | null;
  /** Asks the chassis too: its topic may have fallen silent. Never rejects; `left` has the answer. */
  confirm(): Promise<void>;
}

/** Follows the map until it is disposed. */
export function followFrame(map: PlaceMap | null, tools: Pick<OrderTools, 'link' | 'moves' | 'clock'>): FollowedFrame {
  const { link } = tools;
  let left: string | null = null;
  const check = () => {
    const { values, link: state, linkForMs } = link.snapshot();
    left ??= leftFrame(map, values, { isConnected: state.kind === 'connected', linkForMs });
  };
  const following = link.subscribe(check);
  return {
    left: () => left,
    async confirm() {
      await confirmMap(map, tools).catch((error: unknown) => {
        left ??= asClause(asGwError(error).message);
      });
    },
    [Symbol.dispose]: () => following[Symbol.dispose](),
  };
}

/** The outcome is 'unknown' where the map has changed before the pose was proven: there the same numbers are another place. */
export async function setInFrame(
  order: PoseOrder,
  tools: OrderTools,
  frame: FollowedFrame,
  signal: AbortSignal,
): Promise<MoveOutcome> {
  const outcome = await carryOut(order, tools, signal);
  if (outcome.state === 'succeeded') await frame.confirm();
  const left = frame.left();
  if (left === null) return outcome;
  return { ...outcome, state: 'unknown', reason: `The map has changed since the pose was sent: ${left}.` };
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
