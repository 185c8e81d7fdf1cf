import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { SiteCheck, SiteInit, SiteMap } from '../../lib/toolkit/site/site.result.ts';
import { printable, remedyLine, renderVerdict, worstFirst } from '../output.ts';

/** `gw site init` */
export function renderSiteInit({ path, serial, host, read }: SiteInit): string {
  return [
    `Created ${printable(path)} for chassis ${serial} at ${host}.`,
    ...(read === null ? [] : [read.serial === serial ? readText(read) : chalk.yellow(otherText(read))]),
    '',
    'Next: review it, then run',
    `  gw site check ${printable(path)}`,
  ].join('\n');
}

function otherText({ address, serial }: NonNullable<SiteInit['read']>): string {
  return printable(
    `The chassis at ${address} reports serial ${serial}: another robot answers there, or the number is mistyped.`,
  );
}

function readText({ address, model, software, maps, points }: NonNullable<SiteInit['read']>): string {
  const about = `read from ${address}: model ${model ?? 'not reported'}, software ${software ?? 'not reported'}, ${plural(maps.length, 'map')}`;
  const named =
    points === 0
      ? ''
      : `; ${plural(points, 'point')} of the current map are comments in it: name those that are stations`;
  return printable(`${about}${named}`);
}

/** `gw site map` */
export function renderSiteMap({ verdict, path, serial, key, map, before, places }: SiteMap): string {
  const version = (of: number | null) => (of === null ? 'version not reported' : `version ${of}`);
  const name = `'${printable(map.title ?? map.uid)}' (${version(map.version)})`;
  const claimed = places.length === 0 ? 'no place yet' : printable(places.join(', '));
  const had = [
    ...(before === null || before.version === map.version ? [] : [version(before.version)]),
    ...(before === null || before.robot === null || before.robot === serial
      ? []
      : [`the robot ${printable(before.robot)}`]),
  ];
  const was = had.length === 0 ? '' : ` The site file has ${had.join(' and ')}.`;
  switch (verdict) {
    case 'unchanged':
      return `The site file names the current map ${name} already, as ${key}: ${claimed}.`;
    case 'written':
      return `${printable(path)} names the map ${name} as ${key}: ${claimed}.\n\nNext: restart gw serve.`;
    case 'to-confirm':
      return [
        `Not written: the robot uses the map ${name}, and no person has confirmed that ${claimed} were measured on it.${was}`,
        '',
        'If they were, or if you have checked them on this map now:',
        '  gw site map --measured-on-it',
      ].join('\n');
  }
}

/** `gw site check` */
export function renderSiteCheck({ path, valid, verdict, errors, problems, findings, completeFor }: SiteCheck): string {
  const name = printable(path);
  const open = verdict === 'not-checked' ? `, ${chalk.yellow('but not everything was checked')}` : '';
  const wrong = `${plural(errors, 'error')} in ${problems.length > 0 ? name : `what ${name} names`}`;
  const first = valid ? `${name} is valid${open}${completeText(completeFor)}` : wrong;
  const lines = [first, ''];
  for (const { line, column, key, found, expected, suggestion } of problems) {
    // As editors open it.
    const place = line === null ? name : `${name}:${line}:${column ?? 1}`;
    lines.push(`${renderVerdict('wrong')} ${place}${key === '' ? '' : `  ${chalk.bold(printable(key))}`}`);
    lines.push(`     found ${printable(found)}`, `     expected ${printable(expected)}`);
    if (suggestion !== null) lines.push(`     did you mean '${printable(suggestion)}'?`);
  }
  if (problems.length > 0) lines.push('');
  const [one] = findings;
  const isOneReason =
    findings.length > 1 && findings.every(({ detail, remedy }) => detail === one?.detail && remedy === null);
  if (isOneReason && one !== undefined) {
    const titles = findings.map(({ title }) => title).join(', ');
    lines.push(`${renderVerdict(one.verdict)} not checked, because ${printable(one.detail)}: ${titles}`);
  }
  for (const { title, verdict, detail, remedy } of isOneReason ? [] : worstFirst(findings)) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${detail.split('\n').map(printable).join('\n     ')}`);
    if (remedy !== null) lines.push(remedyLine(remedy));
  }
  if (completeFor.length > 0) lines.push('', chalk.bold('Complete for'));
  for (const { title, missing } of completeFor) {
    lines.push(missing.length === 0 ? `yes  ${title}` : `${chalk.yellow('no')}   ${title}`);
    for (const { key, what, remedy } of missing) {
      lines.push(`     ${chalk.bold(printable(key))}: ${printable(what)}`, `       ${chalk.dim(printable(remedy))}`);
    }
  }
  return lines.join('\n');
}

function completeText(purposes: SiteCheck['completeFor']): string {
  const names = (of: SiteCheck['completeFor']) => of.map(({ title }) => title).join(', ');
  const complete = purposes.filter(({ missing }) => missing.length === 0);
  const lacking = purposes.filter(({ missing }) => missing.length > 0);
  const full = complete.length === 0 ? '' : `; complete for ${names(complete)}`;
  return `${full}${lacking.length === 0 ? '' : `; ${chalk.yellow(`not complete for ${names(lacking)}`)}`}`;
}
