import { command } from '../../cli/define.ts';
import { renderChecklistList } from '../../cli/render/checklist.ts';
import { builtInChecklists } from '../../cli/shipped.ts';

export default command({
  summary: 'List the built-in checklists and the checks for your own ones.',
  examples: ['<%= config.bin %> checklist list', '<%= config.bin %> checklist list --json'],
  schema: 'gw/checklist-list/1',
  async run() {
    const { listLibrary } = await import('../../lib/toolkit/checklist/run.ts');
    return { data: await listLibrary(builtInChecklists(this.config.root)) };
  },
  render: renderChecklistList,
  paged: true,
});
