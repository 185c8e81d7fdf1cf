import { Flags } from '@oclif/core';
import type { Outcome } from '../../cli/command.ts';
import { durationFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderHeartbeatEvent, renderHeartbeatView } from '../../cli/render/heartbeat.ts';
import type { HeartbeatSniffEvent } from '../../lib/toolkit/heartbeat/heartbeat.result.ts';

export default class HeartbeatSniff extends LongRunningCommand<HeartbeatSniffEvent> {
  static override summary = 'Listen to heartbeats: senders, timing, rejected datagrams.';
  static override description =
    'Sends nothing. On a terminal the table is updated in place; otherwise one line is written every 2 seconds and the table at the end; with --json one JSON object per line. Beside the gw serve of the site file, which keeps the unicast datagrams, it shows broadcasts, and the rest as gw serve receives it, and says so; with --no-key it receives broadcasts only there. Ends with Ctrl-C.';
  static override examples = [
    '<%= config.bin %> heartbeat sniff',
    '<%= config.bin %> heartbeat sniff --for 60 --json',
    '<%= config.bin %> heartbeat sniff --no-key',
    '<%= config.bin %> heartbeat sniff --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    for: durationFlag({ summary: 'End after this time; without it, run until Ctrl-C', min: 1, max: 86_400 }),
    'no-key': Flags.boolean({ summary: 'Do not verify signatures; needs no site file.' }),
  };
  static override readonly schema = 'gw/heartbeat-sniff/1';

  protected override async execute(): Promise<Outcome<HeartbeatSniffEvent>> {
    const { flags } = await this.parse(HeartbeatSniff);
    const { via } = flags;
    if (via !== undefined) {
      const { heartbeatSniffSchema } = await import('../../lib/toolkit/heartbeat/heartbeat.result.ts');
      const isLast = (event: HeartbeatSniffEvent) => event.event === 'ended';
      const data = await this.shown(renderHeartbeatView, (onEvent) =>
        this.followThere(via, heartbeatSniffSchema, { onEvent, isLast }),
      );
      return { data };
    }
    const { sniffHeartbeats } = await import('../../lib/toolkit/heartbeat/sniff.ts');
    const { systemClock } = await import('../../lib/lifecycle/index.ts');
    const options = {
      sitePath: flags.site,
      withKey: !flags['no-key'],
      seconds: flags.for,
      everyMs: this.redraws ? 250 : 2_000,
      clock: systemClock,
    };
    const data = await this.shown(renderHeartbeatView, (onView) =>
      sniffHeartbeats(options, { signal: this.signal }, onView),
    );
    return { data };
  }

  protected override readonly render = renderHeartbeatEvent;
}
