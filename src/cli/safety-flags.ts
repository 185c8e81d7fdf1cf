import { Flags } from '@oclif/core';

/** Flags of commands that change the chassis while the robot stands still, and back up its current state first. */
export const safetyFlags = {
  'it-stands-still': Flags.boolean({
    summary: 'You see that the robot stands still: continue when its poses do not show it.',
    default: false,
  }),
  backup: Flags.file({
    summary: 'File for the backup of the current state; default: a new file in the current folder.',
    helpValue: 'FILE',
  }),
};
