import { isRecord } from '../maps/map-store.ts';
import type { Robot } from '../robot.ts';
import { created, type Handler, notSimulated, ok, type Route, refuse } from './rest-reply.ts';

const CONTROL_MODES = ['auto', 'manual', 'remote'];
/** The only setting of this robot, in metres per second. Name and schema are the vendor's, the range is a project decision. */
const SPEED = 'control.max_forward_velocity';
const speed = { default: 1, min: 0.1, max: 1 } as const;

/** `/services/…` and `/system/settings/…` as the vendor describes them (HINWEIS). */
export function createServiceRoutes(robot: Robot, restart: () => void): readonly Route[] {
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

  const setSettings: Handler = ({ method, body }) => {
    if (!isRecord(body)) return refuse(400, 'body must be an object');
    const unknown = Object.keys(body).find((name) => name !== SPEED);
    if (unknown !== undefined) return notSimulated(`the setting ${unknown}`);
    const value = body[SPEED];
    if (value !== undefined && !(typeof value === 'number' && value >= speed.min && value <= speed.max)) {
      return refuse(400, `${SPEED} must be a number from ${speed.min} to ${speed.max}`);
    }
    // POST replaces all values, PATCH only those in the body.
    if (value !== undefined || method === 'POST') robot.setSpeedLimit(value);
    return method === 'POST' ? created(userSettings()) : ok(userSettings());
  };
  const userSettings = () => ({ [SPEED]: robot.speedLimitMS() });

  return [
    ['POST', /^\/services\/restart_service$/, service(() => void restart())],
    ['POST', /^\/services\/wheel_control\/set_emergency_stop$/, service(setEmergencyStop)],
    ['POST', /^\/services\/wheel_control\/set_control_mode$/, service(setControlMode)],
    ['POST', /^\/services\/wheel_control\/clear_errors$/, service(() => void robot.clearWheelErrors())],
    // The robot never sleeps, so this has no effect.
    ['POST', /^\/services\/wake_up_device$/, service(() => undefined)],
    [
      'GET',
      /^\/system\/settings\/schema$/,
      () => {
        const range = `[${speed.min}, ${speed.max}]`;
        return ok({
          ax: [{ name: SPEED, title: 'Max Forward Velocity', type: 'float', default: speed.default, range }],
        });
      },
    ],
    ['GET', /^\/system\/settings\/effective$/, () => ok({ [SPEED]: robot.speedLimitMS() ?? speed.default })],
    ['GET', /^\/system\/settings\/user$/, () => ok(userSettings())],
    ['POST', /^\/system\/settings\/user$/, setSettings],
    ['PATCH', /^\/system\/settings\/user$/, setSettings],
  ];
}

/** A service: 201 on success, 400 with the reason that `run` returns. */
function service(run: (body: Record<string, unknown>) => string | undefined): Handler {
  return ({ body }) => {
    const problem = run(isRecord(body) ? body : {});
    return problem === undefined ? created({}) : refuse(400, problem);
  };
}
