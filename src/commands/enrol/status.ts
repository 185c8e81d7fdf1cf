import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderEnrolStatus } from '../../cli/render/enrol.ts';
import type { EnrolStatus as Result } from '../../lib/toolkit/enrol/enrol.result.ts';

export default class EnrolStatus extends GwCommand<Result> {
  static override summary = 'Show the identity of this device: serial, validity, fingerprint.';
  static override description =
    'Reads enrolment.identityDir of the site file and makes no connection. Exits with 1 when there is no identity, when it is broken or expired, or when it does not match the site file; also when something was not checked, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> enrol status',
    '<%= config.bin %> enrol status --json',
    '<%= config.bin %> enrol status --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ];
  static override flags = { site: siteFlag, via: viaThereFlag, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/enrol-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(EnrolStatus);
    if (flags.via !== undefined) {
      const { enrolStatusSchema } = await import('../../lib/toolkit/enrol/enrol.result.ts');
      return await this.runThere(flags.via, enrolStatusSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { readEnrolStatus } = await import('../../lib/toolkit/enrol/status.ts');
    const data = await readEnrolStatus(await openToolkit(flags.site));
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderEnrolStatus;
}
