import { command } from '../../cli/define.ts';
import { drive, driveFlags } from '../../cli/drive-command.ts';
import { durationFlag } from '../../cli/flags.ts';
import { renderMotionGo } from '../../cli/render/motion.ts';

export default command({
  summary: 'Drive the robot to its charging dock, and verify the final pose.',
  description:
    'THE ROBOT MOVES. A docking order with the pose of `dock` in the site file, through the running gateway and its gate, followed to its end: the robot must stand at the dock, by its poses. Interruptions and sign-in as for `gw motion go`. A fail_reason is passed on as a number; only 103 has a measured meaning.',
  examples: [
    '<%= config.bin %> motion dock --robot-will-move',
    '<%= config.bin %> motion dock --robot-will-move --json',
  ],
  flags: {
    ...driveFlags,
    timeout: durationFlag({ summary: 'How long the drive is followed', default: 660, min: 1, max: 7300 }),
  },
  schema: 'gw/motion-dock/1',
  async run({ flags }) {
    const { driveTo } = await import('../../lib/toolkit/motion/go.ts');
    const words = { does: 'drives the robot to its dock', what: 'drive to the dock' };
    return await drive(this, flags, words, (toolkit, follow, context) =>
      driveTo(toolkit, { station: null, ...follow }, context),
    );
  },
  render: renderMotionGo,
});
