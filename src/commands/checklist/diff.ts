import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { recordTrustFlags } from '../../cli/flags.ts';
import { renderRecordDiff } from '../../cli/render/record.ts';
import type { RecordDiff as Result } from '../../lib/toolkit/checklist/checklist.result.ts';

export default class ChecklistDiff extends GwCommand<Result> {
  static override summary = 'Compare the records of two visits: newly wrong, fixed, changed values, versions.';
  static override description =
    'Robots are matched by serial, steps by id. Both files are verified as far as --ca or --site allow; an altered file is refused. Changes nothing. Exits with 1 when the second is worse: a step newly wrong or no longer ok, a new red line, or a missing robot.';
  static override examples = [
    '<%= config.bin %> checklist diff 2026-05.json 2026-11.json',
    '<%= config.bin %> checklist diff 2026-05.json 2026-11.json --site site.yaml',
    '<%= config.bin %> checklist diff old.json new.json --json',
  ];
  static override args = {
    old: Args.string({ description: 'Record of the earlier visit.', required: true }),
    new: Args.string({ description: 'Record of the later visit.', required: true }),
  };
  static override flags = { ca: recordTrustFlags.ca, site: recordTrustFlags.site };
  static override readonly schema = 'gw/checklist-diff/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(ChecklistDiff);
    const { compareRecords } = await import('../../lib/toolkit/checklist/diff.ts');
    const sides = { from: args.old, to: args.new };
    const data = await compareRecords({ ...sides, caPath: flags.ca, sitePath: flags.site });
    return { data, ok: !data.worse };
  }

  protected override readonly render = renderRecordDiff;
}
