import { Errors, Flags } from '@oclif/core';

/** Flags of the commands that play the technician's cloud console. */
export const servicesFlag = Flags.custom<string[]>({
  summary: 'Services of the tunnel, one to three; web by default.',
  helpValue: 'NAME,NAME',
  parse: async (input) => input.split(',').map((name) => name.trim()),
})();

const MIN_MINUTES = 0.05;
const MAX_MINUTES = 720;

/** Fractions, so that an end by the clock of the cloud can be tried in seconds. */
export const tunnelMinutesFlag = Flags.custom<number>({
  summary: `Minutes after which the tunnel service closes the tunnel (${MIN_MINUTES} to ${MAX_MINUTES}).`,
  helpValue: 'MINUTES',
  default: 30,
  parse: async (input) => {
    const value = Number(input);
    if (!(value >= MIN_MINUTES && value <= MAX_MINUTES)) {
      throw new Errors.CLIError(`expected minutes from ${MIN_MINUTES} to ${MAX_MINUTES}, found '${input}'`);
    }
    return value;
  },
})();

export const tunnelRegionFlag = Flags.string({
  summary: 'Region in the notification, if it is not that of the simulated cloud.',
  helpValue: 'REGION',
});
