import { Args, Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimTunnelRotate } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Replace the tokens of a tunnel of the simulated cloud.',
  description:
    'The device receives another notification with the new token of the destination. Connections stay open, and the end of the tunnel does not change. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim tunnel rotate',
    '<%= config.bin %> sim tunnel rotate 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11 --side all',
  ],
  args: { tunnel: Args.string({ description: 'Id of the tunnel; by default the only open one.' }) },
  flags: {
    side: Flags.option({
      summary: 'Side that gets a new token.',
      options: ['source', 'destination', 'all'] as const,
      default: 'destination' as const,
    })(),
    dir: simDirFlag,
  },
  schema: 'gw/sim-tunnel-rotate/1',
  async run({ args, flags }) {
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud(flags, { action: 'tunnel-rotate', tunnelId: args.tunnel, side: flags.side }) };
  },
  render: renderSimTunnelRotate,
});
