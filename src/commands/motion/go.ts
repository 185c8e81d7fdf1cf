import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { drive, driveFlags } from '../../cli/drive-command.ts';
import { durationFlag } from '../../cli/flags.ts';
import { renderMotionGo } from '../../cli/render/motion.ts';

export default command({
  summary: 'Drive the robot to a station, and verify the final pose.',
  description:
    'THE ROBOT MOVES. One order through the running gateway and its gate, followed to its end: the robot must stand at the station, by its poses. Ctrl-C, SIGTERM and a lost terminal cancel the move; the gateway does the same after 3 s without this command (killed, or its SSH connection lost). With --leave-running the robot continues; a second Ctrl-C exits at once. This latches no stop; use `gw motion stop` for that. With operator.tourNeedsSignIn in the site file, sign in with --password-file; root and the user of `gw serve` need none, on the gateway or by the login of --via. Exits with 1 when the drive or the comparison fails, with 4 when the order is refused, and with 130 after an interruption.',
  examples: [
    '<%= config.bin %> motion go A --robot-will-move',
    '<%= config.bin %> motion go A --robot-will-move --host robot-7.local --json',
    '<%= config.bin %> motion go A --robot-will-move --leave-running',
  ],
  args: { station: Args.string({ description: 'A station of the site file.', required: true }) },
  flags: {
    ...driveFlags,
    timeout: durationFlag({ summary: 'How long the drive is followed', default: 660, min: 1, max: 7300 }),
  },
  schema: 'gw/motion-go/1',
  async run({ args, flags }) {
    const { driveTo } = await import('../../lib/toolkit/motion/go.ts');
    const { nameInFile } = await import('../../lib/toolkit/motion/shown-name.ts');
    const station = await nameInFile(flags.site, 'stations', args.station);
    const words = { does: `drives the robot to station '${station}'`, what: `drive to ${station}` };
    return await drive(this, flags, words, (toolkit, follow, context) =>
      driveTo(toolkit, { station: args.station, ...follow }, context),
    );
  },
  render: renderMotionGo,
});
