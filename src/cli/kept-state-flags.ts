import { Flags } from '@oclif/core';

/** Of commands that change the chassis while the robot stands, and keep its present state first. */
export const keptStateFlags = {
  'it-stands-still': Flags.boolean({
    summary: 'You see that the robot stands still: go on when the chassis does not tell it.',
    default: false,
  }),
  backup: Flags.file({
    summary: 'Where the present state is kept first; by default a new file in the current folder.',
    helpValue: 'FILE',
  }),
};
