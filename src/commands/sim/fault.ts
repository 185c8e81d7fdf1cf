import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { simDirFlag } from '../../cli/flags.ts';
import { renderSimFault } from '../../cli/render/sim.ts';

export default command({
  summary: 'Switch a fault of the running simulated robot, or list all faults.',
  description: 'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim fault --list',
    '<%= config.bin %> sim fault radians on',
    '<%= config.bin %> sim fault cut off --dir /tmp/robot',
  ],
  args: {
    name: Args.string({ description: 'The fault.' }),
    state: Args.string({ description: 'New state of the fault.', options: ['on', 'off'] }),
  },
  flags: {
    list: Flags.boolean({ summary: 'List every fault and whether it is on.' }),
    dir: simDirFlag,
  },
  schema: 'gw/sim-fault/1',
  async run({ args, flags }) {
    const { switchFault } = await import('../../lib/sim/control/switch-fault.ts');
    return { data: await switchFault({ ...args, ...flags }) };
  },
  render: renderSimFault,
});
