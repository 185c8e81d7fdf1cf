import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudRestart } from '../../../cli/render/sim.ts';
import type { SimCloudRestart as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimCloudRestart extends GwCommand<Result> {
  static override summary = 'Restart the broker of the simulated cloud.';
  static override description =
    'Ends all connections; sessions and retained messages are kept. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = ['<%= config.bin %> sim cloud restart'];
  static override flags = { dir: simDirFlag };
  static override readonly schema = 'gw/sim-cloud-restart/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(SimCloudRestart);
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'restart' }) };
  }

  protected override readonly render = renderSimCloudRestart;
}
