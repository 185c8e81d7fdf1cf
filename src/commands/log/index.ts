import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderLog } from '../../cli/render/gateway.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'Show the last log events of the running gateway, and earlier acts of people.',
  description:
    'The last 500 events of level info and above since `gw serve` started, oldest first, repeated ones folded; before them the acts of people that these no longer hold. The whole log is where the service manager keeps it. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via. Exits with 0 whatever the log says.',
  examples: [
    '<%= config.bin %> log',
    '<%= config.bin %> log --via root@192.0.2.2',
    '<%= config.bin %> log --host robot-7.local --password-file device-password.txt --json',
  ],
  flags: { ...gatewayFlags, 'password-file': passwordFileFlag },
  schema: 'gw/log/1',
  async run({ flags }) {
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { readGatewayLog } = await import('../../lib/toolkit/gateway/log.ts');
    const data = await this.call(flags, readGatewayLog, { host, password });
    return { data };
  },
  render: renderLog,
  paged: true,
});
