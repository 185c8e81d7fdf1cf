import { isRecord } from '../maps/map-store.ts';
import { type OtherOriUnit, oriOf } from '../messages.ts';
import type { Robot } from '../robot.ts';
import { created, type Handler, ok, type Route, refuse } from './rest-reply.ts';
import { defaults, paramsOf, settingsOfParams, settingsSchema } from './settings.ts';

export interface ServiceRoutesOptions {
  readonly robot: Robot;
  readonly otherOri: OtherOriUnit;
  readonly restart: () => void;
}

const CONTROL_MODES = ['auto', 'manual', 'remote'];

/** `/services/…`, `/system/settings/…` and `/robot-params` as the vendor describes them (HINWEIS). */
export function createServiceRoutes({ robot, otherOri, restart }: ServiceRoutesOptions): readonly Route[] {
  const { settings } = robot;

  function setEmergencyStop({ enable }: Record<string, unknown>): string | undefined {
    if (typeof enable !== 'boolean') return 'enable must be a boolean';
    robot.setSoftwareStop(enable);
    return undefined;
  }

  function setControlMode(body: Record<string, unknown>): string | undefined {
    // The vendor's reference and guide name different keys; both are accepted.
    const mode = body.control_mode ?? body.mode;
    if (typeof mode !== 'string' || !CONTROL_MODES.includes(mode)) return 'control_mode must be auto, manual or remote';
    robot.setControlMode(mode);
    return undefined;
  }

  function startGlobalPositioning(body: Record<string, unknown>): string | undefined {
    const { use_barcode: withBarcode = true, use_base_map_match: withMap = true } = body;
    if (typeof withBarcode !== 'boolean' || typeof withMap !== 'boolean') {
      return 'use_barcode and use_base_map_match must be booleans';
    }
    if (!robot.maps.current()) return 'no current map';
    if (robot.moves.isMoving()) return 'a move is running';
    robot.globalPositioning.start(withMap);
    return undefined;
  }

  /** Computed from the pose of the robot, only while it is docked. */
  function chargerPose() {
    if (!robot.isDocked()) return refuse(400, 'the robot is not on a charger');
    const { xM, yM, yawRad } = robot.pose();
    return ok({ pose: { pos: [xM, yM], ori: oriOf(yawRad, otherOri) } });
  }

  const withObject =
    (work: (body: Record<string, unknown>) => ReturnType<Handler>): Handler =>
    ({ body }) =>
      isRecord(body) ? work(body) : refuse(400, 'body must be an object');
  const params = () => paramsOf(settings.effective());

  return [
    ['POST', /^\/services\/restart_service$/, service(() => void restart())],
    ['POST', /^\/services\/wheel_control\/set_emergency_stop$/, service(setEmergencyStop)],
    ['POST', /^\/services\/wheel_control\/set_control_mode$/, service(setControlMode)],
    ['POST', /^\/services\/wheel_control\/clear_errors$/, service(() => void robot.clearWheelErrors())],
    ['POST', /^\/services\/start_global_positioning$/, service(startGlobalPositioning)],
    // The robot never sleeps, so this has no effect.
    ['POST', /^\/services\/wake_up_device$/, service(() => undefined)],
    ['GET', /^\/services\/query_pose\/charger_pose$/, chargerPose],
    ['GET', /^\/system\/settings\/schema$/, () => ok(settingsSchema())],
    ['GET', /^\/system\/settings\/default$/, () => ok(defaults())],
    ['GET', /^\/system\/settings\/effective$/, () => ok(settings.effective())],
    ['GET', /^\/system\/settings\/user$/, () => ok(settings.user())],
    ['POST', /^\/system\/settings\/user$/, withObject((body) => settings.replace(body) ?? created(settings.user()))],
    ['PATCH', /^\/system\/settings\/user$/, withObject((body) => settings.merge(body) ?? ok(settings.user()))],
    ['GET', /^\/robot-params$/, () => ok(params())],
    ['GET', /^\/robot-params\/default$/, () => ok(paramsOf(defaults()))],
    ['POST', /^\/robot-params$/, withObject((body) => settings.merge(settingsOfParams(body)) ?? created(params()))],
  ];
}

/** A service: 201 on success, 400 with the reason that `run` returns. */
function service(run: (body: Record<string, unknown>) => string | undefined): Handler {
  return ({ body }) => {
    const problem = run(isRecord(body) ? body : {});
    return problem === undefined ? created({}) : refuse(400, problem);
  };
}
