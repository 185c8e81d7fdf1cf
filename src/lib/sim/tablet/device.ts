import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock } from '../../lifecycle/index.ts';
import type { Faults } from '../faults.ts';
import { VERSION_SUMMED, VERSION_UNSUMMED } from './adb/wire.ts';
import { createPackages } from './packages.ts';
import { contentOf, createStorage } from './storage.ts';

/** Vendor names of a tablet. They do not describe the platform's tablet. */
export interface Identity {
  readonly model: string;
  readonly manufacturer: string;
  readonly product: string;
  readonly serial: string;
}

export const DEFAULT_IDENTITY: Identity = {
  model: 'GW-TAB-10',
  manufacturer: 'Simulated',
  product: 'gwtab',
  serial: 'TABSIM0001',
};

/** For the fault `tablet-other`. */
const OTHER_IDENTITY: Identity = {
  model: 'OTHER-TAB-8',
  manufacturer: 'Example',
  product: 'othertab',
  serial: 'TABOTHER99',
};

/** An Android version with its debug bridge; the features are those that the simulator implements. */
const modernAndroid = {
  release: '13',
  sdk: '33',
  features: 'shell_v2,cmd,fixed_push_mkdir',
  version: VERSION_UNSUMMED,
  maxPayload: 1024 * 1024,
};
const oldAndroid: typeof modernAndroid = {
  release: '7.1.2',
  sdk: '25',
  features: 'shell_v2,cmd',
  version: VERSION_SUMMED,
  maxPayload: 256 * 1024,
};

const CAPACITY_BYTES = 24 * 1024 ** 3;
const DEFAULT_FREE_BYTES = 16 * 1024 ** 3;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const LAUNCHER = 'com.android.launcher3/com.android.launcher3.Launcher';
export const PHYSICAL_DENSITY = 240;
/** Limit for all properties except read-only ones. Source: Android's property library. */
const MAX_VALUE_LENGTH = 91;

export const namespaces = ['system', 'secure', 'global'] as const;
export type Namespace = (typeof namespaces)[number];

/** As delivered, but with debugging on. */
const delivered = (androidId: string): Record<Namespace, Map<string, string>> => ({
  system: new Map([
    ['accelerometer_rotation', '1'],
    ['screen_brightness', '102'],
    ['screen_brightness_mode', '1'],
    ['screen_off_timeout', '60000'],
    ['sound_effects_enabled', '1'],
    ['user_rotation', '0'],
  ]),
  secure: new Map([
    ['android_id', androidId],
    ['user_setup_complete', '1'],
  ]),
  global: new Map([
    ['adb_enabled', '1'],
    ['adb_wifi_enabled', '0'],
    ['development_settings_enabled', '1'],
    ['device_provisioned', '1'],
    ['stay_on_while_plugged_in', '0'],
  ]),
});

export interface DeviceOptions {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly identity: Identity;
  readonly freeBytes: number | undefined;
  /** IPv4 address with prefix length, and SSID of the WLAN. */
  readonly wlan: { readonly address: string; readonly ssid: string };
  /** Restarts the bridge after a short delay, with the settings and properties at that time. */
  readonly restartBridge: () => void;
  /** Restarts the tablet; resolves when the restart begins. */
  readonly reboot: () => Promise<void>;
}

/** The state of the tablet that its programs read and change. */
export function createDevice(options: DeviceOptions) {
  const { clock, faults, wlan, restartBridge, reboot, freeBytes = DEFAULT_FREE_BYTES } = options;
  const usedBytes = CAPACITY_BYTES - freeBytes;
  const isFull = () => faults.is('tablet-full');
  const storage = createStorage({ clock, capacityBytes: CAPACITY_BYTES, usedBytes, isFull });
  for (const folder of ['/data/local/tmp', '/sdcard/Download', '/system/bin']) storage.put(folder);
  const packages = createPackages(storage);
  const identity = () => (faults.is('tablet-other') ? OTHER_IDENTITY : options.identity);
  const android = () => (faults.is('tablet-old') ? oldAndroid : modernAndroid);
  /** Properties that a restart keeps, and those that it resets. */
  const kept = new Map<string, string>();
  const running = new Map<string, string>();
  let settings = delivered('5a17ab1e00000001');
  let lastTask = 0;

  function readOnly(): readonly (readonly [string, string])[] {
    const { manufacturer, product, model, serial } = identity();
    const { release, sdk } = android();
    return [
      ['ro.adb.secure', '1'],
      ['ro.build.fingerprint', `${manufacturer}/${product}/${product}:${release}/SIM/1:user/release-keys`],
      ['ro.build.type', 'user'],
      ['ro.build.version.release', release],
      ['ro.build.version.sdk', sdk],
      ['ro.product.device', product],
      ['ro.product.manufacturer', manufacturer],
      ['ro.product.model', model],
      ['ro.product.name', product],
      ['ro.serialno', serial],
      ['ro.sf.lcd_density', String(PHYSICAL_DENSITY)],
    ];
  }

  const device = {
    storage,
    packages,
    faults,
    wlan,
    android,
    reboot,
    /** The device owner, `package/full.Class`. */
    owner: undefined as string | undefined,
    isLocked: false,
    /** Override of the physical density. */
    density: undefined as number | undefined,
    mediaVolume: 7,
    front: { component: LAUNCHER, action: '', data: undefined as string | undefined, task: 0, record: '' },
    isOwner: (name: string) => device.owner?.split('/')[0] === name,
    properties: () => new Map([...readOnly(), ...kept, ...running].sort(([one], [other]) => (one < other ? -1 : 1))),
    property: (name: string): string => device.properties().get(name) ?? '',
    setProperty: (name: string, value: string) => void (name.startsWith('persist.') ? kept : running).set(name, value),
    /** Sets a property as the shell; false when refused. */
    trySetProperty(name: string, value: string): boolean {
      const isAllowed = /^[a-z]\w*(\.\w+)+$/.test(name) && !/^(ro|ctl)\./.test(name);
      if (!isAllowed || Buffer.byteLength(value) > MAX_VALUE_LENGTH) return false;
      device.setProperty(name, value);
      return true;
    },
    /** Sets the port until the next restart, 0 for none, and restarts the bridge. */
    listenOnly(port: string): void {
      device.setProperty('service.adb.tcp.port', port);
      restartBridge();
    },
    settings: () => settings,
    /** Undefined deletes the setting. */
    setSetting(namespace: Namespace, key: string, value: string | undefined): void {
      const values = settings[namespace];
      const was = values.get(key);
      if (value === undefined) values.delete(key);
      else values.set(key, value);
      if (was !== value && namespace === 'global' && key === 'adb_enabled') restartBridge();
    },
    start(component: string, action: string, data?: string): void {
      lastTask += 1;
      const record = randomBytes(4).toString('hex').slice(0, 7);
      device.front = { component, action, data, task: lastTask, record };
      // Kiosk shells that are device owner enter lock task mode with their first screen.
      const isShell = action !== HOME && device.isOwner(component.split('/')[0] ?? '');
      if (isShell && !faults.is('tablet-unlocked')) device.isLocked = true;
    },
    banner() {
      const { product, model } = identity();
      return `device::ro.product.name=${product};ro.product.model=${model};ro.product.device=${product};features=${android().features}`;
    },
    /** Drops what a restart resets. */
    shutDown: () => running.clear(),
    boot(): void {
      storage.put(BOOT_ID, contentOf(Buffer.from(`${randomUUID()}\n`)), 0o444);
      device.isLocked = false;
      const shell = packages.get(device.owner?.split('/')[0] ?? '');
      device.start(shell?.state === 'enabled' ? wholeComponent(`${shell.name}/${shell.activity}`) : LAUNCHER, HOME);
    },
    /** Factory reset: debugging is off, and the tablet has a new id. */
    reset(): void {
      settings = delivered(randomBytes(8).toString('hex').replace(/^0/, '1'));
      settings.global.set('adb_enabled', '0');
      settings.global.set('development_settings_enabled', '0');
      kept.clear();
      packages.reset();
      Object.assign(device, { owner: undefined, isLocked: false, density: undefined, mediaVolume: 7 });
    },
  };
  device.boot();
  return device;
}

/** `package/full.Class` from a component in short form. */
export function wholeComponent(text: string): string {
  const [name = '', className = ''] = text.split('/');
  return `${name}/${className.startsWith('.') ? name : ''}${className}`;
}

const HOME = 'android.intent.action.MAIN';

export type Device = ReturnType<typeof createDevice>;
