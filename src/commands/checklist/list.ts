import { GwCommand, type Outcome } from '../../cli/command.ts';
import { renderChecklistList } from '../../cli/render/checklist.ts';
import { builtInChecklists } from '../../cli/shipped.ts';
import type { ChecklistList as Result } from '../../lib/toolkit/checklist/checklist.result.ts';

export default class ChecklistList extends GwCommand<Result> {
  static override summary = 'List the built-in checklists and the checks for your own ones.';
  static override examples = ['<%= config.bin %> checklist list', '<%= config.bin %> checklist list --json'];
  static override readonly schema = 'gw/checklist-list/1';

  protected override async execute(): Promise<Outcome<Result>> {
    await this.parse(ChecklistList);
    const { listLibrary } = await import('../../lib/toolkit/checklist/run.ts');
    return { data: await listLibrary(builtInChecklists(this.config.root)) };
  }

  protected override readonly render = renderChecklistList;
}
