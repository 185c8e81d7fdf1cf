import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderTunnelEnd } from '../../cli/render/tunnel.ts';

export default command({
  summary: 'End the running session of remote support, without sign-in.',
  description:
    'For people at the robot, like the button on the page /service: ending only takes access away, so it needs no password. Waits until the proxy has ended. The robot keeps driving or standing. The cloud can open another session; to prevent that, close the tunnel there or remove cloud.tunnel from the site file. Exits with 0 also when no session runs, with 1 when the same session still runs afterwards.',
  examples: [
    '<%= config.bin %> tunnel end',
    '<%= config.bin %> tunnel end --via technician@192.0.2.2',
    '<%= config.bin %> tunnel end --host robot-7.local --json',
  ],
  flags: { ...gatewayFlags },
  schema: 'gw/tunnel-end/1',
  async run({ flags }) {
    const { endTunnel, isEnded } = await import('../../lib/toolkit/tunnel/end.ts');
    const data = await this.call(flags, endTunnel, { host: flags.host });
    return { data, ok: isEnded(data) };
  },
  render: renderTunnelEnd,
});
