export const namespaces = ['system', 'secure', 'global'] as const;
export type Namespace = (typeof namespaces)[number];

const MOST_SETTINGS = 1000;
const LONGEST_VALUE = 8192;

/** The settings as they are when somebody unpacks the tablet, but for debugging, which is on. */
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

/** The settings of the tablet. They stay over a restart, and not over a reset. */
export function createSettings(onChange: (namespace: Namespace, key: string) => void) {
  let values = unpacked('5a17ab1e00000001');
  return {
    /** A reset to factory settings: debugging is off, and the tablet has another id than before. */
    reset(androidId: string): void {
      values = unpacked(androidId);
      values.global.set('adb_enabled', '0');
      values.global.set('development_settings_enabled', '0');
    },
    get: (namespace: Namespace, key: string): string | undefined => values[namespace].get(key),
    list: (namespace: Namespace) => [...values[namespace]].sort(([one], [other]) => (one < other ? -1 : 1)),
    /** False where it is refused. */
    put(namespace: Namespace, key: string, value: string): boolean {
      const map = values[namespace];
      if (key === '' || key.length > 200 || value.length > LONGEST_VALUE) return false;
      if (!map.has(key) && map.size >= MOST_SETTINGS) return false;
      const was = map.get(key);
      map.set(key, value);
      if (was !== value) onChange(namespace, key);
      return true;
    },
    /** What the system itself sets, and answers for. */
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
