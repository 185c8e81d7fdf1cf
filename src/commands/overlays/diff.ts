import { Args, Flags } from '@oclif/core';
import { GwCommand, isJsonFormat, type Outcome } from '../../cli/command.ts';
import { noPagerFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { chooseFormat } from '../../cli/format.ts';
import { renderOverlaysDiff } from '../../cli/render/overlays.ts';
import { GwError } from '../../lib/error/index.ts';
import type { OverlaysDiffResult as Result } from '../../lib/toolkit/overlays/diff.result.ts';

const documents = ['svg', 'html'] as const;
const formats = ['table', 'json', ...documents] as const;
const sources = 'live:current, live:ID, a file, or FILE#ID for one map of a backup';

export default class OverlaysDiff extends GwCommand<Result> {
  static override summary = 'Compare the overlays of two maps: features moved, turned, recoded, added, removed.';
  static override description =
    'Compares content: every value with its JSON type, the order, and members of unknown meaning; never version counters. Features are matched by id, else by the same geometry, else by the nearest of the same kind and code within 1 m; the table shows which. Changes nothing. Exits with 1 when the overlays differ. Two files need neither chassis nor site file.';
  static override examples = [
    '<%= config.bin %> overlays diff before.json after.json',
    '<%= config.bin %> overlays diff maps-SN0001.tar.gz live:current',
    '<%= config.bin %> overlays diff maps-SN0001.tar.gz#3 live:3 --out diff.html',
    '<%= config.bin %> overlays diff live:1 live:2 --json',
  ];
  static override args = {
    a: Args.string({ description: `The old side: ${sources}.`, required: true }),
    b: Args.string({ description: `The new side: ${sources}.`, required: true }),
  };
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    format: Flags.option({
      summary: 'Output format; by default that of the name of --out, else table.',
      options: formats,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write svg or html to this file.', helpValue: 'FILE' }),
    'no-pager': noPagerFlag,
    force: Flags.boolean({ summary: 'Replace an existing file.', dependsOn: ['out'] }),
    all: Flags.boolean({ summary: 'Print every row of long tables.' }),
  };
  static override readonly schema = 'gw/overlays-diff/1';

  #isComplete = false;

  /** `--format json` equals `--json`, also for errors before the flags are parsed. */
  override jsonEnabled(): boolean {
    return super.jsonEnabled() || isJsonFormat(this.argv);
  }

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags, metadata } = await this.parse(OverlaysDiff);
    const { out, force } = flags;
    const format = chooseFormat(flags, formats, 'table');
    const document = documents.find((name) => name === format);
    if (document === undefined && out !== undefined) {
      throw new GwError('USAGE', `--out writes ${documents.join(' or ')}, and --format is ${format}.`, {
        remedy: 'Name one of these with --format, or redirect the output: gw overlays diff A B > FILE.',
      });
    }
    if (document !== undefined && out === undefined && this.jsonEnabled()) {
      throw new GwError('USAGE', `--json and --format ${format} cannot both be printed.`, {
        remedy: `Write the ${format} to a file with --out FILE, or omit one of them.`,
      });
    }
    const { compareMapOverlays } = await import('../../lib/toolkit/overlays/diff.ts');
    const { parseOverlaysSource } = await import('../../lib/toolkit/overlays/source.ts');
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { withProgress } = await import('../../cli/progress.ts');
    const options = {
      from: parseOverlaysSource(args.a),
      to: parseOverlaysSource(args.b),
      ...(document !== undefined && { document: { format: document, out, force } }),
      siteNamed: metadata.flags.site?.setFromDefault !== true,
      now: () => new Date(),
    };
    const result = await this.through(flags.via, (ssh, signal) =>
      withProgress({ quiet: this.isQuiet }, (progress) =>
        compareMapOverlays(
          { ...options, openToolkit: () => openToolkit(flags.site, ssh) },
          { signal, onProgress: (text) => progress.say(text) },
        ),
      ),
    );
    for (const warning of result.warnings) this.warn(warning);
    this.#isComplete = flags.all;
    return { data: result, ok: result.diff.same };
  }

  protected override isDocument({ document }: Result): boolean {
    return document !== null;
  }

  protected override isPaged(): boolean {
    return true;
  }

  protected override render(data: Result): string {
    return renderOverlaysDiff(data, { isComplete: this.#isComplete });
  }
}
