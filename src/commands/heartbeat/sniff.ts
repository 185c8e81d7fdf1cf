import { Flags } from '@oclif/core';
import type { Outcome } from '../../cli/command.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderHeartbeatEvent, renderHeartbeatView } from '../../cli/render/heartbeat.ts';
import type { HeartbeatSniffEvent } from '../../lib/toolkit/heartbeat/sniff.result.ts';

export default class HeartbeatSniff extends LongRunningCommand<HeartbeatSniffEvent> {
  static override summary = 'Listen to the robots of a site: who speaks, how regularly, and who speaks wrongly.';
  static override description =
    'Sends nothing. Redraws in place on a terminal, writes a line every 2 seconds elsewhere and the table at the end, and one JSON object a line with --json. Works beside a gw serve of the same machine, which then keeps what is sent to this address alone. Ends with Ctrl-C.';
  static override examples = [
    '<%= config.bin %> heartbeat sniff',
    '<%= config.bin %> heartbeat sniff --seconds 60 --json',
    '<%= config.bin %> heartbeat sniff --no-key',
    '<%= config.bin %> heartbeat sniff --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    seconds: Flags.integer({
      summary: 'End after this many seconds; without it, run until Ctrl-C.',
      helpValue: 'SECONDS',
      min: 1,
      max: 86_400,
    }),
    'no-key': Flags.boolean({ summary: 'Verify nothing; then no site file is needed.' }),
  };
  static override readonly schema = 'gw/heartbeat-sniff/1';

  protected override async execute(): Promise<Outcome<HeartbeatSniffEvent>> {
    const { flags } = await this.parse(HeartbeatSniff);
    const { via } = flags;
    if (via !== undefined) {
      const { heartbeatSniffSchema } = await import('../../lib/toolkit/heartbeat/sniff.result.ts');
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
      seconds: flags.seconds,
      everyMs: this.redraws ? 250 : 2_000,
      clock: systemClock,
    };
    const data = await this.shown(renderHeartbeatView, (onView) =>
      sniffHeartbeats(options, { signal: this.signal }, onView),
    );
    return { data };
  }

  protected override render(event: HeartbeatSniffEvent): string {
    return renderHeartbeatEvent(event);
  }
}
