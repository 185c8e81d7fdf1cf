import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderTunnelStatus } from '../../cli/render/tunnel.ts';

export default command({
  summary: 'Show remote support of the running gateway: the session, its clock, its records.',
  description:
    'Asks the operator server of the gateway and connects to nothing in the cloud itself. Shows whether a support session runs, since when, when it ends at the latest and for which services; otherwise whether one can be opened. Exits with 0 in every state.',
  examples: [
    '<%= config.bin %> tunnel status',
    '<%= config.bin %> tunnel status --via technician@192.0.2.2',
    '<%= config.bin %> tunnel status --host robot-7.local --json',
  ],
  flags: { ...gatewayFlags },
  schema: 'gw/tunnel-status/1',
  async run({ flags }) {
    const { readTunnelStatus } = await import('../../lib/toolkit/tunnel/status.ts');
    const data = await this.call(flags, readTunnelStatus, { host: flags.host });
    return { data };
  },
  render: renderTunnelStatus,
});
