import { Flags } from '@oclif/core';

/** What a record is compared with. No default: a site file that happens to lie here need not be the robot's. */
export const recordTrustFlags = {
  ca: Flags.file({
    summary: 'Certificates (PEM) of the authority that issues device certificates.',
    helpValue: 'FILE',
  }),
  site: Flags.file({
    char: 's',
    summary: 'Site file of the robot: its identity names the authority, and its serial who must have signed.',
    helpValue: 'FILE',
  }),
  serial: Flags.string({ summary: 'The robot that must have signed.', helpValue: 'SERIAL' }),
};
