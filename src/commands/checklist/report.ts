import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { recordTrustFlags } from '../../cli/flags.ts';
import { chooseFormat } from '../../cli/format.ts';
import { renderRecordReport, reportNotes } from '../../cli/render/record.ts';
import { embeddedFonts } from '../../cli/shipped.ts';

export default command({
  summary: 'Render a report from an acceptance record: HTML, PDF, Markdown or JUnit.',
  description:
    'One page of summary with fields for two signatures, then the steps that are not ok, wrong ones first. The record is verified first (see `gw checklist verify`); nothing in the report is green unless it is verified. An altered record is refused. Changes nothing but --out.',
  examples: [
    '<%= config.bin %> checklist report record.json --site site.yaml --out Abnahme.pdf',
    '<%= config.bin %> checklist report record.json --ca-file operator-ca.pem --lang en --out acceptance.html',
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
      summary:
        'Format of the report; by default that of the name of --out, else html, and md at a terminal. pdf needs --out, junit is English.',
      options: ['html', 'pdf', 'md', 'markdown', 'junit'] as const,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write the report to this file.', helpValue: 'FILE' }),
    force: Flags.boolean({ summary: 'Replace an existing file.', dependsOn: ['out'] }),
  },
  schema: 'gw/checklist-report/1',
  async run({ args, flags }) {
    const { reportRecord } = await import('../../lib/toolkit/checklist/report.ts');
    const { 'ca-file': caPath, site: sitePath, serial, lang, out, force } = flags;
    const given = flags.format === 'markdown' ? 'md' : flags.format;
    const format = chooseFormat(
      { format: given, out },
      ['html', 'pdf', 'md', 'junit'],
      process.stdout.isTTY ? 'md' : 'html',
    );
    const trust = { caPath, sitePath, serial };
    const data = await reportRecord({
      ...{ path: args.file, ...trust, lang, format, out, force },
      fontsDir: embeddedFonts(this.config.root),
      now: () => new Date(),
    });
    // stdout holds only the report; the verification result goes to stderr.
    if (data.document !== null && !this.jsonEnabled()) for (const line of reportNotes(data)) this.note(line);
    return { data };
  },
  render: renderRecordReport,
  isDocument: ({ document }) => document !== null,
});
