import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimTunnelClose } from '../../../cli/render/sim.ts';
import type { SimTunnelClose as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimTunnelClose extends GwCommand<Result> {
  static override summary = 'Close a tunnel of the simulated cloud.';
  static override description =
    'Both sides receive a close frame; the tokens of the tunnel are refused from then on. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = [
    '<%= config.bin %> sim tunnel close',
    '<%= config.bin %> sim tunnel close 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11',
  ];
  static override args = { tunnel: Args.string({ description: 'Id of the tunnel; by default the only open one.' }) };
  static override flags = { dir: simDirFlag };
  static override readonly schema = 'gw/sim-tunnel-close/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(SimTunnelClose);
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'tunnel-close', tunnelId: args.tunnel }) };
  }

  protected override readonly render = renderSimTunnelClose;
}
