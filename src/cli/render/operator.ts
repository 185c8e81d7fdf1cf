import chalk from 'chalk';
import type { OperatorCheck, OperatorPassword, RouteRow } from '../../lib/toolkit/operator/operator.result.ts';
import { findingsLines, printable, renderTable, renderVerdict, right, worstFirst } from '../output.ts';

/** `gw operator check` */
export function renderOperatorCheck(data: OperatorCheck): string {
  const { verdict, full, readOnly, routes, findings, counts, requests, tookMs } = data;
  const where = readOnly === null ? place(full) : `${place(full)} and ${place(readOnly)}`;
  const total = counts.ok + counts.wrong + counts.notChecked;
  const open = counts.notChecked === 0 ? '' : `, ${counts.notChecked} not checked`;
  const first = {
    ok: `${chalk.green('ok')}: ${counts.ok} checks. Operator server at ${where}.`,
    'not-checked': `${chalk.yellow('Not decided')}: ${counts.notChecked} of ${total} checks not made, none failed. Operator server at ${where}.`,
    wrong: `${chalk.red.bold('FAILED')}: ${counts.wrong} of ${total} checks. Operator server at ${where}${open}.`,
  }[verdict];
  const columns = [
    '',
    'route',
    right(`${full.port}`),
    right('specified'),
    right('5174'),
    right('specified'),
    'meaning',
  ];
  const lines = [first, '', renderTable(columns, worstFirst(routes.map(judged)).map(routeCells)), ''];
  for (const { note, path } of routes)
    if (note !== null) lines.push(chalk.dim(`${printable(path)}: ${printable(note)}`));
  const shown = findings.filter(({ id, verdict }) => !id.startsWith('route ') || verdict === 'wrong');
  lines.push(...findingsLines(shown));
  lines.push('', chalk.dim(`${requests} requests in ${(tookMs / 1000).toFixed(1)} s, read-only`));
  return lines.join('\n');
}

/** A route with the worse verdict of its two sockets. */
function judged(row: RouteRow) {
  const verdicts = [row.full.verdict, row.readOnly.verdict];
  const verdict = verdicts.includes('wrong') ? 'wrong' : verdicts.includes('not-checked') ? 'not-checked' : 'ok';
  return { ...row, verdict } as const;
}

function routeCells({ verdict, method, path, meaning, full, readOnly }: ReturnType<typeof judged>): string[] {
  const cells = ({ expected, found, verdict: of }: RouteRow['full']) => [
    of === 'not-checked' ? '--' : of === 'wrong' ? chalk.red.bold(String(found ?? 'none')) : String(found),
    expected.join('/'),
  ];
  return [renderVerdict(verdict), `${method} ${printable(path)}`, ...cells(full), ...cells(readOnly), meaning];
}

function place({ host, port }: { readonly host: string; readonly port: number }): string {
  return printable(host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
}

/** `gw operator password` */
export function renderOperatorPassword({ file, replaced, same, earlier }: OperatorPassword): string {
  if (same) {
    return [
      chalk.yellow('Device password NOT changed: it is the same as before.'),
      '',
      `Its hash is in ${printable(file)}, readable for its owner only.`,
    ].join('\n');
  }
  return [
    `Device password ${replaced ? 'changed' : 'set'}.`,
    '',
    ...(earlier ? [chalk.yellow('It is one that was set on this gateway before: who knew it then knows it now.')] : []),
    `Its hash is in ${printable(file)}, readable for its owner only.`,
    'A running `gw serve` applies it within seconds, and ends every session of the old one.',
  ].join('\n');
}
