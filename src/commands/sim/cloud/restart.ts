import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudRestart } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Restart the broker of the simulated cloud.',
  description:
    'Ends all connections; sessions and retained messages are kept. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: ['<%= config.bin %> sim cloud restart'],
  flags: { dir: simDirFlag },
  schema: 'gw/sim-cloud-restart/1',
  async run({ flags }) {
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'restart' }) };
  },
  render: renderSimCloudRestart,
});
