import type { ChassisSnapshot } from '../../chassis/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { GatewayHealth } from '../../operator/index.ts';
import { shorten } from '../../text/index.ts';
import { type MissingReason, report } from './current.ts';

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

/** What motion does now: a running tour, drive or trial; null: nothing that this gateway started. */
function activityOf({
  tour,
  drive,
  trial,
}: MotionStatus): { readonly kind: string; readonly name: string | null } | null {
  if (trial !== null) return { kind: 'trial', name: trial.kind };
  if (tour?.state === 'running') return { kind: 'tour', name: tour.tour };
  return drive?.state === 'running' ? { kind: 'drive', name: drive.station } : null;
}

function text(foreign: string): string {
  return shorten(foreign, MAX_TEXT_CHARACTERS).toWellFormed();
}
