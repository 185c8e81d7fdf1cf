import type { Outcome } from '../../cli/command.ts';
import { durationFlag, gatewayFlags } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderCloudWatch } from '../../cli/render/cloud.ts';
import type { CloudWatchEvent } from '../../lib/toolkit/cloud/cloud.result.ts';

export default class CloudWatch extends LongRunningCommand<CloudWatchEvent> {
  static override summary = 'Follow the cloud link of the running gateway: one line per change.';
  static override description =
    'Asks the gateway once a second: connection and its loss, stops, releases, discarded messages, refused or thinned messages, a growing backlog, uploads. One JSON object a line with --json. Ends with Ctrl-C. A gateway that does not answer is reported and does not end the command.';
  static override examples = [
    '<%= config.bin %> cloud watch',
    '<%= config.bin %> cloud watch --for 60 --json',
    '<%= config.bin %> cloud watch --via technician@192.0.2.2',
  ];
  static override flags = {
    ...gatewayFlags,
    for: durationFlag({ summary: 'End after this time; without it, run until Ctrl-C', min: 1, max: 86_400 }),
  };
  static override readonly schema = 'gw/cloud-watch/1';

  protected override async execute(): Promise<Outcome<CloudWatchEvent>> {
    const { flags } = await this.parse(CloudWatch);
    const { host, for: seconds } = flags;
    const { watchCloudLink } = await import('../../lib/toolkit/cloud/watch.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      watchCloudLink(toolkit, { host, seconds }, { signal, onProgress: () => {} }, (event) => this.emit(event)),
    );
    return { data };
  }

  protected override readonly render = renderCloudWatch;
}
