import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag } from '../../cli/flags.ts';
import { renderSiteCheck } from '../../cli/render/site.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';

export default command({
  summary: 'Check a site file and the files and folders that it names.',
  description:
    'Lists every error with line and key, and for what the file is complete, without any network access. Exits with 2 when an error is found, with 1 when something was not checked, unless --accept-undecided; a file that lacks parts is valid.',
  examples: ['<%= config.bin %> site check', '<%= config.bin %> site check robot-7/site.yaml'],
  args: { file: Args.string({ description: 'The site file, in place of --site.' }) },
  flags: { site: siteFlag, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/site-check/1',
  async run({ args, flags, raw }) {
    if (args.file !== undefined && raw.some((token) => token.type === 'flag' && token.flag === 'site')) {
      throw new GwError('USAGE', `Two site files are given: ${args.file} and --site ${flags.site}.`, {
        remedy: 'Run the command once for each.',
      });
    }
    const { checkSite } = await import('../../lib/toolkit/site/check.ts');
    const data = await checkSite(args.file ?? flags.site);
    return data.valid ? await this.judged(data, data.verdict, flags) : { data, ok: false, exitCode: exitCodes.usage };
  },
  render: renderSiteCheck,
});
