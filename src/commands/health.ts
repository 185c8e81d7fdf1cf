import { command } from '../cli/define.ts';
import { acceptUndecidedFlag, gatewayFlags } from '../cli/flags.ts';
import { renderHealth } from '../cli/render/gateway.ts';

export default command({
  summary: 'Show the health that the running gateway reports: services, disk, cloud, remote support.',
  description:
    'The state of the services of the gateway, for monitoring; whether the robot may drive is shown by `gw status`. Asks `gw serve` and checks nothing itself; docs/gateway.md says what makes it degraded. Exits with 1 when the gateway is degraded, also while a part is not checked that its site file configures, unless --accept-undecided, and with 3 when no gateway answers.',
  examples: [
    '<%= config.bin %> health',
    '<%= config.bin %> health --via root@192.0.2.2',
    '<%= config.bin %> health --host robot-7.local --json',
  ],
  flags: { ...gatewayFlags, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/health/1',
  async run({ flags }) {
    const { readJudgedHealth } = await import('../lib/toolkit/gateway/health.ts');
    const data = await this.call(flags, readJudgedHealth, { host: flags.host });
    return await this.judged(data, data.verdict, flags);
  },
  render: renderHealth,
});
