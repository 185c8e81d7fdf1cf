import { Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { renderSimTunnelOpen } from '../../../cli/render/sim.ts';
import { tunnelLifetimeFlag, tunnelRegionFlag } from '../../../cli/tunnel-flags.ts';

export default command({
  summary: 'Open a tunnel in the simulated cloud and notify the device.',
  description:
    'Prints the token of the source side, a secret, on stdout only. The tunnel service closes the tunnel after the time of --for. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim tunnel open',
    '<%= config.bin %> sim tunnel open --service web --for 10m',
    'export GW_TUNNEL_TOKEN=$(<%= config.bin %> sim tunnel open --json | jq -r .data.sourceToken)',
  ],
  flags: {
    service: Flags.string({
      summary: 'Service of the tunnel; repeatable, up to three; web by default.',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
    }),
    for: tunnelLifetimeFlag,
    region: tunnelRegionFlag,
    serial: simSerialFlag,
    dir: simDirFlag,
  },
  schema: 'gw/sim-tunnel-open/1',
  async run({ flags }) {
    const { dir, service: services = ['web'], for: lifetime, region, serial } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    const lifetimeMs = lifetime * 1_000;
    return { data: await askCloud({ dir }, { action: 'tunnel-open', services, lifetimeMs, region, serial }) };
  },
  render: renderSimTunnelOpen,
});
