import { Flags } from '@oclif/core';

/** Flags of commands that change the chassis while the robot stands, and back up its present state first. */
export const keptStateFlags = {
  'it-stands-still': Flags.boolean({
    summary: 'You see that the robot stands still: continue when the chassis does not report it.',
    default: false,
  }),
  backup: Flags.file({
    summary: 'File for the backup of the present state; by default a new file in the current folder.',
    helpValue: 'FILE',
  }),
};
