import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, gatewayFlags } from '../../cli/flags.ts';
import { renderCloudStatus } from '../../cli/render/cloud.ts';

export default command({
  summary: 'Show the cloud link of the running gateway: path, failures, messages, release, uploads.',
  description:
    "Asks the operator server of the gateway and connects to nothing in the cloud itself; `gw network check` probes the paths. The last failure of each port is in words for the customer's IT. Exits with 1 when a cloud is configured and not connected, and while no connection attempt has a result, unless --accept-undecided.",
  examples: [
    '<%= config.bin %> cloud status',
    '<%= config.bin %> cloud status --via technician@192.0.2.2',
    '<%= config.bin %> cloud status --host robot-7.local --json',
  ],
  flags: { ...gatewayFlags, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/cloud-status/1',
  async run({ flags }) {
    const { readCloudStatus, judgeCloud } = await import('../../lib/toolkit/cloud/status.ts');
    const data = await this.call(flags, readCloudStatus, { host: flags.host });
    return await this.judged(data, judgeCloud(data), flags);
  },
  render: renderCloudStatus,
});
