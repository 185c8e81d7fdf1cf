import type { Faults } from '../../faults.ts';
import { ok, type Route } from './rest-reply.ts';

export interface DeviceRoutesOptions {
  readonly faults: Faults;
  readonly serial: string;
  readonly software: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly clockText: () => string;
}

/** Serial number in GET /device/info while the fault `wrong-serial` is on. */
const OTHER_SERIAL = 'SIM-9999';
const MODEL = 'simulated';
const FIRMWARE = { firmware_version: 'sim' } as const;
/** The robot's outline: x to the right, y to the front, not closed (vendor facts 1.2). */
const footprint = [
  [-0.2, -0.25],
  [0.2, -0.25],
  [0.25, 0],
  [0.2, 0.25],
  [-0.2, 0.25],
  [-0.25, 0],
];

/** `/device/info` as vendor facts 1.2 and the vendor's book describe it (HINWEIS). */
export function createDeviceRoutes(options: DeviceRoutesOptions): readonly Route[] {
  const { faults, serial, software, capabilities } = options;
  /** Fields of both forms of the device information. */
  const common = {
    rosversion: '1.15.0',
    rosdistro: 'noetic',
    axbot_version: software,
    baseboard: FIRMWARE,
    bottom_sensor_pack: FIRMWARE,
    // No depth camera; empty in the vendor's brief example too.
    depth_camera: { firmware_version: '' },
    remote_params: { tags: [] },
  };

  function info() {
    const sn = faults.is('wrong-serial') ? OTHER_SERIAL : serial;
    return {
      ...common,
      device: {
        model: MODEL,
        ...(!faults.is('no-serial') && { sn }),
        name: sn,
        nickname: 'Simulated robot',
        param_tags: { dev: [], prod: [] },
      },
      wheel_control: FIRMWARE,
      robot: {
        footprint,
        inscribed_radius: 0.25,
        height: 1.1,
        thickness: 0.5,
        wheel_distance: 0.35,
        width: 0.5,
        charge_contact_position: 'back',
      },
      gitinfo: [],
      caps: capabilities,
      time: options.clockText(),
    };
  }

  /** Without a serial number, as in the vendor's example: only the full form has it. */
  const brief = {
    ...common,
    device: { model: MODEL },
    wheel_control: { device_type: 'sim', ...FIRMWARE },
    lidar: { model: 'sim' },
  };

  return [
    ['GET', /^\/device\/info$/, () => ok(info())],
    ['GET', /^\/device\/info\/brief$/, () => ok(brief)],
  ];
}
