import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { MapSelect } from '../../lib/toolkit/map/select.result.ts';
import { printable, renderVerdict } from '../output.ts';
import { differenceLines } from './overlays-difference.ts';
import { runningClause, runningLines } from './running-map.ts';

/** `gw map select` */
export function renderMapSelect(data: MapSelect): string {
  const { before, running, runningBefore, use, stored, safetyBackup, stillness, position, facts, next } = data;
  const lines = [firstLine(data), ''];
  lines.push(`before      ${before === null ? 'no map was in use' : `map ${before.id} ${nameText(before.name)}`}`);
  if (running === null) lines.push(...runningLines(runningBefore));
  if (use !== null) {
    const current = use.outcome === 'set' ? 'ok' : use.outcome === 'unknown' ? 'not-checked' : 'wrong';
    const word = {
      set: 'it is the current map',
      'not-set': 'it is not',
      'not-started': 'it is not',
      unknown: 'not known',
    };
    const why = use.why === null ? '' : `: ${printable(use.why)}`;
    lines.push(`current map ${renderVerdict(current)} ${word[use.outcome]}${why}`);
  }
  if (running !== null) lines.push(...runningLines(running));
  if (stored !== null) {
    const verdict = ({ unchanged: 'ok', changed: 'wrong', 'not-checked': 'not-checked' } as const)[stored.verdict];
    const words = {
      unchanged: 'every stored map is as before: name, map_version, grid, overlays',
      changed: 'a stored map is not what it was',
      'not-checked': 'the stored maps could not be read again',
    };
    lines.push(`stored maps ${renderVerdict(verdict)} ${words[stored.verdict]}`);
    for (const { id, name, fate, changes, difference } of stored.changes) {
      lines.push(`            map ${id} ${nameText(name)}: ${[fate, ...changes].map(printable).join('; ')}`);
      lines.push(...differenceLines('from before to now', difference, '              '));
    }
  }
  if (position === 'must-be-set-anew') {
    lines.push(
      `position    ${renderVerdict('not-checked')} ${chalk.yellow('expected to be lost: it must be set anew')}`,
    );
  } else if (use !== null) lines.push('position    the chassis did not take the order');
  if (safetyBackup !== null) {
    lines.push(
      '',
      `kept first  ${printable(safetyBackup.file)}, ${plural(safetyBackup.maps, 'map')}`,
      `            sha256 ${safetyBackup.sha256}`,
    );
  }
  if (stillness !== null) {
    lines.push(
      `stood still ${renderVerdict(stillness.verdict === 'still' ? 'ok' : 'not-checked')} ${printable(stillness.detail)}`,
    );
  }
  lines.push('');
  for (const { mark, statement, id } of facts) lines.push(chalk.dim(`${mark}  ${statement} (${id})`));
  if (next.length > 0) lines.push('', ...next.map(printable));
  return lines.join('\n');
}

function firstLine({ verdict, map, before, chassis, use, running, runningBefore, interrupted }: MapSelect): string {
  const of = `of ${printable(chassis.serial)}`;
  const what = `map ${map.id} ${nameText(map.name)} ${of}`;
  const cut = interrupted ? ' (interrupted)' : '';
  const lost = chalk.yellow('its position must be set anew');
  const drives = running === null ? '' : `; ${runningClause(running)}`;
  switch (verdict) {
    case 'to-do': {
      const how = before?.id === map.id ? `select ${what} again` : `make ${what} the current one`;
      return `Nothing was sent. This would ${how}, and the robot would lose its position; now ${runningClause(runningBefore)}.`;
    }
    case 'selected':
      return `${chalk.green('Selected')}: ${what} is the current one${drives}; ${lost}${cut}.`;
    case 'running-not-checked':
      return `${chalk.yellow('Selected, running map not checked')}: ${what} is the current one${drives}; ${lost}${cut}.`;
    case 'running-differs':
      return `${chalk.red.bold('Selected, but the robot drives by something else')}: ${what} is the current one${drives}; ${lost}${cut}.`;
    case 'maps-changed':
      return `${chalk.red.bold('Selected, but a stored map is not what it was')}: ${what} is the current one${drives}; ${lost}${cut}.`;
    case 'not-selected':
      return `${chalk.red.bold('Not selected')}: ${what}${use?.why ? `: ${printable(use.why)}` : ''}${cut}.`;
    case 'unknown':
      return `${chalk.red.bold('Whether it was selected is not known')}: ${what}${use?.why ? `: ${printable(use.why)}` : ''}; ${lost}${cut}.`;
  }
}

function nameText(name: string | null): string {
  return name === null ? '(no name)' : `'${printable(name)}'`;
}
