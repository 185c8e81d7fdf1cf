import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderMapShow } from '../../cli/render/map.ts';

export default command({
  summary: 'Show one map: grid, features by kind, and what a backup of it would lack.',
  description:
    'Reads all files of a backup without saving them. Exits with 1 when the picture or the localisation data is missing. For the features themselves see overlays inspect.',
  examples: ['<%= config.bin %> map show 1', '<%= config.bin %> map show 2 --json'],
  args: {
    id: Args.string({ description: 'Number of the map in gw map list.', required: true }),
  },
  flags: { site: siteFlag, via: viaFlag },
  schema: 'gw/map-show/1',
  async run({ args, flags }) {
    const { showMap } = await import('../../lib/toolkit/map/show.ts');
    const data = await this.call(flags, showMap, { id: args.id }, { shown: 'spinner' });
    return { data, ok: data.missing.length === 0 && data.overlays.problem === null };
  },
  render: renderMapShow,
  paged: true,
});
