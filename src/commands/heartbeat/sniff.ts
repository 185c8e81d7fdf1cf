import { Flags } from '@oclif/core';
import type { Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderHeartbeatEvent, renderHeartbeatView } from '../../cli/render/heartbeat.ts';
import { createScreen } from '../../cli/screen.ts';
import type { HeartbeatSniffEvent } from '../../lib/toolkit/heartbeat-sniff.result.ts';

export default class HeartbeatSniff extends LongRunningCommand<HeartbeatSniffEvent> {
  static override summary = 'Listen to the robots of a site: who speaks, how regularly, and who speaks wrongly.';
  static override description =
    'Sends nothing. Redraws in place on a terminal, writes a line every 2 seconds elsewhere and the table at the end, and one JSON object a line with --json. Works beside a gw serve of the same machine, which then keeps what is sent to this address alone. Ends with Ctrl-C.';
  static override examples = [
    '<%= config.bin %> heartbeat sniff',
    '<%= config.bin %> heartbeat sniff --seconds 60 --json',
    '<%= config.bin %> heartbeat sniff --no-key',
  ];
  static override flags = {
    site: siteFlag,
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
    const { sniffHeartbeats } = await import('../../lib/toolkit/heartbeat-sniff.ts');
    const { systemClock } = await import('../../lib/lifecycle/index.ts');
    const screen = !this.jsonEnabled() && process.stdout.isTTY ? createScreen(process.stdout) : undefined;
    const options = {
      sitePath: flags.site,
      withKey: !flags['no-key'],
      seconds: flags.seconds,
      everyMs: screen ? 250 : 2_000,
      clock: systemClock,
    };
    try {
      const data = await sniffHeartbeats(options, { signal: this.signal }, (view) => {
        if (screen) screen.draw(renderHeartbeatView(view));
        else this.emit(view);
      });
      return { data };
    } finally {
      screen?.end();
    }
  }

  protected override render(event: HeartbeatSniffEvent): string {
    return renderHeartbeatEvent(event);
  }
}
