import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { replaceFile } from '../../lifecycle/index.ts';
import { DEFAULT_WLAN, makePackageFile } from './index.ts';

/** Files for setting up the simulated tablet. */
export const TABLET_PROFILE_FILE = 'kiosk.yaml';
const PACKAGE_FILE = 'kiosk.apk';
const HEADER = '# Written by gw sim for its simulated tablet. A new run replaces it.';
/** Large enough for a visible transfer time. */
const PACKAGE_BYTES = 4_000_000;
const shell = { name: 'org.example.kiosk', versionCode: 12, versionName: '1.2.0' } as const;

export interface TabletFilesOptions {
  readonly dir: string;
  readonly model: string;
  readonly operatorPort: number;
}

/** Writes the package of a kiosk shell, which only a simulated tablet installs, and a profile that requires it. */
export async function writeTabletFiles({ dir, model, operatorPort }: TabletFilesOptions): Promise<void> {
  const file = makePackageFile({ ...shell, bytes: PACKAGE_BYTES });
  await replaceFile(join(dir, PACKAGE_FILE), file);
  const profile = {
    schema: 'gw/kiosk/1',
    name: 'Tablet of the simulated robot',
    tablet: { model },
    app: {
      name: shell.name,
      versionCode: shell.versionCode,
      file: PACKAGE_FILE,
      sha256: createHash('sha256').update(file).digest('hex'),
      activity: '.Main',
    },
    startPage: `http://127.0.0.1:${operatorPort}/`,
    deviceOwner: '.Admin',
    lockTask: true,
    stayAwake: true,
    screen: { brightness: 200, offAfterS: 1800, rotationDeg: 90 },
    sound: { mediaPercent: 40, touchSounds: false },
    hidePackages: ['com.android.chrome', 'com.android.email', 'com.android.vending'],
    network: { ssid: DEFAULT_WLAN.ssid, segment: DEFAULT_WLAN.segment },
  };
  await replaceFile(join(dir, TABLET_PROFILE_FILE), `${HEADER}\n${stringify(profile)}`);
}
