import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderCloudOutbox } from '../../cli/render/cloud.ts';
import type { CloudOutbox as Result } from '../../lib/toolkit/cloud/cloud.result.ts';

export default class CloudOutbox extends GwCommand<Result> {
  static override summary = 'Show the messages that the gateway keeps until the broker has acknowledged them.';
  static override description =
    'Counts per class, size on the disk, the oldest message, refused messages and thinned telemetry. Asks the operator server of the gateway; shows no content of messages. Exits with 1 when the outbox refuses messages, is not open although a cloud is configured, holds a message back, or had to set a damaged file aside; also while that is not known, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> cloud outbox',
    '<%= config.bin %> cloud outbox --via technician@192.0.2.2 --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/cloud-outbox/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(CloudOutbox);
    const { host } = flags;
    const { readCloudOutbox, judgeOutbox } = await import('../../lib/toolkit/cloud/outbox.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      readCloudOutbox(toolkit, { host }, { signal, onProgress: () => {} }),
    );
    return await this.judged(data, judgeOutbox(data), flags);
  }

  protected override readonly render = renderCloudOutbox;
}
