import { citeFact } from '../evidence/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { decodeTrackedPoseOri } from './codec.ts';
import type { LiveValues } from './model.ts';
import type { TopicData } from './topic-message.ts';

type Field = keyof LiveValues;
type Heard<F extends Field> = Omit<Extract<LiveValues[F], { status: 'heard' }>, 'status' | 'ageMs' | 'stale'>;

/**
 * How old a value may get while the connection stands, in milliseconds. Rates are not shown by the specification,
 * and most topics speak only on change, so only these two have a limit, which is a decision of ours: a pose that no
 * longer comes is a lost position, and a charge of minutes ago is not the charge.
 */
const oldest: Partial<Record<Field, number>> = { pose: 3_000, battery: 120_000 };

/** The last value of each topic, with when and over which connection it came. */
export function createLiveValues(clock: Clock) {
  const heard: { [F in Field]?: { readonly known: Heard<F>; readonly at: number; readonly life: number } } = {};
  let life = 0;
  let connected = false;

  function keep<F extends Field>(field: F, value: Heard<F>): void {
    Object.assign(heard, { [field]: { known: value, at: clock.monotonicMs(), life } });
  }

  function live<F extends Field>(field: F): LiveValues[F] {
    const entry = heard[field];
    // The compiler does not follow one field through two mapped types; both are indexed by the same F here.
    if (entry === undefined) return { status: 'not-heard' } as LiveValues[F];
    const ageMs = Math.round(clock.monotonicMs() - entry.at);
    const limit = oldest[field];
    const stale = !connected || entry.life !== life || (limit !== undefined && ageMs > limit);
    return { ...entry.known, status: 'heard', ageMs, stale } as unknown as LiveValues[F];
  }

  return {
    /** A new connection: what came over an earlier one is stale until it is heard again. */
    connect(): void {
      life += 1;
      connected = true;
    },
    disconnect(): void {
      connected = false;
    },
    take(message: TopicData): void {
      switch (message.topic) {
        case '/tracked_pose': {
          const { pos, ori } = message.data;
          const pose = { xM: pos[0], yM: pos[1], yawDeg: decodeTrackedPoseOri(ori) };
          const position = citeFact('vendor.topic.tracked-pose', 'm');
          const heading = citeFact('angles.tracked-pose-ori', 'degrees');
          keep('pose', {
            value: pose,
            mark: position.mark,
            basis: position.basis,
            source: `${position.source}; ${heading.source}`,
            unit: 'm, degrees',
            parts: { xM: position, yM: position, yawDeg: heading },
          });
          return;
        }
        case '/planning_state': {
          const { data } = message;
          const planning = {
            actionId: data.action_id,
            actionType: data.action_type ?? 'unknown',
            moveState: data.move_state,
            failReason: data.fail_reason,
            failReasonText: data.fail_reason_str ?? '',
            remainingDistanceM: data.remaining_distance ?? null,
            raw: data as Readonly<Record<string, unknown>>,
          };
          keep('planning', { value: planning, ...citeFact('vendor.topic.planning-state') });
          return;
        }
        case '/battery_state': {
          const { percentage, power_supply_status } = message.data;
          const battery = { percent: percentage * 100, status: power_supply_status ?? 'unknown' };
          keep('battery', { value: battery, ...citeFact('vendor.topic.battery-state', 'percent') });
          return;
        }
        case '/wheel_state': {
          const { control_mode, emergency_stop_pressed } = message.data;
          const wheels = { controlMode: control_mode, emergencyStopPressed: emergency_stop_pressed };
          keep('wheels', { value: wheels, ...citeFact('vendor.topic.wheel-state') });
          return;
        }
        case '/slam/state': {
          const { state, reliable } = message.data;
          keep('positioning', { value: { state, reliable }, ...citeFact('vendor.topic.slam-state') });
          return;
        }
        case '/alerts': {
          const alerts = message.data.alerts.map(({ code, level, msg }) => ({
            code,
            level: level ?? 'unknown',
            message: msg ?? '',
          }));
          keep('alerts', { value: alerts, ...citeFact('vendor.topic.alerts') });
          return;
        }
        case '/map/info': {
          const { name, uid, map_version, overlays_version } = message.data;
          const map = { name, uid, mapVersion: map_version, overlaysVersion: overlays_version };
          keep('map', { value: map, ...citeFact('vendor.topic.map-info') });
          return;
        }
      }
    },
    values(): LiveValues {
      return {
        pose: live('pose'),
        planning: live('planning'),
        battery: live('battery'),
        wheels: live('wheels'),
        positioning: live('positioning'),
        alerts: live('alerts'),
        map: live('map'),
      };
    },
  };
}
