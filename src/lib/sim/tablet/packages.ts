import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Content, Refused, type Storage } from './storage.ts';

/**
 * A package file of the simulator: one line with its name as JSON, then padding. Neither gw nor `adb` reads what is in a
 * package, so a real one is refused as no package here, as a real tablet refuses these.
 */

const MAGIC = 'gw-simulated-package ';
const MAX_MANIFEST_BYTES = 1024;

const manifestSchema = z.strictObject({
  /** Of the whole file, so that a shortened one is noticed. */
  bytes: z.int(),
  name: z
    .string()
    .max(223)
    .regex(/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/),
  versionCode: z.int().nonnegative(),
});

export interface PackageFileOptions {
  /** Such as `org.example.kiosk`. */
  readonly name: string;
  readonly versionCode?: number;
  /** Minimum size; the padding is deterministic. */
  readonly bytes?: number;
}

interface InstalledPackage {
  readonly name: string;
  readonly versionCode: number;
  readonly isSystem: boolean;
  readonly path: string;
  /** Class names relative to the package. */
  readonly activity: string | undefined;
  readonly admin: string | undefined;
  state: 'enabled' | 'disabled-user';
}

/** Preinstalled packages, with version code and activity: standard packages of Android, none of a vendor. */
const onDelivery: readonly (readonly [name: string, versionCode: number, activity?: string])[] = [
  ['android', 33],
  ['com.android.camera2', 20_002_000],
  ['com.android.chrome', 511_204_133],
  ['com.android.email', 83_000_000],
  ['com.android.launcher3', 33, '.Launcher'],
  ['com.android.providers.settings', 33],
  ['com.android.settings', 33, '.Settings'],
  ['com.android.shell', 33],
  ['com.android.systemui', 33],
  ['com.android.vending', 83_401_610],
  ['com.android.webview', 511_204_133],
];

/** The installed packages. Refusals have the texts of the package manager. */
export function createPackages(storage: Storage) {
  const packages = new Map<string, InstalledPackage>();

  /** Factory reset: removes installed packages and enables disabled ones. */
  function reset(): void {
    storage.drop('/data/app');
    packages.clear();
    for (const [name, versionCode, activity] of onDelivery) {
      const path = `/system/app/${name}/${name}.apk`;
      packages.set(name, { name, versionCode, isSystem: true, path, activity, admin: undefined, state: 'enabled' });
    }
  }
  reset();

  return {
    reset,
    get: (name: string): InstalledPackage | undefined => packages.get(name),
    list: (): readonly InstalledPackage[] =>
      [...packages.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
    /** The content of an installed package; undefined for a system package. */
    content: ({ isSystem, path }: InstalledPackage) => (isSystem ? undefined : storage.read(path)),
    install(content: Content, mayDowngrade: boolean): void {
      const manifest = readPackageFile(content);
      if (!manifest) throw new Refused('Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse base.apk]');
      const { name, versionCode } = manifest;
      const there = packages.get(name);
      if (there?.isSystem) throw new Refused('Failure [INSTALL_FAILED_UPDATE_INCOMPATIBLE: signatures do not match]');
      if (there && versionCode < there.versionCode && !mayDowngrade) {
        throw new Refused(
          `Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code ${versionCode} is older than current ${there.versionCode}]`,
        );
      }
      const replaced = there ? storage.read(there.path).size : 0;
      if (content.size > storage.freeBytes() + replaced) {
        throw new Refused('Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location]');
      }
      const path = `/data/app/${name}/base.apk`;
      storage.put(path, content);
      const state = there?.state ?? 'enabled';
      packages.set(name, { name, versionCode, isSystem: false, path, activity: '.Main', admin: '.Admin', state });
    },
    uninstall(name: string): void {
      if (packages.get(name)?.isSystem !== false) throw new Refused('Failure [DELETE_FAILED_INTERNAL_ERROR]');
      storage.drop(`/data/app/${name}`);
      packages.delete(name);
    },
  };
}

/** The manifest of a package file; undefined when the file is not a package. Never throws. */
function readPackageFile({ head, size }: Content): z.infer<typeof manifestSchema> | undefined {
  const line = head.subarray(0, MAX_MANIFEST_BYTES).toString('utf8').split('\n', 1)[0] ?? '';
  if (!line.startsWith(MAGIC)) return undefined;
  try {
    const manifest = manifestSchema.parse(JSON.parse(line.slice(MAGIC.length)));
    return manifest.bytes === size ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** A package file for a simulated tablet, with the activity `.Main` and the administrator `.Admin`. */
export function makePackageFile({ name, versionCode = 1, bytes = 0 }: PackageFileOptions): Buffer {
  const lineFor = (total: number) => Buffer.from(`${MAGIC}${JSON.stringify({ bytes: total, name, versionCode })}\n`);
  const total = Math.max(bytes, lineFor(bytes).length + 8);
  const line = lineFor(total);
  const padding = createHash('shake256', { outputLength: total - line.length }).digest();
  return Buffer.concat([line, padding]);
}
