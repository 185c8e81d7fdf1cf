import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { drive, driveFlags } from '../../cli/drive-command.ts';
import { durationFlag } from '../../cli/flags.ts';
import { renderTourRun } from '../../cli/render/motion.ts';

export default command({
  summary: 'Drive a tour through the running gateway, and verify the final pose.',
  description:
    'THE ROBOT MOVES. Follows the tour to its end. At each station the robot must stand, by its poses, before the next order is sent; a wrong heading detects a wrong angle unit. Ctrl-C, SIGTERM and a lost terminal end the tour and cancel its move; the gateway does the same after 3 s without this command (killed, or its SSH connection lost). A person may pause the tour on the tablet: the command waits, and --timeout counts without pauses. With --leave-running the robot continues; a second Ctrl-C exits at once. This latches no stop; use `gw motion stop` for that. With operator.tourNeedsSignIn in the site file, sign in with --password-file; root and the user of `gw serve` need none, on the gateway or by the login of --via. Exits with 1 when the tour or the comparison fails, and with 130 after an interruption.',
  examples: [
    '<%= config.bin %> tour run breakfast --robot-will-move',
    '<%= config.bin %> tour run breakfast --robot-will-move --timeout 5m --json',
    '<%= config.bin %> tour run breakfast --robot-will-move --leave-running --password-file device-password.txt',
  ],
  args: { name: Args.string({ description: 'A tour of the site file.', required: true }) },
  flags: {
    ...driveFlags,
    timeout: durationFlag({ summary: 'How long the tour may take', default: 120, min: 1, max: 3600 }),
  },
  schema: 'gw/tour-run/1',
  async run({ args, flags }) {
    const { runTour } = await import('../../lib/toolkit/tour/run.ts');
    const { nameInFile } = await import('../../lib/toolkit/motion/shown-name.ts');
    const tour = await nameInFile(flags.site, 'tours', args.name);
    const words = { does: `drives the robot through tour '${tour}'`, what: `tour '${tour}'` };
    return await drive(this, flags, words, (toolkit, follow, context) =>
      runTour(toolkit, { tour: args.name, ...follow }, context),
    );
  },
  render: renderTourRun,
});
