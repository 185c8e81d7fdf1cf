import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { renderChecklistShow } from '../../cli/render/checklist.ts';
import { builtInChecklists } from '../../cli/shipped.ts';

export default command({
  summary: 'Show the steps of a checklist without running it.',
  description: 'Validates the whole file and reports every error with its line. Contacts no device; changes nothing.',
  examples: ['<%= config.bin %> checklist show premises', '<%= config.bin %> checklist show ./our-lobby.yaml'],
  args: {
    checklist: Args.string({
      required: true,
      name: 'NAME|FILE',
      description: 'A built-in name, or a file (with its extension).',
    }),
  },
  schema: 'gw/checklist-show/1',
  async run({ args }) {
    const { showChecklist } = await import('../../lib/toolkit/checklist/run.ts');
    return { data: await showChecklist(args.checklist, builtInChecklists(this.config.root)) };
  },
  render: renderChecklistShow,
  paged: true,
});
