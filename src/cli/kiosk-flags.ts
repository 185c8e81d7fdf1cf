import { Flags } from '@oclif/core';
import type { KioskAccess } from '../lib/toolkit/kiosk/session.ts';
import { secondsFlag, siteFlag, viaFlag } from './flags.ts';

/** What every kiosk command has that speaks to the tablet by adb. */
export const kioskFlags = {
  site: siteFlag,
  via: viaFlag,
  adb: Flags.file({ summary: 'The adb program, when it is not on the PATH.', helpValue: 'FILE', env: 'GW_ADB' }),
  usb: Flags.boolean({ summary: 'The tablet is at a USB cable of this machine.', default: false }),
  'allow-within': secondsFlag({
    summary: 'How long somebody may take to allow this computer on the tablet',
    default: 120,
    min: 5,
    max: 3600,
  }),
};

/** What a command adds that can close the tablet. */
export const lockFlags = {
  'after-restart': Flags.boolean({
    summary: 'Restart the tablet, and prove that the port stays closed.',
    default: false,
  }),
  seconds: secondsFlag({
    summary: 'How long the port is watched after the restart',
    default: 180,
    min: 2,
    max: 3600,
  }),
};

/** The way to the tablet, as the flags say. */
export function kioskAccess(flags: {
  readonly adb?: string | undefined;
  readonly usb: boolean;
  readonly 'allow-within': number;
}): KioskAccess {
  const { adb, usb } = flags;
  return { adb, usb, searchPath: process.env.PATH, authorizeMs: flags['allow-within'] * 1_000 };
}
