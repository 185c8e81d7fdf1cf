import { Flags } from '@oclif/core';
import { askLine, canAsk } from '../../cli/ask.ts';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { doctorOptions } from '../../cli/doctor-options.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { bundleContents, renderSupportBundle } from '../../cli/render/support.ts';
import { GwError } from '../../lib/error/index.ts';
import type { SupportBundle } from '../../lib/toolkit/support/bundle.result.ts';
import type { CollectedBundle } from '../../lib/toolkit/support/bundle.ts';

export default class SupportBundleCommand extends GwCommand<SupportBundle> {
  static override summary =
    'Write a redacted archive for the developer: log, health, incidents, site file, doctor, status.';
  static override description =
    'Lists what is inside before it asks: name, size, what it holds, how many passages were redacted. Comments of the site file, passwords, tokens, keys and the contents of every secret file of the site file never enter it. A source that cannot be read is listed as missing, here and in manifest.json of the archive, which has the SHA-256 sum of each file. Run it as root or the user of `gw serve`: the log and the incidents need it. With --via the archive is made there and written here.';
  static override examples = [
    '<%= config.bin %> support bundle --dry-run',
    '<%= config.bin %> support bundle --yes --out support.tar.gz',
    '<%= config.bin %> support bundle --via root@192.0.2.2',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    out: Flags.file({
      char: 'o',
      summary: 'New file for the archive; by default support-SERIAL-TIME.tar.gz here.',
      helpValue: 'FILE',
    }),
    yes: Flags.boolean({ summary: 'Write it without a question.', exclusive: ['dry-run'] }),
    'dry-run': Flags.boolean({ summary: 'List what it would hold, and write nothing.' }),
    inline: Flags.boolean({
      hidden: true,
      summary: 'The archive in the result, for --via.',
      exclusive: ['via', 'out'],
    }),
  };
  static override readonly schema = 'gw/support-bundle/1';

  protected override async execute(): Promise<Outcome<SupportBundle>> {
    const { flags } = await this.parse(SupportBundleCommand);
    const { bundleName, refuseExisting, resultOf, writeBundle } = await import('../../lib/toolkit/support/bundle.ts');
    const isOrder = flags.yes || flags['dry-run'] || flags.inline;
    if (!isOrder && (!canAsk() || this.jsonEnabled())) {
      throw new GwError('USAGE', 'No terminal to ask whether to write the archive.', {
        remedy: 'List it with --dry-run, or write it with --yes.',
      });
    }
    if (flags.out !== undefined && !flags['dry-run']) await refuseExisting(flags.out);
    const bundle = flags.via === undefined ? await this.#collect(flags.site) : await this.#collectThere(flags.via);
    if (flags.inline) return { data: resultOf(bundle, 'inline') };
    if (flags['dry-run']) return { data: resultOf(bundle, 'dry-run') };
    const path = flags.out ?? bundleName(bundle.contents);
    if (!flags.yes && !(await this.#isWanted(bundle, path))) return { data: resultOf(bundle, 'declined') };
    return { data: await writeBundle(bundle, path) };
  }

  async #isWanted(bundle: CollectedBundle, path: string): Promise<boolean> {
    const { resultOf } = await import('../../lib/toolkit/support/bundle.ts');
    this.note(bundleContents(resultOf(bundle, 'declined')));
    return (await askLine(`Write it to ${path}? Type 'yes':`, { signal: this.signal })) === 'yes';
  }

  async #collect(site: string): Promise<CollectedBundle> {
    const { thisMachine } = await import('../../lib/toolkit/doctor/doctor.ts');
    const { collectBundle } = await import('../../lib/toolkit/support/bundle.ts');
    const { signal } = this;
    const host = thisMachine({ ...doctorOptions(this.config), signal });
    return await withProgress({ quiet: this.jsonEnabled() }, ({ say }) =>
      collectBundle(site, host, { signal, onProgress: say }),
    );
  }

  async #collectThere(via: string): Promise<CollectedBundle> {
    const [{ bundleOf }, { supportBundleSchema }, { remoteArguments, runRemoteGw }, { throughVia }] = await Promise.all(
      [
        import('../../lib/toolkit/support/bundle.ts'),
        import('../../lib/toolkit/support/bundle.result.ts'),
        import('../../lib/toolkit/remote-run.ts'),
        import('../../cli/ssh-options.ts'),
      ],
    );
    const ofHere = new Set(['--yes', '--dry-run']);
    const argv = this.argv.filter((word) => !ofHere.has(word));
    const words = [...remoteArguments(this.id ?? '', argv, ['--out', '-o']), '--inline'];
    const { data, warnings } = await throughVia(via, { signal: this.signal }, (ssh, signal) =>
      runRemoteGw(ssh, words, { ...this.farOptions(supportBundleSchema), signal }),
    );
    for (const text of warnings) this.warn(text);
    return bundleOf(data);
  }

  protected override readonly render = renderSupportBundle;
}
