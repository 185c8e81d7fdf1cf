import { Flags } from '@oclif/core';
import { durationFlag } from './flags.ts';

/** Flags of the commands that play the technician's cloud console. */
export const tunnelLifetimeFlag = durationFlag({
  summary: 'Time after which the tunnel service closes the tunnel',
  default: 1_800,
  // Short, so that an end by the clock of the cloud can be tried.
  min: 3,
  max: 43_200,
});

export const tunnelRegionFlag = Flags.string({
  summary: 'Region in the notification, if it is not that of the simulated cloud.',
  helpValue: 'REGION',
});
