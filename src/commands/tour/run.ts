import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { driveFlags, driveOutcome, followOptions, watchLoss, whileDriving } from '../../cli/drive-command.ts';
import { secondsFlag } from '../../cli/flags.ts';
import { renderTourRun } from '../../cli/render/motion.ts';
import type { TourRun as Result } from '../../lib/toolkit/tour/run.result.ts';

export default class TourRun extends GwCommand<Result> {
  static override summary = 'Drive a tour through the running gateway, and verify the final pose.';
  static override description =
    'THE ROBOT MOVES. Follows the tour to its end. At each station the robot must stand, by its poses, before the next order is sent; a wrong heading detects a wrong angle unit. Ctrl-C, SIGTERM and a lost terminal end the tour and cancel its move; the gateway does the same after 3 s without this command (killed, or its SSH connection lost). With --leave-running the robot continues; a second Ctrl-C exits at once. This latches no stop; use `gw motion stop` for that. With operator.tourNeedsSignIn in the site file, sign in with --password-file; root and the user of `gw serve` need none, on the gateway or by the login of --via. Exits with 1 when the tour or the comparison fails, and with 130 after an interruption.';
  static override examples = [
    '<%= config.bin %> tour run breakfast --robot-will-move',
    '<%= config.bin %> tour run breakfast --robot-will-move --within 300 --json',
    '<%= config.bin %> tour run breakfast --robot-will-move --leave-running --password-file device-password.txt',
  ];
  static override args = { name: Args.string({ description: 'A tour of the site file.', required: true }) };
  static override flags = {
    ...driveFlags,
    within: secondsFlag({ summary: 'How long the tour may take', default: 120, min: 1, max: 3600 }),
  };
  static override readonly schema = 'gw/tour-run/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(TourRun);
    const options = await followOptions(flags, `drives the robot through tour '${args.name}'`);
    const { runTour } = await import('../../lib/toolkit/tour/run.ts');
    const { follow, ifLost } = watchLoss(options, `tour '${args.name}'`);
    const { leaveRunning } = follow;
    const data = await this.withToolkit(
      flags,
      (toolkit, signal) =>
        whileDriving({ quiet: this.jsonEnabled(), signal, leaveRunning }, (context) =>
          runTour(toolkit, { tour: args.name, ...follow }, context),
        ),
      undefined,
      ifLost,
    );
    return driveOutcome(data);
  }

  protected override readonly render = renderTourRun;
}
