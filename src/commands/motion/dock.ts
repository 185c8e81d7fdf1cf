import { GwCommand, type Outcome } from '../../cli/command.ts';
import { driveFlags, driveOutcome, followOptions, watchLoss, whileDriving } from '../../cli/drive-command.ts';
import { secondsFlag } from '../../cli/flags.ts';
import { renderMotionGo } from '../../cli/render/motion.ts';
import type { MotionGo as Result } from '../../lib/toolkit/motion/motion.result.ts';

export default class MotionDock extends GwCommand<Result> {
  static override summary = 'Drive the robot to its charging dock, and verify the final pose.';
  static override description =
    'THE ROBOT MOVES. A docking order with the pose of `dock` in the site file, through the running gateway and its gate, followed to its end: the robot must stand at the dock, by its poses. Interruptions and sign-in as for `gw motion go`. A fail_reason is passed on as a number; only 103 has a measured meaning.';
  static override examples = [
    '<%= config.bin %> motion dock --robot-will-move',
    '<%= config.bin %> motion dock --robot-will-move --json',
  ];
  static override flags = {
    ...driveFlags,
    within: secondsFlag({ summary: 'How long the drive is followed', default: 660, min: 1, max: 7300 }),
  };
  static override readonly schema = 'gw/motion-dock/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MotionDock);
    const options = await followOptions(flags, 'drives the robot to its dock');
    const { driveTo } = await import('../../lib/toolkit/motion/go.ts');
    const { follow, ifLost } = watchLoss(options, 'drive to the dock');
    const { leaveRunning } = follow;
    const data = await this.withToolkit(
      flags,
      (toolkit, signal) =>
        whileDriving({ quiet: this.jsonEnabled(), signal, leaveRunning }, (context) =>
          driveTo(toolkit, { station: null, ...follow }, context),
        ),
      undefined,
      ifLost,
    );
    return driveOutcome(data);
  }

  protected override readonly render = renderMotionGo;
}
