import { Errors, Flags } from '@oclif/core';

/** Flags that more than one command has. */
export const siteFlag = Flags.file({
  char: 's',
  summary: 'Site file of this robot.',
  helpValue: 'FILE',
  default: 'site.yaml',
  env: 'GW_SITE',
});

/** Whether the chassis is asked, where a command can also answer without it. */
export const liveFlag = Flags.boolean({ summary: 'Ask the chassis which software it has now.' });

/** A duration in seconds with its bounds said in the help. */
export function secondsFlag(options: { summary: string; default: number; min: number; max: number }) {
  return Flags.custom<number>({
    summary: `${options.summary} (${options.min} to ${options.max} seconds)`,
    helpValue: 'SECONDS',
    default: options.default,
    parse: async (input) => {
      const value = Number(input);
      if (!Number.isFinite(value) || value < options.min || value > options.max) {
        throw new Errors.CLIError(`expected seconds from ${options.min} to ${options.max}, found '${input}'`);
      }
      return value;
    },
  })();
}
