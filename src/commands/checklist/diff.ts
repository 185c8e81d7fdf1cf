import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { recordTrustFlags } from '../../cli/flags.ts';
import { renderRecordDiff } from '../../cli/render/record.ts';

export default command({
  summary: 'Compare the records of two visits: newly wrong, fixed, changed values, versions.',
  description:
    'Robots are matched by serial, steps by id. Both files are verified as far as --ca-file or --site allow; an altered file is refused. Changes nothing. Exits with 1 when the second is worse: a step newly wrong or no longer ok, a new red line, or a missing robot.',
  examples: [
    '<%= config.bin %> checklist diff 2026-05.json 2026-11.json',
    '<%= config.bin %> checklist diff 2026-05.json 2026-11.json --site site.yaml',
    '<%= config.bin %> checklist diff old.json new.json --json',
  ],
  args: {
    old: Args.string({ description: 'Record of the earlier visit.', required: true }),
    new: Args.string({ description: 'Record of the later visit.', required: true }),
  },
  flags: { 'ca-file': recordTrustFlags['ca-file'], site: recordTrustFlags.site },
  schema: 'gw/checklist-diff/1',
  async run({ args, flags }) {
    const { compareRecords } = await import('../../lib/toolkit/checklist/diff.ts');
    const sides = { from: args.old, to: args.new };
    const data = await compareRecords({ ...sides, caPath: flags['ca-file'], sitePath: flags.site });
    return { data, ok: !data.worse };
  },
  render: renderRecordDiff,
  paged: true,
});
