import { type ChassisSnapshot, type LiveValue, missingReason, type NotChecked } from '../../chassis/index.ts';
import type { Known } from '../../evidence/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { GatewayHealth } from '../../operator/index.ts';
import { shorten } from '../../text/index.ts';

export interface TelemetrySources {
  readonly snapshot: ChassisSnapshot;
  readonly motion: MotionStatus;
  readonly health: Pick<GatewayHealth, 'status' | 'version' | 'upForMs'>;
}

/** Further alerts are only counted. */
const MAX_ALERTS = 20;
const MAX_TEXT_CHARACTERS = 120;

/** The telemetry of this robot. Texts of the chassis are shortened, its numbers are passed through. */
export function telemetryOf({ snapshot, motion, health }: TelemetrySources): Readonly<Record<string, unknown>> {
  const { link, linkForMs, values, poseUnit, unitContradicted } = snapshot;
  const { pose, battery, wheels, positioning, planning, alerts, map } = values;
  const doubt: MissingReason | null = unitContradicted
    ? 'unit-contradicted'
    : poseUnit.doubt !== null
      ? 'unit-in-doubt'
      : null;
  const isScaleOpen = battery.status === 'received' && battery.value.orPercent !== undefined;
  const scaleDoubt: MissingReason | null = isScaleOpen ? 'scale-in-doubt' : null;
  return {
    schema: 'gw/telemetry/1',
    gw: { version: health.version, upForMs: health.upForMs, status: health.status },
    link: { state: link.kind === 'not-connected' ? link.failure : link.kind, forMs: linkForMs },
    stop: { latched: motion.stop.latched, saved: motion.stop.saved },
    gateOpen: motion.gate.open,
    activity: activityOf(motion),
    position: report(pose, ({ xM, yM }) => ({ xM, yM }), { unit: 'm', part: 'xM' }),
    heading: report(pose, ({ yawDeg }) => yawDeg, { unit: 'degrees', part: 'yawDeg', doubt }),
    battery: report(battery, ({ percent }) => percent, { unit: 'percent', doubt: scaleDoubt }),
    power: report(battery, ({ status }) => text(status)),
    emergencyStop: report(wheels, ({ emergencyStopPressed }) => emergencyStopPressed),
    controlMode: report(wheels, ({ controlMode, wheelsReleased }) => ({
      mode: text(controlMode),
      wheelsReleased: wheelsReleased ?? null,
    })),
    positioning: report(positioning, ({ state, reliable, quality }) => ({
      state: text(state),
      reliable,
      quality: quality ?? null,
    })),
    move: report(planning, ({ moveState, actionType, failReason, remainingDistanceM }) => ({
      state: text(moveState),
      type: text(actionType),
      failReason,
      remainingDistanceM,
    })),
    alerts: report(alerts, (list) => ({
      count: list.length,
      first: list.slice(0, MAX_ALERTS).map(({ code, level }) => ({ code, level: text(level) })),
    })),
    map: report(map, ({ name, uid, mapVersion, overlaysVersion }) => ({
      name: text(name),
      uid: text(uid),
      mapVersion,
      overlaysVersion,
    })),
  };
}

/** What motion does now: a running or paused tour, a drive or a trial; null: nothing that this gateway started. */
function activityOf({
  tour,
  drive,
  trial,
}: MotionStatus): { readonly kind: string; readonly name: string | null } | null {
  if (trial !== null) return { kind: 'trial', name: trial.kind };
  if (tour?.state === 'running') return { kind: 'tour', name: tour.tour };
  if (tour?.state === 'paused') return { kind: 'paused-tour', name: tour.tour };
  return drive?.state === 'running' ? { kind: 'drive', name: drive.station } : null;
}

function text(foreign: string): string {
  return shorten(foreign, MAX_TEXT_CHARACTERS).toWellFormed();
}

/** Why there is no value. */
type MissingReason =
  | NotChecked
  /** The chassis sent a number that is none. */
  | 'not-a-number'
  /** The unit of the heading is contradicted, or in doubt. */
  | 'unit-contradicted'
  | 'unit-in-doubt'
  /** Whether the charge is a share of 1 or a percentage. */
  | 'scale-in-doubt';

/** A value of the chassis as telemetry carries it. */
interface Reported {
  /** Null unless it is current: the last known value is never sent as the present one. */
  readonly value: unknown;
  readonly unit: string | null;
  /** Null where nothing was received yet. */
  readonly mark: Known<unknown>['mark'] | null;
  readonly basis: Known<unknown>['basis'] | null;
  /** Since the last reception, by the monotonic clock; null where nothing was received. */
  readonly ageMs: number | null;
  /** Why the value is null; null where it is not. */
  readonly reason: MissingReason | null;
}

/** A part of a live value; `part` names it where the parts have marks of their own. */
function report<T>(
  live: LiveValue<T>,
  pick: (value: T) => unknown,
  { unit = null, part, doubt = null }: { unit?: string | null; part?: string; doubt?: MissingReason | null } = {},
): Reported {
  if (live.status === 'not-received') {
    return { value: null, unit, mark: null, basis: null, ageMs: null, reason: missingReason(live) };
  }
  const { mark, basis } = (part === undefined ? undefined : live.parts?.[part]) ?? live;
  const evidence = { unit, mark, basis, ageMs: Number.isFinite(live.ageMs) ? live.ageMs : null };
  const reason = missingReason(live) ?? doubt;
  if (reason !== null) return { ...evidence, value: null, reason };
  const value = pick(live.value);
  if (!isFiniteThroughout(value)) return { ...evidence, value: null, reason: 'not-a-number' };
  return { ...evidence, value, reason: null };
}

/** Whether no number in a value, at any depth, is NaN or infinite: JSON has neither. */
function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isFiniteThroughout);
}
