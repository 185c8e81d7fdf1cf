import { Args } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimTunnelClose } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Close a tunnel of the simulated cloud.',
  description:
    'Both sides receive a close frame; the tokens of the tunnel are refused from then on. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim tunnel close',
    '<%= config.bin %> sim tunnel close 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11',
  ],
  args: { tunnel: Args.string({ description: 'Id of the tunnel; by default the only open one.' }) },
  flags: { dir: simDirFlag },
  schema: 'gw/sim-tunnel-close/1',
  async run({ args, flags }) {
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'tunnel-close', tunnelId: args.tunnel }) };
  },
  render: renderSimTunnelClose,
});
