import { command } from '../../cli/define.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderMapList } from '../../cli/render/map.ts';

export default command({
  summary: 'List the stored maps of the chassis and the current map.',
  description:
    'Reads only. The other commands accept these map numbers. Exits with 1 when an entry of the list, or the current map, cannot be read; the others are listed.',
  examples: ['<%= config.bin %> map list', '<%= config.bin %> map list --site robot-7/site.yaml --json'],
  flags: { site: siteFlag, via: viaFlag },
  schema: 'gw/map-list/1',
  async run({ flags }) {
    const { listMaps } = await import('../../lib/toolkit/map/list.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      listMaps(toolkit, { signal, onProgress: () => {} }),
    );
    return { data, ok: data.damaged.length === 0 && data.currentProblem === null };
  },
  render: renderMapList,
  paged: true,
});
