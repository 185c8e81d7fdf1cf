import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimTunnelList } from '../../../cli/render/sim.ts';

export default command({
  summary: 'List the tunnels of the simulated cloud and the latest handshakes.',
  description:
    'Without tokens. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: ['<%= config.bin %> sim tunnel list', '<%= config.bin %> sim tunnel list --json'],
  flags: { dir: simDirFlag },
  schema: 'gw/sim-tunnel-list/1',
  async run({ flags }) {
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'tunnel-list' }) };
  },
  render: renderSimTunnelList,
});
