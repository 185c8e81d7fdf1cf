import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderReleaseStatus } from '../../cli/render/release.ts';
import type { ReleaseStatus as Result } from '../../lib/toolkit/release/release.result.ts';

export default class ReleaseStatus extends GwCommand<Result> {
  static override summary = 'Show the release folder of this gateway: current version, rollback target, last release.';
  static override description =
    'Reads cloud.release.dir of the site file as the user of `gw serve` and verifies the files of every installed version; makes no connection. Which version runs, and how far a release is, only the running gateway knows: `gw cloud status`. Exits with 1 when the folder cannot be read, a version was changed, or the last release was not installed; also when something was not checked, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> release status',
    '<%= config.bin %> release status --via technician@192.0.2.2 --site /var/lib/gw/site.yaml --json',
  ];
  static override flags = { site: siteFlag, via: viaThereFlag, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/release-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(ReleaseStatus);
    if (flags.via !== undefined) {
      const { releaseStatusSchema } = await import('../../lib/toolkit/release/release.result.ts');
      return await this.runThere(flags.via, releaseStatusSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { readReleaseStatus } = await import('../../lib/toolkit/release/status.ts');
    const data = await readReleaseStatus(await openToolkit(flags.site));
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderReleaseStatus;
}
