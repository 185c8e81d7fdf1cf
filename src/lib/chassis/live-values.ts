import { isDeepStrictEqual } from 'node:util';
import { citeFact } from '../evidence/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import {
  alertsAfter,
  LOST_QUALITY,
  positioningAfter,
  type Said,
  saysLostQuality,
  saysYes,
  wheelsAfter,
} from './closing.ts';
import { decodeTrackedPoseOri } from './codec.ts';
import type { LiveValues, StaleReason } from './model.ts';
import type { KnownTopic } from './schema.ts';
import type { TopicData } from './topics/message.ts';

type Field = keyof LiveValues;
type Value<F extends Field> = Extract<LiveValues[F], { status: 'received' }>['value'];

const fieldOf: Readonly<Record<KnownTopic, Field>> = {
  '/tracked_pose': 'pose',
  '/planning_state': 'planning',
  '/battery_state': 'battery',
  '/wheel_state': 'wheels',
  '/slam/state': 'positioning',
  '/alerts': 'alerts',
  '/map/info': 'map',
};

const position = citeFact('vendor.topic.tracked-pose', 'm');
const heading = citeFact('angles.tracked-pose-ori', 'degrees');
/** Mark and source of each value: those of the fact that defines it. */
const evidence = {
  pose: {
    mark: position.mark,
    basis: position.basis,
    source: `${position.source}; ${heading.source}`,
    unit: 'm, degrees',
    parts: { xM: position, yM: position, yawDeg: heading },
  },
  planning: citeFact('vendor.topic.planning-state'),
  battery: citeFact('vendor.topic.battery-state', 'percent'),
  wheels: citeFact('vendor.topic.wheel-state'),
  positioning: citeFact('vendor.topic.slam-state'),
  alerts: citeFact('vendor.topic.alerts'),
  map: citeFact('vendor.topic.map-info'),
} as const satisfies Record<Field, object>;

/**
 * Maximum age of a value while connected, in milliseconds. The specification shows no rates, and most topics publish
 * only on change, so only these two have a limit (project decision): without new poses the position is unknown, and a
 * charge of minutes ago is outdated.
 */
const maxAgeMs: Partial<Record<Field, number>> = { pose: 3_000, battery: 120_000 };

/**
 * Topics that robots at rest publish steadily (vendor parity notes of integrators, HINWEIS); without a limit their
 * silence would keep 'emergency stop not pressed' for ever. Their rate is not shown, so it is learned (project decision).
 */
const steady: readonly Field[] = ['wheels', 'positioning'];
/** Enough intervals that a person who presses and releases a button is not taken for a rate. */
const MIN_INTERVALS = 10;
/** A steady topic is too old after this many of its longest interval, and not before the minimum. */
const MAX_INTERVALS = 5;
const MIN_STEADY_MS = 5_000;

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** The last value of each topic, with its arrival time and connection. */
export function createLiveValues(clock: Clock) {
  const received: { [F in Field]?: { readonly value: Value<F>; readonly at: number; readonly connection: number } } =
    {};
  /** Why the newest message of a topic was rejected, until one is accepted again, also over a reconnect. */
  const rejected = new Map<Field, string>();
  let rejectedMoving = false;
  /** Charges between 0 and 1, over this connection, are shares of 1; one above 1 never was. */
  let isShareSeen = false;
  let isAboveOneSeen = false;
  /** Of the steady topics, over this connection: number of intervals, and the longest of them. */
  const intervals = new Map<Field, { readonly count: number; readonly longestMs: number }>();
  let connection = 0;
  let connected = false;

  /** Returns the field where that is news: another value, or one in place of a stale one. */
  function keep<F extends Field>(field: F, value: Value<F>): F | null {
    const last = received[field];
    const isNews = !isRepeated(field, value);
    if (last?.connection === connection && steady.includes(field)) {
      const { count, longestMs } = intervals.get(field) ?? { count: 0, longestMs: 0 };
      intervals.set(field, { count: count + 1, longestMs: Math.max(longestMs, clock.monotonicMs() - last.at) });
    }
    put(field, value);
    rejected.delete(field);
    if (field === 'planning') rejectedMoving = false;
    return isNews ? field : null;
  }

  /** A pose never is: that it is the same later is how a robot is seen to stand. */
  function isRepeated<F extends Field>(field: F, value: Value<F>): boolean {
    const last: { readonly value: Value<F>; readonly at: number; readonly connection: number } | undefined =
      received[field];
    if (last === undefined || field === 'pose' || (field === 'planning' && rejectedMoving)) return false;
    if (staleReason(field, last.connection, clock.monotonicMs() - last.at) !== null) return false;
    // The members that gw does not read may be a time.
    return isDeepStrictEqual({ ...last.value, raw: null }, { ...value, raw: null });
  }

  function put<F extends Field>(field: F, value: Value<F>): void {
    Object.assign(received, { [field]: { value, at: clock.monotonicMs(), connection } });
  }

  function lastOf<F extends Field>(field: F): Value<F> | null {
    const entry: { readonly value: Value<F> } | undefined = received[field];
    return entry?.value ?? null;
  }

  /** A value with what a rejected message says against a drive; returns whether that is news. */
  function close<F extends Field>(field: F, value: Value<F> | null): boolean {
    const last = lastOf(field);
    if (value === null || value === last) return false;
    put(field, value);
    return JSON.stringify(value) !== JSON.stringify(last);
  }

  function closeAll(said: Said): boolean {
    const isNews = [
      close('wheels', wheelsAfter(lastOf('wheels'), said)),
      close('positioning', positioningAfter(lastOf('positioning'), said)),
      close('alerts', alertsAfter(lastOf('alerts'), said)),
      said.isMoving && !rejectedMoving,
    ];
    rejectedMoving ||= said.isMoving;
    isAboveOneSeen ||= said.countsToHundred;
    return isNews.includes(true);
  }

  function live<F extends Field>(field: F): LiveValues[F] {
    const entry = received[field];
    // The compiler does not follow one field through two mapped types; both are indexed by the same F here.
    const why = rejected.get(field);
    const rejection = why === undefined ? {} : { rejected: why };
    if (entry === undefined) return { status: 'not-received', ...rejection } as LiveValues[F];
    const ageMs = Math.round(clock.monotonicMs() - entry.at);
    const reason = staleReason(field, entry.connection, ageMs);
    const stale = reason === null ? { stale: false } : { stale: true, staleReason: reason };
    const known = { value: entry.value, ...evidence[field] };
    return { ...known, status: 'received', ageMs, ...stale, ...rejection } as unknown as LiveValues[F];
  }

  function staleReason(field: Field, ofConnection: number, ageMs: number): StaleReason | null {
    const limit = maxAgeMs[field] ?? learnedLimit(field);
    if (!connected) return 'no-connection';
    if (ofConnection !== connection) return 'not-received-since-reconnect';
    if (rejected.has(field)) return 'newer-rejected';
    return limit !== undefined && ageMs > limit ? 'too-old' : null;
  }

  function learnedLimit(field: Field): number | undefined {
    const seen = intervals.get(field);
    if (seen === undefined || seen.count < MIN_INTERVALS) return undefined;
    return Math.max(MIN_STEADY_MS, MAX_INTERVALS * seen.longestMs);
  }

  return {
    /** A new connection: values of an earlier one are stale until they are received again. */
    connect(): void {
      connection += 1;
      connected = true;
      isShareSeen = false;
      intervals.clear();
    },
    disconnect(): void {
      connected = false;
    },
    /**
     * A message of this topic was rejected, so the previous value is no longer current; what it `said` against a drive
     * counts. Returns the fields that it may have changed: none when the topic was already rejected and this one says nothing
     * new.
     */
    reject(topic: KnownTopic, why: string, said?: Said): readonly Field[] {
      const fields = new Set([topic, ...(said?.topics ?? [])].map((one) => fieldOf[one]));
      const isNew = [...fields].some((field) => !rejected.has(field));
      for (const field of fields) rejected.set(field, why);
      const isNews = (said !== undefined && closeAll(said)) || isNew;
      return isNews ? Object.values(fieldOf) : [];
    },
    /** Returns the field that has changed; null where the message repeats what is known, and only its age is another. */
    update(message: TopicData): Field | null {
      switch (message.topic) {
        case '/tracked_pose': {
          const { pos, ori } = message.data;
          return keep('pose', { xM: pos[0], yM: pos[1], yawDeg: decodeTrackedPoseOri(ori) });
        }
        case '/planning_state': {
          const { data } = message;
          return keep('planning', {
            actionId: data.action_id,
            actionType: data.action_type ?? 'unknown',
            moveState: data.move_state,
            failReason: data.fail_reason,
            failReasonText: data.fail_reason_str ?? '',
            remainingDistanceM: data.remaining_distance ?? null,
            raw: data as Readonly<Record<string, unknown>>,
          });
        }
        case '/battery_state': {
          const { percentage, power_supply_status } = message.data;
          isShareSeen ||= percentage > 0 && percentage < 1;
          // A chassis that counts to 100 sends 1 when it is nearly empty; 0 is the same in both.
          const isDoubtful = isAboveOneSeen ? percentage > 0 : percentage === 1 && !isShareSeen;
          return keep('battery', {
            percent: percentage * 100,
            ...(isDoubtful && { orPercent: percentage }),
            status: power_supply_status ?? 'unknown',
          });
        }
        case '/wheel_state': {
          const { control_mode: controlMode, emergency_stop_pressed, wheels_released } = message.data;
          const wheelsReleased = saysYes(wheels_released) ? true : readable(wheels_released, isBoolean);
          const optional = wheelsReleased === undefined ? {} : { wheelsReleased };
          return keep('wheels', { controlMode, emergencyStopPressed: emergency_stop_pressed, ...optional });
        }
        case '/slam/state': {
          const { state, reliable, position_quality } = message.data;
          const quality = saysLostQuality(position_quality) ? LOST_QUALITY : readable(position_quality, isNumber);
          return keep('positioning', { state, reliable, ...(quality !== undefined && { quality }) });
        }
        case '/alerts': {
          const { alerts } = message.data;
          const read = alerts.map(({ code, level, msg }) => ({ code, level: level ?? 'unknown', message: msg ?? '' }));
          return keep('alerts', read);
        }
        case '/map/info': {
          const { name, uid, map_version, overlays_version } = message.data;
          return keep('map', { name, uid, mapVersion: map_version, overlaysVersion: overlays_version });
        }
      }
    },
    values(): LiveValues {
      return {
        pose: live('pose'),
        planning: { ...live('planning'), ...(rejectedMoving && { rejectedMoving }) },
        battery: live('battery'),
        wheels: live('wheels'),
        positioning: live('positioning'),
        alerts: live('alerts'),
        map: live('map'),
      };
    },
  };
}

/** An optional field: undefined where it is not sent, null where its type is wrong. */
function readable<T>(value: unknown, isOne: (value: unknown) => value is T): T | null | undefined {
  if (value === undefined || value === null) return undefined;
  return isOne(value) ? value : null;
}
