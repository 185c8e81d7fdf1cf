import { basename } from 'node:path';
import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { TunnelAudit } from '../../lib/toolkit/tunnel/audit.result.ts';
import { printable, renderTable, renderVerdict } from '../output.ts';

/** The first findings; --json and the report have more. */
const MAX_ROWS = 50;

/** `gw tunnel audit` */
export function renderTunnelAudit(data: TunnelAudit): string {
  const { checks, findings, information, report } = data;
  const blocks = [
    firstLine(data),
    checks
      .map(
        ({ verdict, title, text }) => `${renderVerdict(verdict)} ${title}${text === '' ? '' : `: ${printable(text)}`}`,
      )
      .join('\n'),
    findings.length === 0 ? '' : findingTable(data),
    remedies(data),
    information.map((line) => `- ${printable(line)}`).join('\n'),
    report === null ? '' : `Report: ${printable(report.path)} (${report.format}, ${report.bytes} bytes)`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function firstLine(data: TunnelAudit): string {
  const { verdict, local, counts, firstBroken, firstSeq, lastSeq, sessions, cloud, checks, serial, recordsPath } = data;
  const robot = `${serial === null ? 'Robot not known' : `Robot ${printable(serial)}`}, ${printable(recordsPath)}.`;
  const range = firstSeq === 1 ? `1 to ${lastSeq}` : `${firstSeq} to ${lastSeq}, earlier ones are not present`;
  switch (verdict) {
    case 'ok':
      return `${chalk.green('ok')}: ${plural(sessions, 'support session')}, no finding, records ${range}. The copy of the cloud is the same. ${robot}`;
    case 'not-decided': {
      const open = checks.filter((check) => check.verdict === 'not-checked');
      const found =
        lastSeq === null ? 'no finding' : `${plural(sessions, 'support session')}, no finding, records ${range}`;
      // Several checks may be open for one reason; that there is no copy of the cloud has a sentence of its own.
      const reasons = new Set(open.filter(({ detail }) => detail !== 'no-cloud').map(({ text }) => text));
      const why = reasons.size === 0 ? '' : `: ${printable([...reasons].join('; '))}`;
      const same = local === 'ok' ? ' The copy of the cloud is the same.' : '';
      const compared =
        cloud === null ? ' Not compared with the copy of the cloud: a complete rewriting would not show.' : same;
      return `${chalk.yellow('Not decided')}: ${found}; ${open.length} of ${checks.length} checks not made${why}.${compared} ${robot}`;
    }
    case 'findings': {
      const count = counts.reduce((sum, one) => sum + one.count, 0);
      const first = firstBroken === null ? '' : ` First broken line of the chain: ${printable(placeOf(firstBroken))}.`;
      return `${chalk.red.bold(`FAILED: ${plural(count, 'finding')}.`)}${first} ${robot}`;
    }
  }
}

function placeOf({ file, line }: { readonly file: string | null; readonly line: number | null }): string {
  if (file === null) return '--';
  return line === null ? basename(file) : `${basename(file)}:${line}`;
}

function findingTable({ findings, notListed }: TunnelAudit): string {
  const rows = findings.slice(0, MAX_ROWS).map((finding) => {
    const { seq, session, sentence } = finding;
    return [placeOf(finding), seq === null ? '--' : String(seq), session ?? '--', sentence].map(printable);
  });
  const left = findings.length - rows.length + notListed;
  const table = renderTable(['place', 'record', 'session', 'finding'], rows);
  return left === 0 ? table : `${table}\n${left} more findings: see --report or --json.`;
}

/** Each once, with the kinds of findings it is for. */
function remedies({ findings }: TunnelAudit): string {
  const byRemedy = new Map<string, Set<string>>();
  for (const { title, remedy } of findings) {
    const titles = byRemedy.get(remedy) ?? new Set();
    byRemedy.set(remedy, titles.add(title));
  }
  return [...byRemedy]
    .map(([remedy, titles]) => `${[...titles].join(', ')}\n     do next: ${printable(remedy)}`)
    .join('\n');
}
