import chalk from 'chalk';
import { markText } from '../../lib/evidence/index.ts';
import { plural, pluralWord } from '../../lib/text/index.ts';
import type { MapRestore, RestoredMap } from '../../lib/toolkit/map/change.result.ts';
import type { OverlaysDifference, RunningMapView } from '../../lib/toolkit/map/running-map.result.ts';
import { printable, renderTable, renderVerdict, type Verdict } from '../output.ts';
import { stillnessLine } from './motion.ts';

const verdicts: Readonly<Record<RunningMapView['verdict'], Verdict>> = {
  equal: 'ok',
  differs: 'wrong',
  'another-map': 'wrong',
  'none-in-use': 'not-checked',
  'not-checked': 'not-checked',
};

/** Comparison of stored and running map, as a clause for a first line. */
export function runningClause({ verdict, mapId, detail }: RunningMapView): string {
  const map = mapId === null ? 'the current map' : `map ${mapId}`;
  switch (verdict) {
    case 'equal':
      return `stored and running ${map} have the same overlays`;
    case 'differs':
      return chalk.red.bold(`the running ${map} has other overlays than the stored one`);
    case 'another-map':
      return chalk.red.bold(printable(detail));
    case 'none-in-use':
      return chalk.yellow('there is no current map');
    case 'not-checked':
      return chalk.yellow(`running ${map} not compared with the stored one`);
  }
}

/** The comparison as a row with its reason, and the differences below it. */
export function runningLines(running: RunningMapView): string[] {
  const { verdict, detail, difference, announced, notes } = running;
  const version = announced?.overlaysVersion == null ? '' : `, overlays version ${announced.overlaysVersion}`;
  const announcedText =
    announced === null
      ? ''
      : chalk.dim(` (announced: ${printable(announced.name)}, uid ${printable(announced.uid)}${version})`);
  return [
    `running map ${renderVerdict(verdicts[verdict])} ${printable(detail)}${announcedText}`,
    ...(verdict === 'differs' ? differenceLines('from the stored to the running map', difference, '            ') : []),
    ...notes.map((note) => chalk.dim(`            ${printable(note)}`)),
  ];
}

/** `gw map restore` */
export function renderMapRestore(data: MapRestore): string {
  const { maps, others, backup, safetyBackup, stillness, use, facts, next, problem } = data;
  const lines = [firstLine(data), ''];
  lines.push(
    renderTable(
      ['map', 'name', 'on the chassis', 'plan', 'content now'],
      maps.map((map) => [
        `${map.id}${map.wasCurrent ? ' (current at the backup)' : ''}`,
        printable(map.name),
        map.idOnChassis === null ? '-' : String(map.idOnChassis),
        planText(map),
        `${renderVerdict(verdictOfMap(map))} ${printable(map.contentNow)}`,
      ]),
    ),
  );
  for (const map of maps) lines.push(...detailsOf(map));
  if (use !== null) lines.push('', useText(use));
  if (others.length > 0) {
    const names = others.map(({ id, name }) => `${id} '${printable(name)}'`);
    lines.push('', `Not in the backup, unchanged: ${names.join(', ')}`);
  }
  lines.push(
    '',
    `backup      ${printable(backup.file)}, created ${backup.createdAt}`,
    `            sha256 ${backup.sha256}`,
  );
  if (safetyBackup !== null) {
    lines.push(
      `safety copy ${printable(safetyBackup.file)}, ${plural(safetyBackup.maps, 'map')}`,
      `            sha256 ${safetyBackup.sha256}`,
    );
  } else if (data.mode === 'write' && stillness !== null) lines.push('safety copy none: the chassis had no maps');
  if (stillness !== null) lines.push(stillnessLine(stillness, 'before the first write'));
  lines.push(...runningLines(data.running));
  lines.push('');
  for (const fact of facts) lines.push(chalk.dim(`${markText(fact)}  ${fact.statement} (${fact.id})`));
  if (problem !== null) lines.push('', `${chalk.red.bold(problem.code)}: ${problem.title}`, problem.remedy);
  if (next.length > 0) lines.push('', ...next.map(printable));
  return lines.join('\n');
}

function firstLine(data: MapRestore): string {
  const { mode, verdict, maps, chassis, safetyBackup, interrupted, running, use } = data;
  const of = `of ${printable(chassis.serial)}`;
  const before = safetyBackup === null ? '' : `; the former state is in ${printable(safetyBackup.file)}`;
  const count = (matches: (map: RestoredMap) => boolean) => maps.filter(matches).length;
  const planned = count(({ plan }) => plan === 'overlays-differ' || plan === 'missing');
  const blocked = count(({ plan }) => plan === 'conflict' || plan === 'not-restorable');
  const suffix = interrupted ? ' (interrupted)' : '';
  const runningText = `; ${runningClause(running)}`;
  const isKnown = running.verdict !== 'not-checked';
  const written = mapsText(count(({ outcome }) => outcome === 'written'));
  switch (verdict) {
    case 'nothing-to-do':
      return `${(isKnown ? chalk.green : chalk.yellow)('Nothing to restore')}: the chassis stores ${mapsText(maps.length)} ${of} as in the backup${runningText}.`;
    case 'to-do':
      return `Dry run, nothing written: a restore would ${plannedChanges(maps, of)}; now ${runningClause(running)}.`;
    case 'restored':
      if (planned === 0) {
        const set = `map ${use?.id ?? '?'} ${of}; the chassis stored ${mapsText(maps.length)} as in the backup, so none was written`;
        return `${(isKnown ? chalk.green : chalk.yellow)('Current map set')}: ${set}${runningText}${before}${suffix}.`;
      }
      return `${isKnown ? chalk.green('Restored') : chalk.yellow('Stored')}: ${written} ${of} written, read back and compared${runningText}${before}${suffix}.`;
    case 'stored-only':
      if (planned === 0) {
        return `${chalk.red.bold('Nothing to restore, but the robot drives by other overlays')}: the chassis stores ${mapsText(maps.length)} ${of} as in the backup${runningText}.`;
      }
      return `${chalk.red.bold('Stored, but the robot drives by other overlays')}: ${written} ${of} written, read back and compared${runningText}${before}${suffix}.`;
    case 'incomplete':
      if (mode === 'dry-run' || planned === 0) {
        const rest = planned === 0 ? '' : ` A restore would ${plannedChanges(maps, of)}.`;
        return `${chalk.red.bold(`${mapsText(blocked)} ${of} cannot be restored`)}; nothing written${runningText}.${rest}`;
      }
      return `${chalk.red.bold('Restore incomplete')} ${of}: ${written} of ${maps.length} written${runningText}${before}${suffix}.`;
    case 'differs':
      return `${chalk.red.bold('Write failed: content on the chassis differs')}, see below${runningText}${before}${suffix}.`;
    case 'unknown':
      return `${chalk.red.bold('Content on the chassis is unknown')}, see below${runningText}${before}${suffix}.`;
  }
}

function plannedChanges(maps: readonly RestoredMap[], of: string): string {
  const changed = maps.filter(({ plan }) => plan === 'overlays-differ').length;
  const missing = maps.filter(({ plan }) => plan === 'missing').length;
  const parts = [
    ...(changed > 0 ? [`replace the overlays of ${mapsText(changed)} ${of}`] : []),
    ...(missing > 0 ? [`create ${mapsText(missing)} ${of}`] : []),
  ];
  return parts.length === 0 ? `set the current map ${of}` : parts.join(' and ');
}

function mapsText(count: number): string {
  return plural(count, 'map');
}

const plans: Readonly<Record<RestoredMap['plan'], string>> = {
  same: 'none',
  'overlays-differ': 'replace its overlays',
  missing: 'create it',
  conflict: 'not changed',
  'not-restorable': 'cannot be restored',
};

function planText({ plan, matchedBy }: RestoredMap): string {
  return `${plans[plan]}${matchedBy === null || matchedBy === 'uid' ? '' : chalk.dim(` (matched by ${matchedBy === 'content' ? 'name, grid and picture' : matchedBy})`)}`;
}

function verdictOfMap({ outcome, plan }: RestoredMap): Verdict {
  if (plan === 'conflict' || plan === 'not-restorable') return 'wrong';
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
    case 'rolled-back':
    case 'differs':
    case 'gone':
      return 'wrong';
  }
}

function detailsOf(map: RestoredMap): string[] {
  const {
    difference,
    afterWrite,
    beforeToNow,
    orderError,
    rolledBack,
    rollbackError,
    alsoChanged,
    notCompared,
    notes,
  } = map;
  const lines: string[] = [];
  if (difference !== null && !difference.same) {
    lines.push(...differenceLines('from the chassis to the backup', difference, '  '));
  }
  if (orderError !== null) lines.push(`  error of the write: ${printable(orderError)}`);
  if (afterWrite !== null && map.outcome !== 'written') {
    lines.push(...differenceLines('from the sent to the read-back overlays', afterWrite, '  '));
  } else if (afterWrite !== null) lines.push(`  read back: ${differenceText(afterWrite)}`);
  if (rolledBack)
    lines.push(
      `  the old overlays were sent again${rollbackError === null ? '' : `; error: ${printable(rollbackError)}`}`,
    );
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
      return `There is no current map; a restore would set ${map} as current map. The position must then be set.`;
    case 'set':
      return `${renderVerdict('ok')} ${map} is the current map again. ${chalk.yellow('The position of the robot must be set.')}`;
    case 'not-set':
      return `${renderVerdict('wrong')} ${map} is not the current map${reason}`;
    case 'not-started':
      return `${renderVerdict('not-checked')} ${map} was not set as current map${reason}`;
    case 'unknown':
      return `${renderVerdict('not-checked')} whether ${map} is the current map is unknown${reason}`;
  }
}

/** How two collections of overlays differ, in a few words: `2 changed (1 moved), 1 added; 14 features`. */
export function differenceText({ same, sameText, counts, problem }: OverlaysDifference): string {
  if (problem !== null) return `cannot be compared: ${printable(problem)}`;
  if (same) return sameText ? 'the same, character for character' : 'the same content, written differently';
  if (counts === null) return 'not the same';
  const { changed, moved, reshaped, turned, recoded, otherwise, added, removed, reordered, members, from, to } = counts;
  const kinds = clausesOf([
    [moved - reshaped, 'moved'],
    [reshaped, 'with another form'],
    [turned, 'turned'],
    [recoded, 'with another code'],
    [otherwise, 'with other properties'],
  ]);
  const parts = clausesOf([
    [changed, kinds === '' ? 'changed' : `changed (${kinds})`],
    [added, 'added'],
    [removed, 'removed'],
    [reordered, 'in another order'],
    [members, `${pluralWord(members, 'member')} of the collection changed`],
  ]);
  return `${parts}; ${from === to ? from : `${from} → ${to}`} features`;
}

function clausesOf(parts: readonly (readonly [number: number, words: string])[]): string {
  return parts
    .filter(([number]) => number > 0)
    .map(([number, words]) => `${number} ${words}`)
    .join(', ');
}

/** The same with the first differences below it, for the details of a result. */
export function differenceLines(title: string, difference: OverlaysDifference | null, indent: string): string[] {
  if (difference === null) return [];
  return [
    `${indent}${title}: ${differenceText(difference)}`,
    ...difference.first.map((sentence) => chalk.dim(`${indent}  ${printable(sentence)}`)),
  ];
}
