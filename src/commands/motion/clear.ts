import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderMotionClear } from '../../cli/render/motion.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'Clear the latched stop, as a signed-in person.',
  description:
    'The robot does not move, but orders may pass again. Prints who stopped the robot and why: make sure that the cause is resolved first. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via, which also works without a configured password. If the release cannot be saved, the stop stays latched.',
  examples: [
    '<%= config.bin %> motion clear',
    '<%= config.bin %> motion clear --host robot-7.local --password-file device-password.txt',
    '<%= config.bin %> motion clear --via root@192.0.2.2',
  ],
  flags: { ...gatewayFlags, 'password-file': passwordFileFlag },
  schema: 'gw/motion-clear/1',
  async run({ flags }) {
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { clearStop } = await import('../../lib/toolkit/motion/clear.ts');
    const { lossOfClear } = await import('../../lib/toolkit/motion/followed-run.ts');
    const data = await this.call(flags, clearStop, { host, password }, { ifLost: lossOfClear });
    return { data, ok: data.cleared };
  },
  render: renderMotionClear,
});
