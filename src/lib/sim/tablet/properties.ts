import type { Android, Identity } from './identity.ts';

const LONGEST_NAME = 200;
/** Of all but those that never change. Source: Android's property library. */
const LONGEST_VALUE = 91;
const MOST_PROPERTIES = 1000;

/** The properties of the tablet: those of its make, those that stay, and those that a restart forgets. */
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
    /** What the system sets. */
    system(name: string, value: string): void {
      mapOf(name).set(name, value);
    },
    /** What somebody at the shell sets; false where that is refused. */
    set(name: string, value: string): boolean {
      const isName = /^[A-Za-z0-9_][A-Za-z0-9_.:@-]*$/.test(name) && name.length <= LONGEST_NAME;
      if (!isName || name.startsWith('ro.') || Buffer.byteLength(value) > LONGEST_VALUE) return false;
      if (!all().has(name) && kept.size + running.size >= MOST_PROPERTIES) return false;
      mapOf(name).set(name, value);
      return true;
    },
    /** A restart forgets what does not stay. */
    forget(): void {
      running.clear();
    },
    /** A reset to factory settings. */
    reset(): void {
      kept.clear();
      for (const [name, value] of delivered) kept.set(name, value);
    },
  };
}

export type Properties = ReturnType<typeof createProperties>;
