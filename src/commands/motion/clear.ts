import { GwCommand, type Outcome } from '../../cli/command.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/device-password.ts';
import { hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderMotionClear } from '../../cli/render/motion.ts';
import type { MotionClear as Result } from '../../lib/toolkit/motion/motion.result.ts';

export default class MotionClear extends GwCommand<Result> {
  static override summary = 'Clear the latched stop, as a signed-in person.';
  static override description =
    'The robot does not move, but orders may pass again. Prints who stopped the robot and why: make sure that the cause is resolved first. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via, which also works without a configured password. If the release cannot be saved, the stop stays latched.';
  static override examples = [
    '<%= config.bin %> motion clear',
    '<%= config.bin %> motion clear --host robot-7.local --password-file device-password.txt',
    '<%= config.bin %> motion clear --via root@192.0.2.2',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag, 'password-file': passwordFileFlag };
  static override readonly schema = 'gw/motion-clear/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MotionClear);
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { clearStop } = await import('../../lib/toolkit/motion/clear.ts');
    const { lossOfClear } = await import('../../lib/toolkit/motion/followed-run.ts');
    const data = await this.withToolkit(
      flags,
      (toolkit, signal) => clearStop(toolkit, { host, password }, { signal, onProgress: () => {} }),
      undefined,
      lossOfClear,
    );
    return { data, ok: data.cleared };
  }

  protected override readonly render = renderMotionClear;
}
