import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderTunnelSessions } from '../../cli/render/tunnel.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'List the support sessions and refused requests in the records of the gateway.',
  description:
    'Asks the running gateway, newest first, with begin, end, reason and duration. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via. It checks nothing: the audit of the records proves that no line was changed. Exits with 0 also when there are none.',
  examples: [
    '<%= config.bin %> tunnel sessions',
    '<%= config.bin %> tunnel sessions --limit 200 --json',
    '<%= config.bin %> tunnel sessions --via root@192.0.2.2',
    '<%= config.bin %> tunnel sessions --host robot-7.local --password-file device-password.txt',
  ],
  flags: {
    ...gatewayFlags,
    'password-file': passwordFileFlag,
    limit: Flags.integer({
      summary: 'Number of sessions and refusals, the newest.',
      helpValue: 'N',
      min: 1,
      max: 1000,
      default: 50,
    }),
  },
  schema: 'gw/tunnel-sessions/1',
  async run({ flags }) {
    const { host, limit } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { readTunnelSessions } = await import('../../lib/toolkit/tunnel/sessions.ts');
    const data = await this.call(flags, readTunnelSessions, { host, password, limit });
    return { data };
  },
  render: renderTunnelSessions,
  paged: true,
});
