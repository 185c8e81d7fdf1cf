import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, viaThereFlag } from '../../cli/flags.ts';
import { chooseFormat } from '../../cli/format.ts';
import { renderTunnelAudit } from '../../cli/render/tunnel.ts';
import { embeddedFonts } from '../../cli/shipped.ts';
import { defaultSiteFile } from '../../cli/site-file.ts';
import { GwError } from '../../lib/error/index.ts';

const STDIN = '-';

export default command({
  summary: 'Audit the records of the support sessions; write the report as HTML or PDF.',
  description:
    'Every record is verified against the one before it, and the first broken line is named; every start needs one end, within the own clock and the configured maximum, region and services. With --cloud the copy of the cloud is compared record by record, with --log the log files are searched for tokens. Without --cloud a complete rewriting of the local records does not show. Reads files of any size in a stream, changes nothing but --out, and may run while gw does. - reads the joined files of the records from stdin, without head.json: their end is then not checked. With --via the gateway judges its own files; a copy of the cloud that lies there proves nothing, so --cloud needs the records here. Exits with 0 for ok only; with 1 for findings, and also when a check was not made, such as without --cloud or while a session runs, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> tunnel audit --site /etc/gw/site.yaml',
    '<%= config.bin %> tunnel audit --site site.yaml --cloud records.jsonl --out Fernwartung.pdf',
    '<%= config.bin %> tunnel audit --records support/ --log gw.log --lang en --out audit.html --force',
    '<%= config.bin %> tunnel audit --records sessions.jsonl --json',
    "ssh root@192.0.2.2 'cd /var/lib/gw/support && cat sessions-*.jsonl sessions.jsonl' | <%= config.bin %> tunnel audit - --cloud records.jsonl",
    '<%= config.bin %> tunnel audit --via root@192.0.2.2 --site /etc/gw/site.yaml',
  ],
  args: {
    input: Args.string({
      description: 'Read the records from stdin: joined files, oldest first.',
      options: [STDIN],
      ignoreStdin: true,
    }),
  },
  flags: {
    records: Flags.string({
      summary: 'Folder of the records, or one file; by default the one of the site file.',
      helpValue: 'PATH',
    }),
    cloud: Flags.file({
      summary: 'Copy of the cloud to compare with: JSON lines of records, or of messages that contain them.',
      helpValue: 'FILE',
    }),
    log: Flags.file({
      summary: 'Log file to search for tokens; may be repeated.',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    site: Flags.file({
      char: 's',
      summary: 'Site file of this robot; without --records site.yaml, here or above, by default.',
      helpValue: 'FILE',
      env: 'GW_SITE',
    }),
    out: Flags.file({ char: 'o', summary: 'Write the report to this file.', helpValue: 'FILE' }),
    format: Flags.option({
      summary: 'Format of the report; by default that of the name of --out, else html.',
      options: ['html', 'pdf'] as const,
      dependsOn: ['out'],
    })(),
    lang: Flags.option({
      summary: 'Language of the report.',
      options: ['de', 'en'] as const,
      default: 'de' as const,
    })(),
    force: Flags.boolean({ summary: 'Replace an existing file.', dependsOn: ['out'] }),
    via: { ...viaThereFlag, exclusive: ['cloud', 'out'] },
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/tunnel-audit/1',
  async run({ args, flags }) {
    const isStdin = args.input === STDIN;
    if (isStdin && (flags.records !== undefined || flags.via !== undefined)) {
      throw new GwError('USAGE', 'Records from stdin exclude --records and --via.', {
        remedy: 'Leave out - or the flag.',
      });
    }
    if (flags.via !== undefined) {
      const { tunnelAuditSchema } = await import('../../lib/tunnel/audit/audit.result.ts');
      return await this.runThere(flags.via, tunnelAuditSchema);
    }
    const { auditSessions } = await import('../../lib/toolkit/tunnel/audit.ts');
    const { records, cloud, log: logs, site, out, lang, force } = flags;
    const fontsDir = embeddedFonts(this.config.root);
    const report =
      out === undefined ? undefined : { path: out, format: chooseFormat(flags, ['html', 'pdf'], 'html'), fontsDir };
    const sitePath = site ?? (records === undefined && !isStdin ? defaultSiteFile() : undefined);
    const where = { records, ...(isStdin && { input: process.stdin }), cloud, logs, sitePath, report };
    const data = await auditSessions({ ...where, lang, force, now: () => new Date(), signal: this.signal });
    return await this.judged(data, data.verdict === 'findings' ? 'wrong' : data.verdict, flags);
  },
  render: renderTunnelAudit,
});
