import { randomBytes } from 'node:crypto';

export const namespaces = ['system', 'secure', 'global'] as const;
export type Namespace = (typeof namespaces)[number];

const MAX_SETTINGS = 1000;
const MAX_VALUE_LENGTH = 8192;

/** Initial settings: as delivered, but with debugging on. */
function unpacked(androidId: string): Record<Namespace, Map<string, string>> {
  return {
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
      ['airplane_mode_on', '0'],
      ['development_settings_enabled', '1'],
      ['device_provisioned', '1'],
      ['stay_on_while_plugged_in', '0'],
      ['wifi_on', '1'],
    ]),
  };
}

/** The settings of the tablet, kept over a restart, not over a factory reset. */
export function createSettings(onChange: (namespace: Namespace, key: string) => void) {
  let values = unpacked('5a17ab1e00000001');
  return {
    /** Factory reset: debugging is off, and the tablet has a new id. */
    reset(androidId: string): void {
      values = unpacked(androidId);
      values.global.set('adb_enabled', '0');
      values.global.set('development_settings_enabled', '0');
    },
    get: (namespace: Namespace, key: string): string | undefined => values[namespace].get(key),
    list: (namespace: Namespace) => [...values[namespace]].sort(([one], [other]) => (one < other ? -1 : 1)),
    /** False when refused. */
    put(namespace: Namespace, key: string, value: string): boolean {
      const map = values[namespace];
      if (key === '' || key.length > 200 || value.length > MAX_VALUE_LENGTH) return false;
      if (!map.has(key) && map.size >= MAX_SETTINGS) return false;
      const was = map.get(key);
      map.set(key, value);
      if (was !== value) onChange(namespace, key);
      return true;
    },
    /** Sets a value as the system, without checks. */
    system(namespace: Namespace, key: string, value: string): void {
      values[namespace].set(key, value);
    },
    delete(namespace: Namespace, key: string): boolean {
      const was = values[namespace].delete(key);
      if (was) onChange(namespace, key);
      return was;
    },
  };
}

export type Settings = ReturnType<typeof createSettings>;

/** The activity in front. */
interface FrontTask {
  /** `package/full.Class`. */
  readonly component: string;
  readonly action: string;
  readonly data: string | undefined;
  readonly task: number;
  /** Unique id of this record. */
  readonly record: string;
}

const LAUNCHER = 'com.android.launcher3/com.android.launcher3.Launcher';

/** The screen: activity in front, density, volumes. */
export function createScreen() {
  let lastTask = 1;
  const open = (component: string, action: string, data: string | undefined): FrontTask => ({
    component,
    action,
    data,
    task: lastTask++,
    record: randomBytes(4).toString('hex').slice(0, 7),
  });
  const home = () => open(LAUNCHER, 'android.intent.action.MAIN', undefined);
  let front = home();
  return {
    physicalDensity: 240,
    size: '1200x1920',
    density: undefined as number | undefined,
    /** By stream number: 3 is music. */
    volumes: new Map<number, number>([[3, 7]]),
    isLocked: false,
    front: (): FrontTask => front,
    start(component: string, action: string, data: string | undefined): FrontTask {
      front = open(component, action, data);
      return front;
    },
    goHome(): void {
      front = home();
    },
  };
}

export type Screen = ReturnType<typeof createScreen>;
