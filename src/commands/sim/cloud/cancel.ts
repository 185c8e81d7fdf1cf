import { Args, Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { renderSimCloudCancel } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Cancel a job of the simulated cloud.',
  description: 'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim cloud cancel 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11',
    '<%= config.bin %> sim cloud cancel 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11 --in-progress',
  ],
  args: { job: Args.string({ description: 'Id of the job.', required: true }) },
  flags: {
    'in-progress': Flags.boolean({ summary: 'Also when it is in progress.', default: false }),
    serial: simSerialFlag,
    dir: simDirFlag,
  },
  schema: 'gw/sim-cloud-cancel/1',
  async run({ args, flags }) {
    const { dir, 'in-progress': force, serial } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud({ dir }, { action: 'cancel', jobId: args.job, force, serial }) };
  },
  render: renderSimCloudCancel,
});
