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
