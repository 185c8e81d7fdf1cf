import { VERSION_SUMMED, VERSION_UNSUMMED } from './wire.ts';

/** What a tablet is: its maker's names and its Android. None of it says anything about a tablet of the platform. */
export interface Identity {
  readonly model: string;
  readonly manufacturer: string;
  readonly product: string;
  readonly serial: string;
}

/** An Android, as the bridge and the programs show it. */
export interface Android {
  readonly release: string;
  readonly sdk: number;
  /** What the bridge of this version is told by; only what the simulator truly does. */
  readonly features: readonly string[];
  readonly version: number;
  /** Longest payload of a frame, in bytes. */
  readonly mostPayload: number;
}

export const DEFAULT_IDENTITY: Identity = {
  model: 'GW-TAB-10',
  manufacturer: 'Simulated',
  product: 'gwtab',
  serial: 'TABSIM0001',
};

/** Another tablet than the one that is meant. */
export const OTHER_IDENTITY: Identity = {
  model: 'OTHER-TAB-8',
  manufacturer: 'Somebody',
  product: 'othertab',
  serial: 'TABOTHER99',
};

export const usualAndroid: Android = {
  release: '13',
  sdk: 33,
  features: ['shell_v2', 'cmd', 'stat_v2', 'ls_v2', 'fixed_push_mkdir', 'fixed_push_symlink_timestamp'],
  version: VERSION_UNSUMMED,
  mostPayload: 1024 * 1024,
};

export const oldAndroid: Android = {
  release: '7.1.2',
  sdk: 25,
  features: ['shell_v2', 'cmd'],
  version: VERSION_SUMMED,
  mostPayload: 256 * 1024,
};
