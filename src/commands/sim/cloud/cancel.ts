import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { renderSimCloudCancel } from '../../../cli/render/sim.ts';
import type { SimCloudCancel as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimCloudCancel extends GwCommand<Result> {
  static override summary = 'Cancel a job of the simulated cloud.';
  static override description =
    'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = [
    '<%= config.bin %> sim cloud cancel 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11',
    '<%= config.bin %> sim cloud cancel 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11 --force',
  ];
  static override args = { job: Args.string({ description: 'Id of the job.', required: true }) };
  static override flags = {
    force: Flags.boolean({ summary: 'Also when it is in progress.', default: false }),
    serial: simSerialFlag,
    dir: simDirFlag,
  };
  static override readonly schema = 'gw/sim-cloud-cancel/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(SimCloudCancel);
    const { dir, force, serial } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud({ dir }, { action: 'cancel', jobId: args.job, force, serial }) };
  }

  protected override readonly render = renderSimCloudCancel;
}
