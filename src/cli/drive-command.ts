import { Flags } from '@oclif/core';
import { exitCodes, GwError } from '../lib/error/index.ts';
import type { Finding } from '../lib/toolkit/index.ts';
import { type FollowOptions, lossOfDrive } from '../lib/toolkit/motion/followed-run.ts';
import { type CarefulContext, runCarefully } from './careful-run.ts';
import type { Outcome } from './command.ts';
import { passwordFileFlag, readDevicePassword } from './device-password.ts';
import { hostFlag, siteFlag, viaFlag } from './flags.ts';

/** Flags of every command that starts a drive and follows it. */
export const driveFlags = {
  site: siteFlag,
  via: viaFlag,
  host: hostFlag,
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
    helpValue: '8004',
  }),
  'password-file': passwordFileFlag,
};

export interface DriveFlags {
  readonly host?: string | undefined;
  readonly 'robot-will-move': boolean;
  readonly 'leave-running': boolean;
  readonly 'although-alert'?: number[] | undefined;
  readonly 'password-file'?: string | undefined;
  readonly within: number;
}

/** Throws RISK_NOT_ACCEPTED without the confirmation that the robot may move. `what`: `drives the robot to A`. */
export async function followOptions(flags: DriveFlags, what: string): Promise<FollowOptions> {
  if (!flags['robot-will-move']) {
    throw new GwError('RISK_NOT_ACCEPTED', `This ${what}.`, {
      remedy: 'Make sure that the path is clear of people, then add --robot-will-move.',
    });
  }
  return {
    host: flags.host,
    password: await readDevicePassword(flags['password-file']),
    withinMs: flags.within * 1000,
    leaveRunning: flags['leave-running'],
    although: flags['although-alert'] ?? [],
  };
}

/** The options with a note of whether the order was sent, which decides what a lost SSH connection means. */
export function watchLoss(follow: FollowOptions, what: string) {
  let isOrdered = false;
  const onOrder = () => {
    isOrdered = true;
  };
  const { leaveRunning } = follow;
  return {
    follow: { ...follow, onOrder },
    ifLost: (lost: GwError) => lossOfDrive(lost, { what, isOrdered, leaveRunning }),
  };
}

/** Ctrl-C and a lost terminal end the run, and its end is awaited; a second Ctrl-C exits at once. */
export function whileDriving<T>(
  { quiet, signal, leaveRunning }: { quiet: boolean; signal: AbortSignal; leaveRunning: boolean },
  work: (context: CarefulContext) => Promise<T>,
): Promise<T> {
  const interrupted = leaveRunning
    ? 'Interrupted. The robot continues.'
    : 'Interrupted. Ending the run, within seconds; a second Ctrl-C exits at once, and the robot may keep moving.';
  return runCarefully({ quiet, signal, interrupted }, work);
}

/** 130 after an interruption, 1 when a finding is wrong. */
export function driveOutcome<
  T extends { readonly state: string; readonly interrupted: boolean; readonly findings: readonly Finding[] },
>(data: T): Outcome<T> {
  const isWhole = !data.interrupted || data.state === 'succeeded';
  const ok = isWhole && data.findings.every(({ verdict }) => verdict !== 'wrong');
  return { data, ok, exitCode: data.interrupted ? exitCodes.interrupted : exitCodes.checkFailed };
}
