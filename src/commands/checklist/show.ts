import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { renderChecklistShow } from '../../cli/render/checklist.ts';
import { builtInChecklists } from '../../cli/shipped.ts';
import type { ChecklistShow as Result } from '../../lib/toolkit/checklist/checklist.result.ts';

export default class ChecklistShow extends GwCommand<Result> {
  static override summary = 'Show the steps of a checklist without running it.';
  static override description =
    'Validates the whole file and reports every error with its line. Contacts no device; changes nothing.';
  static override examples = [
    '<%= config.bin %> checklist show premises',
    '<%= config.bin %> checklist show ./our-lobby.yaml',
  ];
  static override args = {
    checklist: Args.string({
      required: true,
      name: 'NAME|FILE',
      description: 'A built-in name, or a file (with its extension).',
    }),
  };
  static override readonly schema = 'gw/checklist-show/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args } = await this.parse(ChecklistShow);
    const { showChecklist } = await import('../../lib/toolkit/checklist/run.ts');
    return { data: await showChecklist(args.checklist, builtInChecklists(this.config.root)) };
  }

  protected override readonly render = renderChecklistShow;
}
