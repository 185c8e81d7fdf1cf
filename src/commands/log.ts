import { GwCommand, type Outcome } from '../cli/command.ts';
import { passwordFileFlag, readDevicePassword } from '../cli/device-password.ts';
import { hostFlag, siteFlag, viaFlag } from '../cli/flags.ts';
import { renderLog } from '../cli/render/gateway.ts';
import type { GatewayLog as Result } from '../lib/toolkit/gateway/gateway.result.ts';

export default class Log extends GwCommand<Result> {
  static override summary = 'Show the last log events of the running gateway, and earlier acts of people.';
  static override description =
    'The last 500 events of level info and above since `gw serve` started, oldest first, repeated ones folded; before them the acts of people that these no longer hold. The whole log is where the service manager keeps it. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via. Exits with 0 whatever the log says.';
  static override examples = [
    '<%= config.bin %> log',
    '<%= config.bin %> log --via root@192.0.2.2',
    '<%= config.bin %> log --host robot-7.local --password-file device-password.txt --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag, 'password-file': passwordFileFlag };
  static override readonly schema = 'gw/log/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(Log);
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { readGatewayLog } = await import('../lib/toolkit/gateway/log.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      readGatewayLog(toolkit, { host, password }, { signal, onProgress: () => {} }),
    );
    return { data };
  }

  protected override readonly render = renderLog;
}
