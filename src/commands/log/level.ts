import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { durationFlag, gatewayFlags } from '../../cli/flags.ts';
import { renderLogLevel } from '../../cli/render/gateway.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'Show or change the level of the log that the running gateway writes.',
  description:
    'Without LEVEL it shows the level. A changed one holds for --for (10m unless given), then the configured one is back, as after a restart; the configured level ends a change. The change is in the log, with who made it. `gw log` does not depend on it: it has info and above always. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via.',
  examples: [
    '<%= config.bin %> log level',
    '<%= config.bin %> log level debug --for 5m',
    '<%= config.bin %> log level debug --via root@192.0.2.2',
  ],
  args: {
    level: Args.string({ description: 'The new level.', options: ['debug', 'info', 'warn', 'error'] }),
  },
  flags: {
    ...gatewayFlags,
    'password-file': passwordFileFlag,
    for: durationFlag({ summary: 'How long it holds, if not 10m', min: 1, max: 86_400 }),
  },
  schema: 'gw/log-level/1',
  async run({ args, flags }) {
    const password = await readDevicePassword(flags['password-file']);
    const { gatewayLogLevel } = await import('../../lib/toolkit/gateway/log-level.ts');
    const level = args.level as 'debug' | 'info' | 'warn' | 'error' | undefined;
    const data = await this.call(flags, gatewayLogLevel, { host: flags.host, password, level, forS: flags.for });
    return { data };
  },
  render: renderLogLevel,
});
