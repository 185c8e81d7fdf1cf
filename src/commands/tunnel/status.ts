import { GwCommand, type Outcome } from '../../cli/command.ts';
import { hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderTunnelStatus } from '../../cli/render/tunnel.ts';
import type { TunnelStatus as Result } from '../../lib/toolkit/tunnel/tunnel.result.ts';

export default class TunnelStatus extends GwCommand<Result> {
  static override summary = 'Show remote support of the running gateway: the session, its clock, its records.';
  static override description =
    'Asks the operator server of the gateway and connects to nothing in the cloud itself. Shows whether a support session runs, since when, when it ends at the latest and for which services; otherwise whether one can be opened. Exits with 0 in every state.';
  static override examples = [
    '<%= config.bin %> tunnel status',
    '<%= config.bin %> tunnel status --via technician@192.0.2.2',
    '<%= config.bin %> tunnel status --host robot-7.local --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag };
  static override readonly schema = 'gw/tunnel-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(TunnelStatus);
    const { host } = flags;
    const { readTunnelStatus } = await import('../../lib/toolkit/tunnel/status.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      readTunnelStatus(toolkit, { host }, { signal, onProgress: () => {} }),
    );
    return { data };
  }

  protected override readonly render = renderTunnelStatus;
}
