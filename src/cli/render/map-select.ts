import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { MapSelect } from '../../lib/toolkit/map/select.result.ts';
import { printable, renderVerdict } from '../output.ts';
import { differenceLines } from './overlays-difference.ts';
import { runningClause, runningLines } from './running-map.ts';
import { stillnessLine } from './stillness.ts';

/** `gw map select` */
export function renderMapSelect(data: MapSelect): string {
  const { before, running, runningBefore, use, stored, safetyBackup, stillness, position, facts, next } = data;
  const lines = [firstLine(data), ''];
  lines.push(
    `before      ${before === null ? 'there was no current map' : `map ${before.id} ${mapNameText(before.name)}`}`,
  );
  if (running === null) lines.push(...runningLines(runningBefore));
  if (use !== null) {
    const current = use.outcome === 'set' ? 'ok' : use.outcome === 'unknown' ? 'not-checked' : 'wrong';
    const text = {
      set: 'set',
      'not-set': 'not set',
      'not-started': 'not set',
      unknown: 'unknown',
    };
    const why = use.why === null ? '' : `: ${printable(use.why)}`;
    lines.push(`current map ${renderVerdict(current)} ${text[use.outcome]}${why}`);
  }
  if (running !== null) lines.push(...runningLines(running));
  if (stored !== null) {
    const verdict = ({ unchanged: 'ok', changed: 'wrong', 'not-checked': 'not-checked' } as const)[stored.verdict];
    const texts = {
      unchanged: 'unchanged: name, map_version, grid, overlays of every map',
      changed: 'a stored map has changed',
      'not-checked': 'the stored maps could not be read again',
    };
    lines.push(`stored maps ${renderVerdict(verdict)} ${texts[stored.verdict]}`);
    for (const { id, name, status, changes, difference } of stored.changes) {
      lines.push(`            map ${id} ${mapNameText(name)}: ${[status, ...changes].map(printable).join('; ')}`);
      lines.push(...differenceLines('from before to now', difference, '              '));
    }
  }
  if (position === 'must-be-set') {
    lines.push(`position    ${renderVerdict('not-checked')} ${chalk.yellow('expected to be lost: must be set')}`);
  } else if (use !== null) lines.push('position    unchanged: the chassis did not accept the order');
  if (safetyBackup !== null) {
    lines.push(
      '',
      `safety copy ${printable(safetyBackup.file)}, ${plural(safetyBackup.maps, 'map')}`,
      `            sha256 ${safetyBackup.sha256}`,
    );
  }
  if (stillness !== null) lines.push(stillnessLine(stillness, 'before the order'));
  lines.push('');
  for (const { mark, statement, id } of facts) lines.push(chalk.dim(`${mark}  ${statement} (${id})`));
  if (next.length > 0) lines.push('', ...next.map(printable));
  return lines.join('\n');
}

function firstLine({ verdict, map, before, chassis, use, running, runningBefore, interrupted }: MapSelect): string {
  const of = `of ${printable(chassis.serial)}`;
  const name = `map ${map.id} ${mapNameText(map.name)} ${of}`;
  const suffix = interrupted ? ' (interrupted)' : '';
  const lost = chalk.yellow('the position of the robot must be set');
  const runningText = running === null ? '' : `; ${runningClause(running)}`;
  switch (verdict) {
    case 'to-do': {
      const change = before?.id === map.id ? `select ${name} again` : `make ${name} the current one`;
      return `Dry run, nothing sent: this would ${change}, and the robot would lose its position; now ${runningClause(runningBefore)}.`;
    }
    case 'selected':
      return `${chalk.green('Selected')}: ${name} is the current one${runningText}; ${lost}${suffix}.`;
    case 'running-not-checked':
      return `${chalk.yellow('Selected, running map not checked')}: ${name} is the current one${runningText}; ${lost}${suffix}.`;
    case 'running-differs':
      return `${chalk.red.bold('Selected, but the robot drives by other overlays')}: ${name} is the current one${runningText}; ${lost}${suffix}.`;
    case 'maps-changed':
      return `${chalk.red.bold('Selected, but a stored map has changed')}: ${name} is the current one${runningText}; ${lost}${suffix}.`;
    case 'not-selected':
      return `${chalk.red.bold('Not selected')}: ${name}${use?.why ? `: ${printable(use.why)}` : ''}${suffix}.`;
    case 'unknown':
      return `${chalk.red.bold('Selection unknown')}: ${name}${use?.why ? `: ${printable(use.why)}` : ''}; ${lost}${suffix}.`;
  }
}

function mapNameText(name: string | null): string {
  return name === null ? '(no name)' : `'${printable(name)}'`;
}
