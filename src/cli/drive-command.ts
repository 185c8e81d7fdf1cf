import { Flags } from '@oclif/core';
import { exitCodes, GwError } from '../lib/error/index.ts';
import type { Line, Toolkit } from '../lib/toolkit/index.ts';
import { type FollowOptions, lossOfDrive } from '../lib/toolkit/motion/followed-run.ts';
import { conclude } from '../lib/toolkit/verdict.ts';
import { type CarefulContext, runCarefully } from './careful-run.ts';
import type { GwCommand, Outcome } from './command.ts';
import { gatewayFlags } from './flags.ts';
import { passwordFileFlag, readDevicePassword } from './secrets.ts';

/** Flags of every command that starts a drive and follows it. */
export const driveFlags = {
  ...gatewayFlags,
  'robot-will-move': Flags.boolean({
    summary: 'Confirm that the way is clear of people and the robot may move.',
    default: false,
  }),
  'leave-running': Flags.boolean({
    summary: 'Let the robot continue when this command is interrupted, killed, or loses its terminal or connection.',
    default: false,
  }),
  'although-alert': Flags.integer({
    summary: 'Drive although the robot reports this alert. Repeatable; any other error still refuses the order.',
    description:
      'For a signed-in person beside the robot who has judged the alert: by its number, for this order only.',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'CODE',
  }),
  'password-file': passwordFileFlag,
};

interface DriveFlags {
  readonly site: string;
  readonly via?: string | undefined;
  readonly host?: string | undefined;
  readonly 'robot-will-move': boolean;
  readonly 'leave-running': boolean;
  readonly 'although-alert'?: number[] | undefined;
  readonly 'password-file'?: string | undefined;
  readonly timeout: number;
}

/**
 * Runs a drive and follows it to its end. Throws RISK_NOT_ACCEPTED without the confirmation that the robot may move.
 * Ctrl-C and a lost terminal end the run, and its end is awaited; a second Ctrl-C exits at once. `does`: `drives the
 * robot to A`; `what`: the run in the words of a lost connection.
 */
export async function drive<T extends Driven>(
  command: GwCommand<object>,
  flags: DriveFlags,
  { does, what }: { readonly does: string; readonly what: string },
  work: (toolkit: Toolkit, follow: FollowOptions, context: CarefulContext) => Promise<T>,
): Promise<Outcome<T>> {
  if (!flags['robot-will-move']) {
    throw new GwError('RISK_NOT_ACCEPTED', `This ${does}.`, {
      remedy: 'Make sure that the path is clear of people, then add --robot-will-move.',
    });
  }
  const leaveRunning = flags['leave-running'];
  let isOrdered = false;
  const follow: FollowOptions = {
    host: flags.host,
    password: await readDevicePassword(flags['password-file']),
    withinMs: flags.timeout * 1000,
    leaveRunning,
    although: flags['although-alert'] ?? [],
    onOrder: () => {
      isOrdered = true;
    },
  };
  const interrupted = leaveRunning
    ? 'Interrupted. The robot continues.'
    : 'Interrupted. Ending the run, within seconds; a second Ctrl-C exits at once, and the robot may keep moving.';
  const data = await command.withToolkit(
    flags,
    (toolkit, signal) =>
      runCarefully({ quiet: command.isQuiet, signal, interrupted }, (context) => work(toolkit, follow, context)),
    { ifLost: (lost) => lossOfDrive(lost, { what, isOrdered, leaveRunning }) },
  );
  return driveOutcome(data);
}

interface Driven {
  readonly state: string;
  readonly interrupted: boolean;
  readonly findings: readonly Line[];
}

/** 130 after an interruption, 1 when a finding is wrong or was not checked: a robot that may be elsewhere has not arrived. */
export function driveOutcome<T extends Driven>(data: T): Outcome<T> {
  const isWhole = !data.interrupted || data.state === 'succeeded';
  const ok = isWhole && conclude(data.findings) === 'ok';
  return { data, ok, exitCode: data.interrupted ? exitCodes.interrupted : exitCodes.checkFailed };
}
