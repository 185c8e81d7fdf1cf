import chalk from 'chalk';
import { markText } from '../../lib/evidence/index.ts';
import { plural } from '../../lib/text/index.ts';
import type { MapRestore, RestoredMap } from '../../lib/toolkit/map/restore.result.ts';
import { printable, renderTable, renderVerdict, type Verdict } from '../output.ts';
import { differenceLines, differenceText } from './overlays-difference.ts';
import { runningClause, runningLines } from './running-map.ts';

/** `gw map restore` */
export function renderMapRestore(data: MapRestore): string {
  const { maps, others, backup, safetyBackup, stillness, use, facts, next, problem } = data;
  const lines = [firstLine(data), ''];
  lines.push(
    renderTable(
      [{ title: 'map' }, { title: 'name' }, { title: 'on the chassis' }, { title: 'plan' }, { title: 'now holds' }],
      maps.map((map) => [
        `${map.id}${map.wasInUse ? ' (in use)' : ''}`,
        printable(map.name),
        map.idOnChassis === null ? '-' : String(map.idOnChassis),
        planText(map),
        `${renderVerdict(verdictOfMap(map))} ${printable(map.holdsNow)}`,
      ]),
    ),
  );
  for (const map of maps) lines.push(...detailsOf(map));
  if (use !== null) lines.push('', useText(use));
  if (others.length > 0) {
    const names = others.map(({ id, name }) => `${id} '${printable(name)}'`);
    lines.push('', `Not in the backup, and left as they are: ${names.join(', ')}`);
  }
  lines.push(
    '',
    `backup      ${printable(backup.file)}, taken ${backup.createdAt}`,
    `            sha256 ${backup.sha256}`,
  );
  if (safetyBackup !== null) {
    lines.push(
      `kept first  ${printable(safetyBackup.file)}, ${plural(safetyBackup.maps, 'map')}`,
      `            sha256 ${safetyBackup.sha256}`,
    );
  } else if (data.mode === 'write' && stillness !== null) lines.push('kept first  nothing: the chassis held no map');
  if (stillness !== null) {
    lines.push(
      `stood still ${renderVerdict(stillness.verdict === 'still' ? 'ok' : 'not-checked')} ${printable(stillness.detail)}`,
    );
  }
  lines.push(...runningLines(data.running));
  lines.push('');
  for (const fact of facts) lines.push(chalk.dim(`${markText(fact)}  ${fact.statement} (${fact.id})`));
  if (problem !== null) lines.push('', `${chalk.red.bold(problem.code)}: ${problem.title}`, problem.remedy);
  if (next.length > 0) lines.push('', ...next.map(printable));
  return lines.join('\n');
}

function firstLine({ mode, verdict, maps, chassis, safetyBackup, interrupted, running }: MapRestore): string {
  const of = `of ${printable(chassis.serial)}`;
  const before = safetyBackup === null ? '' : `; what was there before is in ${printable(safetyBackup.file)}`;
  const count = (is: (map: RestoredMap) => boolean) => maps.filter(is).length;
  const todo = count(({ plan }) => plan === 'overlays-differ' || plan === 'missing');
  const blocked = count(({ plan }) => plan === 'conflict' || plan === 'cannot');
  const cut = interrupted ? ' (interrupted)' : '';
  const drives = `; ${runningClause(running)}`;
  const isKnown = running.verdict !== 'not-checked';
  const written = mapsText(count(({ outcome }) => outcome === 'written'));
  switch (verdict) {
    case 'nothing-to-do':
      return `${(isKnown ? chalk.green : chalk.yellow)('Nothing to restore')}: the chassis stores ${mapsText(maps.length)} ${of} as in the backup${drives}.`;
    case 'to-do':
      return `Nothing was written. A restore would ${whatItWouldDo(maps, of)}; now ${runningClause(running)}.`;
    case 'restored':
      return `${isKnown ? chalk.green('Restored') : chalk.yellow('Stored')}: ${written} ${of} written, read back and compared${drives}${before}${cut}.`;
    case 'stored-only':
      if (todo === 0) {
        return `${chalk.red.bold('Nothing to restore, but the robot drives by something else')}: the chassis stores ${mapsText(maps.length)} ${of} as in the backup${drives}.`;
      }
      return `${chalk.red.bold('Stored, but the robot drives by something else')}: ${written} ${of} written, read back and compared${drives}${before}${cut}.`;
    case 'obstacles':
      if (mode === 'dry-run' || todo === 0) {
        const rest = todo === 0 ? '' : ` A restore would ${whatItWouldDo(maps, of)}.`;
        return `${chalk.red.bold(`${mapsText(blocked)} ${of} cannot be restored`)}; nothing was written${drives}.${rest}`;
      }
      return `${chalk.red.bold('Not everything was restored')} ${of}: ${written} of ${maps.length} written${drives}${before}${cut}.`;
    case 'differs':
      return `${chalk.red.bold('The chassis does not hold what was to be written')}: see below what it holds now${drives}${before}${cut}.`;
    case 'unknown':
      return `${chalk.red.bold('What the chassis holds now is not known')}: see below${drives}${before}${cut}.`;
  }
}

function whatItWouldDo(maps: readonly RestoredMap[], of: string): string {
  const changed = maps.filter(({ plan }) => plan === 'overlays-differ').length;
  const missing = maps.filter(({ plan }) => plan === 'missing').length;
  const parts = [
    ...(changed > 0 ? [`replace the overlays of ${mapsText(changed)} ${of}`] : []),
    ...(missing > 0 ? [`create ${mapsText(missing)} ${of} anew`] : []),
  ];
  return parts.length === 0 ? `take a map ${of} into use` : parts.join(' and ');
}

function mapsText(count: number): string {
  return plural(count, 'map');
}

const plans: Readonly<Record<RestoredMap['plan'], string>> = {
  same: 'nothing to do',
  'overlays-differ': 'replace its overlays',
  missing: 'create it anew',
  conflict: 'left as it is',
  cannot: 'cannot be restored',
};

function planText({ plan, matchedBy }: RestoredMap): string {
  return `${plans[plan]}${matchedBy === null || matchedBy === 'uid' ? '' : chalk.dim(` (found by ${matchedBy === 'content' ? 'name, grid and picture' : matchedBy})`)}`;
}

function verdictOfMap({ outcome, plan }: RestoredMap): Verdict {
  if (plan === 'conflict' || plan === 'cannot') return 'wrong';
  switch (outcome) {
    case 'dry-run':
    case 'untouched':
      return plan === 'same' ? 'ok' : 'not-checked';
    case 'written':
      return 'ok';
    case 'not-started':
    case 'not-sent':
    case 'unknown':
      return 'not-checked';
    case 'no-effect':
    case 'put-back':
    case 'differs':
    case 'gone':
      return 'wrong';
  }
}

function detailsOf(map: RestoredMap): string[] {
  const { difference, afterWrite, beforeToNow, said, undone, undoSaid, alsoChanged, notCompared, notes } = map;
  const lines: string[] = [];
  if (difference !== null && !difference.same) {
    lines.push(...differenceLines('from the chassis to the backup', difference, '  '));
  }
  if (said !== null) lines.push(`  the chassis to the write: ${printable(said)}`);
  if (afterWrite !== null && map.outcome !== 'written') {
    lines.push(...differenceLines('from what was sent to what was read back', afterWrite, '  '));
  } else if (afterWrite !== null) lines.push(`  read back: ${differenceText(afterWrite)}`);
  if (undone)
    lines.push(`  the old overlays were sent again${undoSaid === null ? '' : `; the chassis: ${printable(undoSaid)}`}`);
  if (beforeToNow !== null && map.outcome === 'differs') {
    lines.push(...differenceLines('from before to now', beforeToNow, '  '));
  }
  for (const clause of [...alsoChanged, ...notes]) lines.push(`  ${printable(clause)}`);
  for (const clause of notCompared) lines.push(`  ${renderVerdict('not-checked')} ${printable(clause)}`);
  return lines.length === 0 ? [] : ['', `map ${map.id} '${printable(map.name)}'`, ...lines];
}

function useText({ id, archivedId, outcome, why }: NonNullable<MapRestore['use']>): string {
  const map = `map ${archivedId} of the backup${id === null ? '' : `, ${id} on the chassis,`}`;
  const reason = why === null ? '' : `: ${printable(why)}`;
  switch (outcome) {
    case 'dry-run':
      return `No map is in use; a restore would take ${map} into use again. The position must be set anew then.`;
    case 'set':
      return `${renderVerdict('ok')} ${map} is in use again. ${chalk.yellow('Its position must be set anew.')}`;
    case 'not-set':
      return `${renderVerdict('wrong')} ${map} is not in use${reason}`;
    case 'not-started':
      return `${renderVerdict('not-checked')} ${map} was not taken into use${reason}`;
    case 'unknown':
      return `${renderVerdict('not-checked')} whether ${map} is in use is not known${reason}`;
  }
}
