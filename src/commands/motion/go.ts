import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { driveFlags, driveOutcome, followOptions, whileDriving } from '../../cli/drive-command.ts';
import { secondsFlag } from '../../cli/flags.ts';
import { renderMotionGo } from '../../cli/render/motion.ts';
import type { MotionGo as Result } from '../../lib/toolkit/motion/motion.result.ts';

export default class MotionGo extends GwCommand<Result> {
  static override summary = 'Drive the robot to a station, and compare where it then stands.';
  static override description =
    'THE ROBOT MOVES. One order through the running gateway and its gate, followed to its end; then the pose that the chassis reports is compared with the station of the site file. Ctrl-C, SIGTERM and a lost terminal end the drive and cancel its move, unless --leave-running; a second Ctrl-C ends at once. Nothing is latched by that: `gw motion stop` does. Where the site file has operator.tourNeedsSignIn, --password-file signs in; on the gateway itself its user needs none. Ends with 1 when the drive or the comparison fails, with 4 when it is refused, and with 130 after an interruption.';
  static override examples = [
    '<%= config.bin %> motion go A --robot-will-move',
    '<%= config.bin %> motion go A --robot-will-move --host robot-7.local --json',
    '<%= config.bin %> motion go A --robot-will-move --leave-running',
  ];
  static override args = { station: Args.string({ description: 'A station of the site file.', required: true }) };
  static override flags = {
    ...driveFlags,
    within: secondsFlag({ summary: 'How long it is followed', default: 660, min: 1, max: 7300 }),
  };
  static override readonly schema = 'gw/motion-go/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(MotionGo);
    const follow = await followOptions(flags, `drives the robot to station '${args.station}'`);
    const { driveTo } = await import('../../lib/toolkit/motion/go.ts');
    const { leaveRunning } = follow;
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      whileDriving({ quiet: this.jsonEnabled(), signal, leaveRunning }, (context) =>
        driveTo(toolkit, { station: args.station, ...follow }, context),
      ),
    );
    return driveOutcome(data);
  }

  protected override render(data: Result): string {
    return renderMotionGo(data);
  }
}
