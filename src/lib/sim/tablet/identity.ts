import { VERSION_SUMMED, VERSION_UNSUMMED } from './adb/wire.ts';

/** Vendor names of a tablet. They do not describe the platform's tablet. */
export interface Identity {
  readonly model: string;
  readonly manufacturer: string;
  readonly product: string;
  readonly serial: string;
}

/** An Android version, as seen through the bridge and the programs. */
export interface Android {
  readonly release: string;
  readonly sdk: number;
  /** Features in the banner: those that the simulator implements. */
  readonly features: readonly string[];
  readonly version: number;
  /** Maximum payload of a frame in bytes. */
  readonly maxPayload: number;
}

export const DEFAULT_IDENTITY: Identity = {
  model: 'GW-TAB-10',
  manufacturer: 'Simulated',
  product: 'gwtab',
  serial: 'TABSIM0001',
};

/** For the fault `tablet-other`. */
export const OTHER_IDENTITY: Identity = {
  model: 'OTHER-TAB-8',
  manufacturer: 'Example',
  product: 'othertab',
  serial: 'TABOTHER99',
};

export const defaultAndroid: Android = {
  release: '13',
  sdk: 33,
  features: ['shell_v2', 'cmd', 'stat_v2', 'ls_v2', 'fixed_push_mkdir'],
  version: VERSION_UNSUMMED,
  maxPayload: 1024 * 1024,
};

export const oldAndroid: Android = {
  release: '7.1.2',
  sdk: 25,
  features: ['shell_v2', 'cmd'],
  version: VERSION_SUMMED,
  maxPayload: 256 * 1024,
};

const MAX_NAME_LENGTH = 200;
/** Limit for all properties except read-only ones. Source: Android's property library. */
const MAX_VALUE_LENGTH = 91;
const MAX_PROPERTIES = 1000;

/** The properties of the tablet: read-only, persistent, and those that a restart resets. */
export function createProperties(make: () => { readonly identity: Identity; readonly android: Android }) {
  const delivered = [
    ['persist.sys.locale', 'de-DE'],
    ['persist.sys.timezone', 'Etc/UTC'],
    ['persist.sys.usb.config', 'adb'],
  ] as const;
  const kept = new Map<string, string>(delivered);
  const running = new Map<string, string>();

  function made(): readonly (readonly [string, string])[] {
    const { identity, android } = make();
    const { manufacturer, product, model, serial } = identity;
    return [
      ['ro.adb.secure', '1'],
      ['ro.boot.serialno', serial],
      ['ro.build.characteristics', 'tablet'],
      ['ro.build.fingerprint', `${manufacturer}/${product}/${product}:${android.release}/SIM/1:user/release-keys`],
      ['ro.build.type', 'user'],
      ['ro.build.version.release', android.release],
      ['ro.build.version.sdk', String(android.sdk)],
      ['ro.debuggable', '0'],
      ['ro.product.brand', manufacturer],
      ['ro.product.cpu.abi', 'arm64-v8a'],
      ['ro.product.device', product],
      ['ro.product.manufacturer', manufacturer],
      ['ro.product.model', model],
      ['ro.product.name', product],
      ['ro.secure', '1'],
      ['ro.serialno', serial],
      ['ro.sf.lcd_density', '240'],
    ];
  }

  const all = () => new Map([...made(), ...kept, ...running]);
  const mapOf = (name: string) => (name.startsWith('persist.') ? kept : running);

  return {
    get: (name: string): string => all().get(name) ?? '',
    list: () => [...all()].sort(([one], [other]) => (one < other ? -1 : 1)),
    /** Sets a property as the system. */
    system(name: string, value: string): void {
      mapOf(name).set(name, value);
    },
    /** Sets a property as the shell; false when refused. */
    set(name: string, value: string): boolean {
      const isName = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$/.test(name) && name.length <= MAX_NAME_LENGTH;
      if (!isName || name.startsWith('ro.') || Buffer.byteLength(value) > MAX_VALUE_LENGTH) return false;
      if (!all().has(name) && kept.size + running.size >= MAX_PROPERTIES) return false;
      mapOf(name).set(name, value);
      return true;
    },
    /** Restart: drops the properties that are not persistent. */
    forget(): void {
      running.clear();
    },
    /** Factory reset. */
    reset(): void {
      kept.clear();
      for (const [name, value] of delivered) kept.set(name, value);
    },
  };
}

export type Properties = ReturnType<typeof createProperties>;
