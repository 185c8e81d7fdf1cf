import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderReleaseStatus } from '../../cli/render/release.ts';

export default command({
  summary: 'Show the release folder of this gateway: current version, rollback target, last release.',
  description:
    'Reads cloud.release.dir of the site file as the user of `gw serve` and verifies the files of every installed version; makes no connection. Which version runs, and how far a release is, only the running gateway knows: `gw cloud status`. Exits with 1 when the folder cannot be read, a version was changed, or the last release was not installed; also when something was not checked, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> release status',
    '<%= config.bin %> release status --via technician@192.0.2.2 --site /var/lib/gw/site.yaml --json',
  ],
  flags: { site: siteFlag, via: viaThereFlag, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/release-status/1',
  there: async () => (await import('../../lib/toolkit/release/release.result.ts')).releaseStatusSchema,
  async run({ flags }) {
    const { readReleaseStatus } = await import('../../lib/toolkit/release/status.ts');
    const data = await this.call(flags, readReleaseStatus, {});
    return await this.judged(data, data.verdict, flags);
  },
  render: renderReleaseStatus,
});
