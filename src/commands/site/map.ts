import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderSiteMap } from '../../cli/render/site.ts';
import { exitCodes } from '../../lib/error/index.ts';

export default command({
  summary: 'Write the current map of the robot into the site file, as the map of its stations.',
  description:
    'A station is metres on one map: on another one the same numbers are another place, so the gateway drives only to places whose map it knows. Reads the current map of the chassis and shows which places would belong to it. With --measured-on-it a person confirms that they were measured on it, in its present version, and the file is written; its comments stay. Run it again when the map has changed and a person has checked the places. Restart gw serve afterwards. Exits with 1 while the confirmation is missing.',
  examples: ['<%= config.bin %> site map', '<%= config.bin %> site map --measured-on-it'],
  args: {
    key: Args.string({ description: 'Key of a new map in the site file; by default from its name.' }),
  },
  flags: {
    site: siteFlag,
    via: viaFlag,
    'measured-on-it': Flags.boolean({
      summary: 'The listed places were measured, or checked, on this map in this version.',
      default: false,
    }),
  },
  schema: 'gw/site-map/1',
  async run({ args, flags }) {
    const { nameMap } = await import('../../lib/toolkit/site/map.ts');
    const options = { key: args.key ?? null, isConfirmed: flags['measured-on-it'] };
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      nameMap(toolkit, options, { signal, onProgress: () => {} }),
    );
    return data.verdict === 'to-confirm' ? { data, ok: false, exitCode: exitCodes.checkFailed } : { data };
  },
  render: renderSiteMap,
});
