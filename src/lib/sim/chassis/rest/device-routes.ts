import type { Faults } from '../../faults.ts';
import { created, ok, type RestReply, type Route } from './rest-reply.ts';

export interface DeviceRoutesOptions {
  readonly faults: Faults;
  readonly serial: string;
  readonly software: string;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly footprint: readonly (readonly number[])[];
  readonly clockText: () => string;
}

/** Serial number in GET /device/info while the fault `wrong-serial` is on. */
const OTHER_SERIAL = 'SIM-9999';
const MODEL = 'simulated';
const FIRMWARE = { firmware_version: 'sim' } as const;
/** An address range for documentation (RFC 5737), and a locally administered MAC address. */
const wifi = {
  ssid: 'gw-sim',
  accessPoint: '02:00:00:00:00:01',
  address: '192.0.2.20',
  mac: '02:00:00:00:00:20',
  network: '192.0.2.0/24',
} as const;

/** `/device/…` as vendor facts 1.2 and the vendor's book describe it (HINWEIS). */
export function createDeviceRoutes(options: DeviceRoutesOptions) {
  const { faults } = options;
  const files: Record<string, string> = { dev: '', prod: '' };

  const isOld = () => faults.is('old-software');
  const capabilities = (): Readonly<Record<string, boolean>> =>
    isOld() ? { supportsWsV2: true } : options.capabilities;

  /** Fields of both forms of the device information. */
  function common() {
    return {
      rosversion: '1.15.0',
      rosdistro: 'noetic',
      axbot_version: isOld() ? '2.1.0-sim' : options.software,
      baseboard: FIRMWARE,
      ...(!isOld() && {
        bottom_sensor_pack: FIRMWARE,
        // No depth camera; empty in the vendor's brief example too.
        depth_camera: { firmware_version: '' },
        remote_params: { tags: [] },
      }),
    };
  }

  function info() {
    const sn = faults.is('wrong-serial') ? OTHER_SERIAL : options.serial;
    return {
      ...common(),
      device: {
        model: MODEL,
        ...(!faults.is('no-serial') && { sn }),
        name: sn,
        ...(!isOld() && { nickname: 'Simulated robot', param_tags: { dev: [], prod: [] } }),
      },
      wheel_control: FIRMWARE,
      ...(!isOld() && {
        robot: {
          footprint: options.footprint,
          inscribed_radius: 0.25,
          height: 1.1,
          thickness: 0.5,
          wheel_distance: 0.35,
          width: 0.5,
          charge_contact_position: 'back',
        },
        gitinfo: [],
      }),
      caps: capabilities(),
      ...(!isOld() && { time: options.clockText() }),
    };
  }

  /** Without a serial number, as in the vendor's example: only the full form has it. */
  function brief() {
    return {
      ...common(),
      device: { model: MODEL },
      wheel_control: { device_type: 'sim', ...FIRMWARE },
      lidar: { model: 'sim' },
    };
  }

  function wifiInfo(): object {
    return {
      wifi_mode: 'station',
      wpa_state: 'completed',
      route_mode: 'wlan0_first',
      wifi_ip: wifi.address,
      wifi_mac: wifi.mac,
      ssid: wifi.ssid,
      debug_message: '',
      routes: [`${wifi.network} dev wlan0 proto kernel scope link src ${wifi.address} metric 600 `],
      active_access_point: { ssid: wifi.ssid, hw_address: wifi.accessPoint, strength: 90 },
      last_wifi_connect_result: {},
    };
  }

  /** Stored and returned unchanged; the content is not documented, so it has no effect. */
  function keepFile(name: string, text: string): RestReply {
    files[name] = text;
    return created({});
  }

  const routes: readonly Route[] = [
    ['GET', /^\/device\/info$/, () => ok(info())],
    ['GET', /^\/device\/info\/brief$/, () => ok(brief())],
    ['GET', /^\/device\/wifi_info$/, () => ok(wifiInfo())],
    [
      'GET',
      /^\/device\/available_wifis$/,
      () => ok([{ ssid: wifi.ssid, bss: wifi.accessPoint, rssi: -48, open: false }]),
    ],
    [
      'GET',
      /^\/device\/params\/(dev|prod)$/,
      (_, name) => ({ status: 200, bytes: Buffer.from(files[name] ?? ''), type: 'text/yaml; charset=utf-8' }),
    ],
    ['PUT', /^\/device\/params\/(dev|prod)$/, ({ text }, name) => keepFile(name, text())],
  ];

  return { routes, capabilities, brief };
}
