import { Flags } from '@oclif/core';

/** Flags of commands that change the chassis at standstill, after a backup of its current state. */
export const keptStateFlags = {
  'it-stands-still': Flags.boolean({
    summary: 'Confirm that the robot stands still, where the chassis does not report it.',
    default: false,
  }),
  backup: Flags.file({
    summary: 'File for the backup of the current state; by default a new file in the current folder.',
    helpValue: 'FILE',
  }),
};
