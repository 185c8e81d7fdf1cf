import { hostname } from 'node:os';
import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderGatewayBackup } from '../../cli/render/gateway-backup.ts';
import { passphraseFlags } from '../../cli/secrets.ts';

export default command({
  summary: 'Back up what this gateway is into one file: site file, state, evidence, records, identity.',
  description:
    'Every file that the site file names, and the state folder, while `gw serve` may run: nothing is stopped or changed. Secrets (identity, keys, the hash of the device password) are only in it encrypted with a passphrase of at least 12 characters, in the age format, so that `age -d` opens them without gw; with --without-secrets they are left out, and the backup lists how each is made anew. The passphrase is prompted for twice without echo; without a terminal the first line of stdin is read. Releases are not in it; media only with --with-media. The file is new, readable for its owner only, and read back before it has its name. Run it on the gateway as root or the user of `gw serve`. Exits with 1 when something was left out, unless --accept-undecided; what could not be read is wrong in any case.',
  examples: [
    '<%= config.bin %> gateway backup --site /etc/gw/site.yaml --out robot-7.tar.gz',
    '<%= config.bin %> gateway backup --passphrase-file passphrase --with-media',
    '<%= config.bin %> gateway backup --without-secrets --accept-undecided',
  ],
  flags: {
    site: siteFlag,
    out: Flags.file({
      char: 'o',
      summary: 'New file for the backup; by default gateway-SERIAL-TIME.tar.gz here.',
      helpValue: 'FILE',
    }),
    'with-media': Flags.boolean({ summary: 'With the media library.' }),
    ...passphraseFlags,
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/gateway-backup/1',
  async run({ flags }) {
    const { backUpGateway, refuseExisting } = await import('../../lib/toolkit/gateway/backup.ts');
    const { passphraseProblem } = await import('../../lib/toolkit/backup/secrets.ts');
    const { loadSite } = await import('../../lib/site/index.ts');
    const { readNewPassphrase } = await import('../../cli/secrets.ts');
    const site = await loadSite(flags.site);
    if (flags.out !== undefined) await refuseExisting(flags.out);
    const { signal } = this;
    const asking = { signal, interrupted: 'Interrupted; nothing was written.' };
    const passphrase = await readNewPassphrase(flags, passphraseProblem, asking);
    const options = {
      ...{ site, passphrase, out: flags.out ?? null, withMedia: flags['with-media'] },
      ...{ gwVersion: this.config.version, host: hostname(), now: new Date() },
    };
    const data = await withProgress({ quiet: this.jsonEnabled() }, ({ say }) =>
      backUpGateway(options, { signal, onProgress: say }),
    );
    return await this.judged(data, data.verdict, flags);
  },
  render: renderGatewayBackup,
});
