import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { SiteCheck } from '../../lib/toolkit/site/check.result.ts';
import type { SiteInit } from '../../lib/toolkit/site/init.result.ts';
import { printable, renderVerdict } from '../output.ts';

/** `gw site init` */
export function renderSiteInit({ path, serial, host }: SiteInit): string {
  return [
    `Created ${printable(path)} for chassis ${serial} at ${host}.`,
    '',
    `Next: review it, then run gw site check ${printable(path)}`,
  ].join('\n');
}

/** `gw site check` */
export function renderSiteCheck({ path, valid, errors, problems, findings }: SiteCheck): string {
  const name = printable(path);
  const lines = [valid ? `${name} is valid` : `${plural(errors, 'error')} in ${name}`, ''];
  for (const { line, column, key, found, expected, suggestion } of problems) {
    const place = line === null ? 'whole file' : `line ${line}:${column ?? 1}`;
    lines.push(`${renderVerdict('wrong')} ${place}${key === '' ? '' : `  ${chalk.bold(printable(key))}`}`);
    lines.push(`     found ${printable(found)}`, `     expected ${printable(expected)}`);
    if (suggestion !== null) lines.push(`     did you mean '${printable(suggestion)}'?`);
  }
  if (problems.length > 0) lines.push('');
  for (const { title, verdict, detail, remedy } of findings) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${detail.split('\n').map(printable).join('\n     ')}`);
    if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  }
  return lines.join('\n');
}
