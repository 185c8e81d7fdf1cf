import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudJobs } from '../../../cli/render/sim.ts';

export default command({
  summary: 'List the jobs of the simulated cloud.',
  description: 'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: ['<%= config.bin %> sim cloud jobs', '<%= config.bin %> sim cloud jobs --json'],
  flags: { dir: simDirFlag },
  schema: 'gw/sim-cloud-jobs/1',
  async run({ flags }) {
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'jobs' }) };
  },
  render: renderSimCloudJobs,
});
