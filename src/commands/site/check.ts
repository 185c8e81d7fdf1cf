import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, siteFlag } from '../../cli/flags.ts';
import { renderSiteCheck } from '../../cli/render/site.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';
import type { SiteCheck as Result } from '../../lib/toolkit/site/site.result.ts';

export default class SiteCheck extends GwCommand<Result> {
  static override summary = 'Check a site file and the files and folders that it names.';
  static override description =
    'Lists every error with line and key, and for what the file is complete, without any network access. Exits with 2 when an error is found, with 1 when something was not checked, unless --accept-undecided; a file that lacks parts is valid.';
  static override examples = ['<%= config.bin %> site check', '<%= config.bin %> site check robot-7/site.yaml'];
  static override args = { file: Args.string({ description: 'The site file, in place of --site.' }) };
  static override flags = { site: siteFlag, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/site-check/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags, raw } = await this.parse(SiteCheck);
    if (args.file !== undefined && raw.some((token) => token.type === 'flag' && token.flag === 'site')) {
      throw new GwError('USAGE', `Two site files are given: ${args.file} and --site ${flags.site}.`, {
        remedy: 'Run the command once for each.',
      });
    }
    const { checkSite } = await import('../../lib/toolkit/site/check.ts');
    const data = await checkSite(args.file ?? flags.site);
    return data.valid ? await this.judged(data, data.verdict, flags) : { data, ok: false, exitCode: exitCodes.usage };
  }

  protected override readonly render = renderSiteCheck;
}
