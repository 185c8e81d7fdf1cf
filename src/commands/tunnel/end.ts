import { GwCommand, type Outcome } from '../../cli/command.ts';
import { hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderTunnelEnd } from '../../cli/render/tunnel.ts';
import type { TunnelEnd as Result } from '../../lib/toolkit/tunnel/tunnel.result.ts';

export default class TunnelEnd extends GwCommand<Result> {
  static override summary = 'End the running session of remote support, without sign-in.';
  static override description =
    'For people at the robot, like the button on the page /service: ending only takes access away, so it needs no password. Waits until the proxy has ended. The robot keeps driving or standing. The cloud can open another session; to prevent that, close the tunnel there or remove cloud.tunnel from the site file. Exits with 0 also when no session runs, with 1 when the same session still runs afterwards.';
  static override examples = [
    '<%= config.bin %> tunnel end',
    '<%= config.bin %> tunnel end --via technician@192.0.2.2',
    '<%= config.bin %> tunnel end --host robot-7.local --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag };
  static override readonly schema = 'gw/tunnel-end/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(TunnelEnd);
    const { host } = flags;
    const { endTunnel, isEnded } = await import('../../lib/toolkit/tunnel/end.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      endTunnel(toolkit, { host }, { signal, onProgress: () => {} }),
    );
    return { data, ok: isEnded(data) };
  }

  protected override readonly render = renderTunnelEnd;
}
