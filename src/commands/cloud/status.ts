import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, hostFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderCloudStatus } from '../../cli/render/cloud.ts';
import type { CloudStatus as Result } from '../../lib/toolkit/cloud/cloud.result.ts';

export default class CloudStatus extends GwCommand<Result> {
  static override summary = 'Show the cloud link of the running gateway: path, failures, messages, release, uploads.';
  static override description =
    "Asks the operator server of the gateway and connects to nothing in the cloud itself; `gw network check` probes the paths. The last failure of each port is in words for the customer's IT. Exits with 1 when a cloud is configured and not connected, and while no connection attempt has a result, unless --accept-undecided.";
  static override examples = [
    '<%= config.bin %> cloud status',
    '<%= config.bin %> cloud status --via technician@192.0.2.2',
    '<%= config.bin %> cloud status --host robot-7.local --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/cloud-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(CloudStatus);
    const { host } = flags;
    const { readCloudStatus, judgeCloud } = await import('../../lib/toolkit/cloud/status.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      readCloudStatus(toolkit, { host }, { signal, onProgress: () => {} }),
    );
    return await this.judged(data, judgeCloud(data), flags);
  }

  protected override readonly render = renderCloudStatus;
}
