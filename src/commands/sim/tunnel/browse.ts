import { Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { durationFlag, simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { withProgress } from '../../../cli/progress.ts';
import { renderSimTunnelBrowse } from '../../../cli/render/sim.ts';
import { tunnelLifetimeFlag, tunnelRegionFlag } from '../../../cli/tunnel-flags.ts';
import { exitCodes } from '../../../lib/error/index.ts';

export default command({
  summary: 'Request pages of the device through a tunnel of the simulated cloud.',
  description:
    'Opens a tunnel, or gets a new source token for the one of --tunnel, connects the source side with a client of the simulator, waits for the destination, and sends one GET per path. Redirects are not followed. It exits with 3 when a path gets no complete answer; the status of an answer does not change the exit code. A tunnel that it opened is closed at the end.',
  examples: [
    '<%= config.bin %> sim tunnel browse',
    '<%= config.bin %> sim tunnel browse --path /service --path /api/health',
    '<%= config.bin %> sim tunnel browse --tunnel 0b5c9a1e-2f52-4c3e-9d5a-3a0f7c1f4e11 --path /service',
  ],
  flags: {
    tunnel: Flags.string({
      summary: 'Id of an open tunnel; the token of its source is replaced.',
      helpValue: 'ID',
      exclusive: ['for', 'region', 'serial'],
    }),
    path: Flags.string({ summary: 'Path to request; repeatable.', helpValue: 'PATH', multiple: true, default: ['/'] }),
    service: Flags.string({
      summary: 'Service to connect to; by default the first one of the tunnel, or web.',
      helpValue: 'NAME',
    }),
    for: tunnelLifetimeFlag,
    region: tunnelRegionFlag,
    timeout: durationFlag({
      summary: 'How long to wait for the destination, and for each answer',
      default: 30,
      min: 1,
      max: 600,
    }),
    serial: simSerialFlag,
    dir: simDirFlag,
  },
  schema: 'gw/sim-tunnel-browse/1',
  async run({ flags }) {
    const { dir, tunnel, path, service, for: lifetime, region, timeout, serial } = flags;
    const { simTunnelBrowse } = await import('../../../lib/sim/control/tunnel-commands.ts');
    const data = await withProgress({ quiet: this.isQuiet }, (progress) =>
      simTunnelBrowse(
        { dir },
        {
          tunnelId: tunnel ?? null,
          paths: path,
          service,
          lifetimeMs: lifetime * 1000,
          region,
          serial,
          timeoutMs: timeout * 1000,
          signal: this.signal,
          onProgress: (text) => progress.say(text),
        },
      ),
    );
    const ok = data.problem === null && data.pages.every(({ problem }) => problem === null);
    return { data, ok, exitCode: exitCodes.notReachable };
  },
  render: renderSimTunnelBrowse,
});
