import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudJobs } from '../../../cli/render/sim.ts';
import type { SimCloudJobs as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimCloudJobs extends GwCommand<Result> {
  static override summary = 'List the jobs of the simulated cloud.';
  static override description =
    'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = ['<%= config.bin %> sim cloud jobs', '<%= config.bin %> sim cloud jobs --json'];
  static override flags = { dir: simDirFlag };
  static override readonly schema = 'gw/sim-cloud-jobs/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(SimCloudJobs);
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'jobs' }) };
  }

  protected override readonly render = renderSimCloudJobs;
}
