import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { simDirFlag } from '../../cli/flags.ts';
import { renderSimFault } from '../../cli/render/sim.ts';
import type { SimFault as Result } from '../../lib/sim/sim.result.ts';

export default class SimFault extends GwCommand<Result> {
  static override summary = 'Switch a fault of the running simulated robot, or list all faults.';
  static override description =
    'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = [
    '<%= config.bin %> sim fault --list',
    '<%= config.bin %> sim fault radians on',
    '<%= config.bin %> sim fault cut off --dir /tmp/robot',
  ];
  static override args = {
    name: Args.string({ description: 'The fault.' }),
    state: Args.string({ description: 'New state of the fault.', options: ['on', 'off'] }),
  };
  static override flags = {
    list: Flags.boolean({ summary: 'List every fault and whether it is on.' }),
    dir: simDirFlag,
  };
  static override readonly schema = 'gw/sim-fault/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(SimFault);
    const { switchFault } = await import('../../lib/sim/control/switch-fault.ts');
    return { data: await switchFault({ ...args, ...flags }) };
  }

  protected override readonly render = renderSimFault;
}
