import { randomBytes } from 'node:crypto';
import type { Content, Storage } from '../storage.ts';
import { type PackageManifest, readPackageFile } from './package-file.ts';

export interface InstalledPackage {
  readonly manifest: PackageManifest;
  readonly isSystem: boolean;
  readonly path: string;
  readonly uid: number;
  state: 'enabled' | 'disabled-user';
}

export interface InstallOptions {
  readonly mayReplace: boolean;
  readonly mayDowngrade: boolean;
  readonly mayTestOnly: boolean;
}

const MAX_PACKAGES = 2000;
const FIRST_UID = 10_100;

/** Preinstalled packages, with name and version code: standard packages of Android, none of a vendor. */
const onDelivery: readonly (readonly [name: string, versionCode: number, home?: string])[] = [
  ['android', 33],
  ['com.android.calculator2', 33],
  ['com.android.calendar', 33],
  ['com.android.camera2', 20_002_000],
  ['com.android.chrome', 511_204_133],
  ['com.android.contacts', 33],
  ['com.android.deskclock', 620],
  ['com.android.email', 83_000_000],
  ['com.android.gallery3d', 40_030],
  ['com.android.inputmethod.latin', 33],
  ['com.android.launcher3', 33, 'com.android.launcher3.Launcher'],
  ['com.android.music', 33],
  ['com.android.providers.settings', 33],
  ['com.android.settings', 33, 'com.android.settings.Settings'],
  ['com.android.shell', 33],
  ['com.android.systemui', 33],
  ['com.android.vending', 83_401_610],
  ['com.android.webview', 511_204_133],
];

export interface PackagesOptions {
  readonly storage: Storage;
  readonly sdk: () => number;
  /** Why installations are refused now; undefined when they are allowed. */
  readonly refusal: () => string | undefined;
  /** Whether a package is the device owner, which must not be removed or disabled. */
  readonly isOwner: (name: string) => boolean;
}

/** The installed packages. Results are the texts of the package manager. */
export function createPackages({ storage, sdk, refusal, isOwner }: PackagesOptions) {
  const packages = new Map<string, InstalledPackage>();
  let lastUid = FIRST_UID;

  for (const [name, versionCode, activity] of onDelivery) {
    lastUid += 1;
    const activities = activity ? [{ name: activity, isMain: true, isHome: name.includes('launcher') }] : [];
    const path = name === 'android' ? '/system/framework/framework-res.apk' : `/system/app/${name}/${name}.apk`;
    const manifest = { name, versionCode, versionName: '13', minSdk: 33, targetSdk: 33, isTestOnly: false };
    packages.set(name, {
      manifest: { ...manifest, activities, admins: [] },
      isSystem: true,
      path,
      uid: name === 'android' || name === 'com.android.settings' ? 1000 : lastUid,
      state: 'enabled',
    });
  }

  function install(content: Content, options: InstallOptions): string {
    const reason = refusal();
    if (reason !== undefined) return `Failure [${reason}]`;
    const manifest = readPackageFile(content);
    if (!manifest) return 'Failure [INSTALL_PARSE_FAILED_NOT_APK: Failed to parse base.apk]';
    const { name } = manifest;
    const there = packages.get(name);
    if (manifest.minSdk > sdk()) {
      return `Failure [INSTALL_FAILED_OLDER_SDK: Requires newer sdk version #${manifest.minSdk} (current version is #${sdk()})]`;
    }
    if (manifest.isTestOnly && !options.mayTestOnly) return 'Failure [INSTALL_FAILED_TEST_ONLY: installPackageLI]';
    if (there && !options.mayReplace) {
      return `Failure [INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install ${name} without first uninstalling.]`;
    }
    if (there && manifest.versionCode < there.manifest.versionCode && !options.mayDowngrade) {
      return `Failure [INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code ${manifest.versionCode} is older than current ${there.manifest.versionCode}]`;
    }
    const freed = there && !there.isSystem ? storage.find(there.path) : undefined;
    const freeBytes =
      storage.freeBytes() + (typeof freed === 'object' && freed.kind === 'file' ? freed.content.size : 0);
    if (content.size > freeBytes || packages.size >= MAX_PACKAGES) {
      return 'Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE: Failed to override installation location]';
    }
    if (there && !there.isSystem) storage.system.remove(there.path.slice(0, there.path.lastIndexOf('/')));
    const folder = `/data/app/~~${label()}==/${name}-${label()}==`;
    storage.system.folder(folder.slice(0, folder.lastIndexOf('/')), 0o771, 1000);
    storage.system.folder(folder, 0o755, 1000);
    storage.system.file(`${folder}/base.apk`, content);
    lastUid += 1;
    packages.set(name, {
      manifest,
      isSystem: there?.isSystem ?? false,
      path: `${folder}/base.apk`,
      uid: there?.uid ?? lastUid,
      state: there?.state ?? 'enabled',
    });
    return 'Success';
  }

  return {
    get: (name: string): InstalledPackage | undefined => packages.get(name),
    list: (): readonly InstalledPackage[] =>
      [...packages.values()].sort((one, other) => (one.manifest.name < other.manifest.name ? -1 : 1)),
    install,
    /** Factory reset: removes installed packages and enables disabled ones. */
    reset(): void {
      for (const [name, there] of packages) {
        if (there.isSystem) packages.set(name, { ...there, state: 'enabled' });
        else {
          storage.system.remove(there.path.split('/').slice(0, 4).join('/'));
          packages.delete(name);
        }
      }
    },
    uninstall(name: string): string {
      const there = packages.get(name);
      if (!there) return 'Failure [DELETE_FAILED_INTERNAL_ERROR]';
      if (isOwner(name)) return 'Failure [DELETE_FAILED_DEVICE_POLICY_MANAGER]';
      if (there.isSystem) return 'Failure [DELETE_FAILED_INTERNAL_ERROR]';
      storage.system.remove(there.path.split('/').slice(0, 4).join('/'));
      packages.delete(name);
      return 'Success';
    },
  };
}

const label = () => randomBytes(16).toString('base64url');

export type Packages = ReturnType<typeof createPackages>;
