import { GwCommand, type Outcome } from '../../cli/command.ts';
import { hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderCloudDiscarded } from '../../cli/render/cloud.ts';
import type { CloudDiscarded as Result } from '../../lib/toolkit/cloud/cloud.result.ts';

export default class CloudDiscarded extends GwCommand<Result> {
  static override summary = 'Show the messages from the cloud that the gateway has discarded, by reason.';
  static override description =
    'The gateway accepts a version release, a stop, the tunnel notification and answers to its own requests; everything else is discarded and counted. Shows topics and sizes, never payloads. docs/cloud.md lists the reasons. Exits with 0 also when messages were discarded.';
  static override examples = [
    '<%= config.bin %> cloud discarded',
    '<%= config.bin %> cloud discarded --via technician@192.0.2.2 --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag };
  static override readonly schema = 'gw/cloud-discarded/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(CloudDiscarded);
    const { host } = flags;
    const { readCloudDiscarded } = await import('../../lib/toolkit/cloud/discarded.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      readCloudDiscarded(toolkit, { host }, { signal, onProgress: () => {} }),
    );
    return { data };
  }

  protected override readonly render = renderCloudDiscarded;
}
