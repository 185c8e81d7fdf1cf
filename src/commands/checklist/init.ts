import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { renderChecklistInit } from '../../cli/render/checklist-init.ts';

export default command({
  summary: 'Create a commented checklist of your own to start from.',
  description: 'Its checks look at the gateway itself, and it runs as it is. An existing file is never replaced.',
  examples: ['<%= config.bin %> checklist init', '<%= config.bin %> checklist init our-lobby.yaml'],
  args: { file: Args.string({ description: 'Output file.', default: 'own-checks.yaml' }) },
  schema: 'gw/checklist-init/1',
  async run({ args }) {
    const { initChecklist } = await import('../../lib/toolkit/checklist/init.ts');
    return { data: await initChecklist(args.file) };
  },
  render: renderChecklistInit,
});
