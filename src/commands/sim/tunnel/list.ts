import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimTunnelList } from '../../../cli/render/sim.ts';
import type { SimTunnelList as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimTunnelList extends GwCommand<Result> {
  static override summary = 'List the tunnels of the simulated cloud and the latest handshakes.';
  static override description =
    'Without tokens. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = ['<%= config.bin %> sim tunnel list', '<%= config.bin %> sim tunnel list --json'];
  static override flags = { dir: simDirFlag };
  static override readonly schema = 'gw/sim-tunnel-list/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(SimTunnelList);
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'tunnel-list' }) };
  }

  protected override readonly render = renderSimTunnelList;
}
