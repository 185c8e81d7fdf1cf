import { Errors, Flags, type Interfaces } from '@oclif/core';
import { defaultSiteFile } from './site-file.ts';

/** The site file: --site, GW_SITE, else site.yaml of this folder or of one above. */
export const siteFlag = Flags.file({
  char: 's',
  summary: 'Site file of this robot.',
  helpValue: 'FILE',
  default: async () => defaultSiteFile(),
  defaultHelp: async () => 'site.yaml, here or above',
  env: 'GW_SITE',
});

/** SSH host for all connections to the robot. */
export const viaFlag = Flags.string({
  summary: 'Connect through this SSH host, usually the gateway.',
  helpValue: 'USER@HOST[:PORT]',
});

/** Host of the operator server, for commands that connect to nothing else. */
const hostFlag = Flags.string({
  summary: 'Host name or address of the gateway, if it is not this machine.',
  helpValue: 'HOST',
});

/** Of commands that ask the running gateway. */
export const gatewayFlags = { site: siteFlag, via: viaFlag, host: hostFlag };

/** The same where the chassis is queried only with --live. */
export const viaLiveFlag = Flags.string({
  summary: 'With --live: query the chassis through this SSH host.',
  helpValue: 'USER@HOST[:PORT]',
  dependsOn: ['live'],
});

/** The same for commands that receive UDP or read files of the gateway: they run on the remote host. */
export const viaThereFlag = Flags.string({
  summary: 'Run the command on this SSH host, with its gw and its site file.',
  helpValue: 'USER@HOST[:PORT]',
});

/** Whether the chassis is queried, where a command also works without it. */
export const liveFlag = Flags.boolean({ summary: 'Query the chassis for its current software version.' });

/** For every command that ends with the verdict of a check. */
export const acceptUndecidedFlag = Flags.boolean({
  summary: 'Exit with 0 although something was not checked or not decided; what is wrong still counts.',
});

/** The simulator that a command controls. */
export const simDirFlag = Flags.directory({ summary: 'Folder of the simulator.', helpValue: 'DIR' });

/** The device that a command of the simulated cloud is for. */
export const simSerialFlag = Flags.string({
  summary: 'Serial number of the device, if it is not the simulated robot.',
  helpValue: 'SERIAL',
});

/** A number with its bounds in the help; undefined if not given. */
export function numberFlag(options: {
  summary: string;
  min: number;
  max: number;
  /** Names of the flags without which it has no effect, and is refused. Neither they nor this one have a default. */
  dependsOn?: string[];
}) {
  return Flags.custom<number>({
    summary: `${options.summary} (${options.min} to ${options.max})`,
    helpValue: 'NUMBER',
    ...(options.dependsOn && { dependsOn: options.dependsOn }),
    parse: async (input) => {
      const value = Number(input);
      if (input.trim() === '' || !Number.isFinite(value) || value < options.min || value > options.max) {
        throw new Errors.CLIError(`expected a number from ${options.min} to ${options.max}, found '${input}'`);
      }
      return value;
    },
  })();
}

interface DurationOptions {
  readonly summary: string;
  /** Seconds. */
  readonly min: number;
  readonly max: number;
  readonly dependsOn?: string[];
  readonly exactlyOne?: string[];
  readonly required?: boolean;
  readonly default?: number;
}

/** A duration in seconds, typed as 90, 90s, 1.5m or 2h, with its bounds in the help; undefined if not given. */
export function durationFlag(
  options: DurationOptions & ({ readonly default: number } | { readonly required: true }),
): Interfaces.OptionFlag<number>;
export function durationFlag(options: DurationOptions): Interfaces.OptionFlag<number | undefined>;
export function durationFlag(
  options: DurationOptions,
): Interfaces.OptionFlag<number> | Interfaces.OptionFlag<number | undefined> {
  const { summary, min, max, ...rest } = options;
  const bounds = `${durationText(min)} to ${durationText(max)}`;
  const usual = rest.default;
  return Flags.custom<number>({
    ...(rest as object),
    summary: `${summary} (${bounds})`,
    helpValue: 'DURATION',
    ...(usual !== undefined && { defaultHelp: async () => durationText(usual) }),
    parse: async (input) => {
      const seconds = readDuration(input);
      if (seconds !== undefined && seconds >= min && seconds <= max) return seconds;
      throw new Errors.CLIError(`expected a duration from ${bounds}, such as 30, 30s, 5m or 2h, found '${input}'`);
    },
  })();
}

const SECONDS_OF = { '': 1, s: 1, m: 60, min: 60, h: 3_600 } as const;

function readDuration(text: string): number | undefined {
  const [, figure = '', unit = ''] = /^(\d+(?:\.\d+)?)(s|m|min|h)?$/.exec(text.trim()) ?? [];
  return figure === '' ? undefined : Number(figure) * SECONDS_OF[unit as keyof typeof SECONDS_OF];
}

function durationText(seconds: number): string {
  if (seconds >= 3_600 && seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds >= 60 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** A TCP port; undefined if not given. */
export function portFlag(summary: string) {
  return Flags.integer({ summary, helpValue: 'PORT', min: 1, max: 65_535 });
}

/**
 * What a record is verified against. No default: the site file in this folder may be of another robot. A site file that
 * the person has exported is theirs; the record of another robot is then wrong, never green.
 */
export const recordTrustFlags = {
  'ca-file': Flags.file({
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

/** Flags of commands that change the chassis while the robot stands still, and back up its current state first. */
export const safetyFlags = {
  'robot-stands-still': Flags.boolean({
    summary: 'You see that the robot stands still: continue when its poses do not show it.',
    default: false,
  }),
  out: Flags.file({
    char: 'o',
    summary: 'File for the backup of the current state; default: a new file in the current folder.',
    helpValue: 'FILE',
  }),
};

export const noPagerFlag = Flags.boolean({
  summary: 'Print a long result without a pager, as GW_PAGER=cat does.',
});
