import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderReleaseRollback } from '../../cli/render/release.ts';

export default command({
  summary: 'Go back to the version before the current one; without --yes a dry run.',
  description:
    'Run it on the gateway as the user of `gw serve`. Verifies the files of the target, records the rollback and changes what the launcher starts next. The running gw is not touched: restart it when the robot stands. A release that is not confirmed yet is reported to its job as failed. Exits with 4 when a release is in progress, when there is no version to go back to, or when its files were changed.',
  examples: [
    '<%= config.bin %> release rollback',
    '<%= config.bin %> release rollback --yes && sudo systemctl restart gw',
    '<%= config.bin %> release rollback --base --yes',
  ],
  flags: {
    site: siteFlag,
    via: viaThereFlag,
    base: Flags.boolean({
      summary: 'Go back to the base installation, which dpkg or npm installed.',
      default: false,
    }),
    yes: Flags.boolean({ summary: 'Switch.', default: false }),
  },
  schema: 'gw/release-rollback/1',
  there: async () => (await import('../../lib/toolkit/release/release.result.ts')).releaseRollbackSchema,
  async run({ flags }) {
    const { rollBackRelease } = await import('../../lib/toolkit/release/rollback.ts');
    const { runCarefully } = await import('../../cli/careful-run.ts');
    const options = { toBase: flags.base, isConfirmed: flags.yes, gwVersion: this.config.version };
    const data = await runCarefully(
      { quiet: this.isQuiet, signal: this.signal, interrupted: 'Interrupted. Completing the started switch.' },
      () => this.call(flags, rollBackRelease, options),
    );
    return { data };
  },
  render: renderReleaseRollback,
});
