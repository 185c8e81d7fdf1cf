import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { GatewayBackup, GatewayRestore } from '../../lib/toolkit/gateway/backup.result.ts';
import { findingLines, page, printable, renderTable, right } from '../output.ts';

/** `gw gateway backup` */
export function renderGatewayBackup(data: GatewayBackup): string {
  const first = `Backup of ${printable(data.serial)} written: ${printable(data.file)}`;
  const next = `Verify it at any time: gw gateway verify ${printable(data.file)}`;
  return page(firstLine(data, first), '', contents(data), '', next);
}

/** `gw gateway verify` */
export function renderGatewayVerify(data: GatewayBackup): string {
  const first = `Backup of ${printable(data.serial)} is whole: ${printable(data.file)}`;
  return page(firstLine(data, first), '', contents(data));
}

/** `gw gateway restore` */
export function renderGatewayRestore(data: GatewayRestore): string {
  const { state, files, movedAside } = data;
  const count = (action: string) => files.filter((file) => file.action === action).length;
  const written = plural(count('write'), 'file');
  const first = {
    'dry-run': `Nothing written (dry run): ${written} would be, ${count('same')} are there already`,
    refused: chalk.red('Refused, nothing was written'),
    restored: `Gateway of ${printable(data.serial)} restored: ${printable(data.site)}, ${written} written, ${count('same')} were there already`,
  }[state];
  const rows = files.map(({ path, bytes, action }) => [action, String(bytes), printable(path)]);
  const next = {
    'dry-run': `Restore it: gw gateway restore ${printable(data.file)} --into FOLDER --write`,
    refused: 'Correct what is wrong above, then run the command again.',
    restored: 'Then: gw doctor, gw status, gw checklist run premises',
  }[state];
  return page(
    firstLine(data, first),
    '',
    contents(data),
    state !== 'restored' && ['', renderTable(['action', right('bytes'), 'file'], rows)],
    movedAside.length > 0 && [
      '',
      movedAside.map(
        ({ from, to }) => `${state === 'restored' ? 'moved' : 'to move'}  ${printable(from)} → ${printable(to)}`,
      ),
    ],
    '',
    next,
  );
}

function firstLine({ verdict, findings }: GatewayBackup, text: string): string {
  const open = findings.filter((line) => line.verdict === 'not-checked').length;
  if (verdict === 'ok') return `${text}.`;
  const wrong = findings.filter((line) => line.verdict === 'wrong').length;
  return verdict === 'wrong'
    ? `${text}; ${chalk.red(`${wrong} wrong`)}${open > 0 ? `, ${open} not checked` : ''}.`
    : `${text}; ${chalk.yellow(`${open} not checked`)}.`;
}

function contents({ sha256, bytes, createdAt, gwVersion, host, parts, leftOut, findings }: GatewayBackup) {
  const rows = parts.map(({ holds, files, bytes: size }) => [
    printable(holds),
    String(files),
    size === null ? 'encrypted' : String(size),
  ]);
  return [
    `sha256   ${sha256}  (${bytes} bytes)`,
    `created  ${createdAt} by gw ${printable(gwVersion)} on ${printable(host)}`,
    '',
    findings.flatMap((line) => findingLines(line)),
    '',
    renderTable(['holds', right('files'), right('bytes')], rows),
    leftOut.length > 0 && [
      '',
      leftOut.flatMap(({ path, holds, reason, anew }) => [
        chalk.yellow(`left out  ${printable(path)} (${printable(holds)}): ${printable(reason)}`),
        ...(anew === '' ? [] : [`          ${printable(anew)}`]),
      ]),
    ],
  ].flat(3);
}
