import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, durationFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderHeartbeatCheck } from '../../cli/render/heartbeat.ts';

export default command({
  summary:
    'Check the heartbeat: this gateway sends every 2 s, every robot of the site is received, no datagram is rejected.',
  description:
    'Listens for 10 s, sends nothing, and compares with fleet.robots and fleet.unicast of the site file. Own broadcasts are checked by the looped-back copies of the kernel, everything else by the counters of gw serve on this machine. Arrival at other robots can be checked only there: run it on the other gateways too. Exits with 1 when a check fails or something was not checked or not decided, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> heartbeat check',
    '<%= config.bin %> heartbeat check --for 30 --json',
    '<%= config.bin %> heartbeat check --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ],
  flags: {
    site: siteFlag,
    via: viaThereFlag,
    for: durationFlag({ summary: 'How long to listen', default: 10, min: 3, max: 600 }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/heartbeat-check/1',
  there: async () => (await import('../../lib/toolkit/heartbeat/heartbeat.result.ts')).heartbeatCheckSchema,
  async run({ flags }) {
    const { checkHeartbeat } = await import('../../lib/toolkit/heartbeat/check.ts');
    const data = await this.call(flags, checkHeartbeat, { seconds: flags.for }, { shown: 'spinner' });
    return await this.judged(data, data.verdict, flags);
  },
  render: renderHeartbeatCheck,
});
