import { Flags } from '@oclif/core';
import type { KioskAccess } from '../lib/toolkit/kiosk/connection.ts';
import { durationFlag, siteFlag, viaFlag } from './flags.ts';

/** Flags of every kiosk command that uses adb. */
export const kioskFlags = {
  site: siteFlag,
  via: viaFlag,
  adb: Flags.file({ summary: 'The adb program, if not on the PATH.', helpValue: 'FILE', env: 'GW_ADB' }),
  usb: Flags.boolean({ summary: 'Connect to the tablet over USB.', default: false }),
  timeout: durationFlag({
    summary: 'Time limit for the authorisation of this computer on the tablet',
    default: 120,
    min: 5,
    max: 3600,
  }),
};

/** Flags of commands that can switch ADB over TCP off. */
export const lockFlags = {
  'after-restart': Flags.boolean({
    summary: 'Restart the tablet, and verify that the port stays closed.',
    default: false,
  }),
  for: durationFlag({
    summary: 'How long the port is watched after the restart',
    default: 180,
    min: 2,
    max: 3600,
  }),
};

/** Access to the tablet from the flags. */
export function kioskAccess(flags: {
  readonly adb?: string | undefined;
  readonly usb: boolean;
  readonly timeout: number;
}): KioskAccess {
  const { adb, usb } = flags;
  return { adb, usb, searchPath: process.env.PATH, authorizeMs: flags.timeout * 1_000 };
}
