import { Errors, Flags } from '@oclif/core';

/** Flags that more than one command has. */
export const siteFlag = Flags.file({
  char: 's',
  summary: 'Site file of this robot.',
  helpValue: 'FILE',
  default: 'site.yaml',
  env: 'GW_SITE',
});

/** Goes through another machine, wherever a command talks to the robot. */
export const viaFlag = Flags.string({
  summary: 'Go through this machine by SSH, usually the gateway.',
  helpValue: 'USER@HOST[:PORT]',
});

/** Where the operator server of the robot is, for commands that talk to nothing else. */
export const hostFlag = Flags.string({
  summary: 'Address of the gateway, when it is not this machine.',
  helpValue: 'HOST',
});

/** The same where the chassis is asked only on demand. */
export const viaLiveFlag = Flags.string({
  summary: 'With --live: ask the chassis through this machine by SSH.',
  helpValue: 'USER@HOST[:PORT]',
  dependsOn: ['live'],
});

/** The same where a command listens by UDP or reads files of the gateway: there it runs over there, with its site file. */
export const viaThereFlag = Flags.string({
  summary: 'Run it on this machine by SSH, with the gw and the site file there.',
  helpValue: 'USER@HOST[:PORT]',
});

/** Whether the chassis is asked, where a command can also answer without it. */
export const liveFlag = Flags.boolean({ summary: 'Ask the chassis which software it has now.' });

/** A number with its bounds said in the help; absent where it is not given. */
export function numberFlag(options: { summary: string; min: number; max: number }) {
  return Flags.custom<number>({
    summary: `${options.summary} (${options.min} to ${options.max})`,
    helpValue: 'NUMBER',
    parse: async (input) => {
      const value = Number(input);
      if (input.trim() === '' || !Number.isFinite(value) || value < options.min || value > options.max) {
        throw new Errors.CLIError(`expected a number from ${options.min} to ${options.max}, found '${input}'`);
      }
      return value;
    },
  })();
}

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
