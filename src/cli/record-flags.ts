import { Flags } from '@oclif/core';

/**
 * What a record is verified against. No default: the site file in this folder may be of another robot. A site file that
 * the person has exported is theirs; the record of another robot is then wrong, never green.
 */
export const recordTrustFlags = {
  ca: Flags.file({
    summary: 'CA certificates (PEM) of the device certificates.',
    helpValue: 'FILE',
  }),
  site: Flags.file({
    char: 's',
    summary: 'Site file of the robot, for the CA of its identity and the expected serial number.',
    helpValue: 'FILE',
    env: 'GW_SITE',
  }),
  serial: Flags.string({ summary: 'Serial number of the robot that must have signed.', helpValue: 'SERIAL' }),
};
