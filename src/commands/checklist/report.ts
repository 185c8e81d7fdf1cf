import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { recordTrustFlags } from '../../cli/flags.ts';
import { renderRecordReport, reportNotes } from '../../cli/render/record.ts';

export default command({
  summary: 'Render a report from an acceptance record: HTML, PDF, Markdown or JUnit.',
  description:
    'One page of summary with fields for two signatures, then the steps that are not ok, wrong ones first. The record is verified first (see `gw checklist verify`); nothing in the report is green unless it is verified. An altered record is refused. Changes nothing but --out.',
  examples: [
    '<%= config.bin %> checklist report record.json --site site.yaml --format pdf --out Abnahme.pdf',
    '<%= config.bin %> checklist report record.json --ca operator-ca.pem --lang en --out acceptance.html',
    '<%= config.bin %> checklist report record.json --format junit > junit.xml',
  ],
  args: { file: Args.string({ description: 'Record file (JSON).', required: true }) },
  flags: {
    ...recordTrustFlags,
    lang: Flags.option({
      summary: 'Language of the report.',
      options: ['de', 'en'] as const,
      default: 'de' as const,
    })(),
    format: Flags.option({
      summary: 'Format of the report; pdf needs --out, md and markdown are the same, junit is always English.',
      options: ['html', 'pdf', 'md', 'markdown', 'junit'] as const,
      default: 'html' as const,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write the report to this file.', helpValue: 'FILE' }),
    force: Flags.boolean({ summary: 'Replace the file of --out.', dependsOn: ['out'] }),
  },
  schema: 'gw/checklist-report/1',
  async run({ args, flags }) {
    const { reportRecord } = await import('../../lib/toolkit/checklist/report.ts');
    const { ca: caPath, site: sitePath, serial, lang, out, force } = flags;
    const format = flags.format === 'markdown' ? 'md' : flags.format;
    const trust = { caPath, sitePath, serial };
    const data = await reportRecord({ path: args.file, ...trust, lang, format, out, force, now: () => new Date() });
    // stdout holds only the report; the verification result goes to stderr.
    if (data.document !== null && !this.jsonEnabled()) for (const line of reportNotes(data)) this.note(line);
    return { data };
  },
  render: renderRecordReport,
});
