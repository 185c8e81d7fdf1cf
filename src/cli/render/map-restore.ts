import chalk from 'chalk';
import { type Basis, type Mark, markText } from '../../lib/evidence/index.ts';
import { plural, pluralWord } from '../../lib/text/index.ts';
import type { MapRestore, RestoredMap } from '../../lib/toolkit/map/change.result.ts';
import type { OverlaysDifference, RunningMapView } from '../../lib/toolkit/map/running-map.result.ts';
import { countsText, page, printable, renderTable, renderVerdict, type Verdict } from '../output.ts';
import { stillnessLine } from './motion.ts';

const verdicts: Readonly<Record<RunningMapView['verdict'], Verdict>> = {
  equal: 'ok',
  differs: 'wrong',
  'another-map': 'wrong',
  'none-in-use': 'not-checked',
  'not-checked': 'not-checked',
};

interface Changed {
  readonly facts: readonly {
    readonly mark: Mark;
    readonly basis: Basis;
    readonly statement: string;
    readonly id: string;
  }[];
  readonly next: readonly string[];
}

/** `gw map restore` */
export function renderMapRestore(data: MapRestore): string {
  const { maps, others, backup, safetyBackup, stillness, use, problem } = data;
  const names = others.map(({ id, name }) => `${id} '${printable(name)}'`);
  const rows = maps.map((map) => [
    `${map.id}${map.wasCurrent ? ' (current at the backup)' : ''}`,
    printable(map.name),
    map.idOnChassis === null ? '-' : String(map.idOnChassis),
    planText(map),
    `${renderVerdict(verdictOfMap(map))} ${printable(map.contentNow)}`,
  ]);
  return page(
    [firstLine(data), '', renderTable(['map', 'name', 'on the chassis', 'plan', 'content now'], rows)],
    maps.map(detailsOf),
    use !== null && ['', useText(use)],
    names.length > 0 && ['', `Not in the backup, unchanged: ${names.join(', ')}`],
    ['', usedBackupLines(backup)],
    safetyBackup !== null && backupLines('safety copy', safetyBackup, mapsText(safetyBackup.maps)),
    safetyBackup === null && data.mode === 'write' && stillness !== null && 'safety copy none: the chassis had no maps',
    stillness !== null && stillnessLine(stillness, 'before the first write'),
    data.fromAnotherRobot !== null && anotherRobotLines(data.fromAnotherRobot),
    runningLines(data.running),
    changeEnd(data, ...(problem === null ? [] : [`${chalk.red.bold(problem.code)}: ${problem.title}`, problem.remedy])),
  );
}

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

/** The end of every change of maps: the facts that it relied on, and what to do next. */
export function changeEnd({ facts, next }: Changed, ...before: readonly string[]) {
  return [
    '',
    facts.map((fact) => chalk.dim(`${markText(fact)}  ${fact.statement} (${fact.id})`)),
    before.length > 0 && ['', before],
    next.length > 0 && ['', next.map(printable)],
  ];
}

/** A backup file with its checksum. */
export function backupLines(
  title: string,
  { file, sha256 }: { readonly file: string; readonly sha256: string },
  more: string,
) {
  return [`${title.padEnd(12)}${printable(file)}, ${more}`, `            sha256 ${sha256}`];
}

/** What the copy of another robot's maps does not bring. */
function anotherRobotLines(data: NonNullable<MapRestore['fromAnotherRobot']>) {
  const { serial, notCounting, evidenceProblem, trials, places } = data;
  const open = renderVerdict('not-checked');
  const records = notCounting.length === 0 ? 'it has none in the evidence file' : notCounting.map(printable).join(', ');
  return [
    `position    ${open} not known on a copied map: to be set`,
    ...trials.map(({ kind, facts, recordedBefore }) => {
      const before = recordedBefore.length === 0 ? '' : '; verified before, on the maps of before';
      return `trial       ${open} ${kind}, to be repeated on the copied maps: ${facts.join(', ')}${before}`;
    }),
    evidenceProblem === null
      ? `records     of ${printable(serial)} never count for this robot: ${records}`
      : `records     ${open} the evidence file cannot be read: ${printable(evidenceProblem)}`,
    ...(places.length === 0
      ? []
      : [`places      ${open} not measured by this robot: ${places.map(printable).join(', ')}`]),
  ];
}

/** The backup that a command relies on. */
export function usedBackupLines(backup: MapRestore['backup']) {
  const state = backup.complete ? '' : `; ${chalk.yellow('incomplete')}`;
  return backupLines('backup', backup, `created ${backup.createdAt}${state}`);
}

function firstLine(data: MapRestore): string {
  const { mode, verdict, maps, chassis, fromAnotherRobot, safetyBackup, interrupted, running, use } = data;
  const of =
    fromAnotherRobot === null
      ? `of ${printable(chassis.serial)}`
      : `of ${printable(fromAnotherRobot.serial)} for ${printable(chassis.serial)}`;
  const before = safetyBackup === null ? '' : `; the former state is in ${printable(safetyBackup.file)}`;
  const count = (matches: (map: RestoredMap) => boolean) => maps.filter(matches).length;
  const planned = count(({ plan }) => plan === 'overlays-differ' || plan === 'missing');
  const blocked = count(({ plan }) => plan === 'conflict' || plan === 'not-restorable') + data.backup.damaged.length;
  const runningText = `; ${runningClause(running)}`;
  const toDo = fromAnotherRobot === null ? '' : `; ${chalk.yellow('position and trials are to be done anew')}`;
  const end = `${runningText}${toDo}${before}${interrupted ? ' (interrupted)' : ''}.`;
  // What was copied from another robot needs a position and trials before it is of use.
  const isKnown = running.verdict !== 'not-checked' && fromAnotherRobot === null;
  const written = mapsText(count(({ outcome }) => outcome === 'written'));
  switch (verdict) {
    case 'nothing-to-do':
      return `${(isKnown ? chalk.green : chalk.yellow)('Nothing to restore')}: the chassis stores ${mapsText(maps.length)} ${of} as in the backup${runningText}.`;
    case 'to-do':
      return `Dry run, nothing written: a restore would ${plannedChanges(maps, of)}; now ${runningClause(running)}.`;
    case 'restored':
      if (planned === 0) {
        const set = `map ${use?.id ?? '?'} ${of}; the chassis stored ${mapsText(maps.length)} as in the backup, so none was written`;
        return `${(isKnown ? chalk.green : chalk.yellow)('Current map set')}: ${set}${end}`;
      }
      return `${isKnown ? chalk.green('Restored') : chalk.yellow(fromAnotherRobot === null ? 'Stored' : 'Copied')}: ${written} ${of} written, read back and compared${end}`;
    case 'stored-only':
      if (planned === 0) {
        return `${chalk.red.bold('Nothing to restore, but the robot drives by other overlays')}: the chassis stores ${mapsText(maps.length)} ${of} as in the backup${runningText}.`;
      }
      return `${chalk.red.bold('Stored, but the robot drives by other overlays')}: ${written} ${of} written, read back and compared${end}`;
    case 'incomplete':
      if (mode === 'dry-run' || planned === 0) {
        const rest = planned === 0 ? '' : ` A restore would ${plannedChanges(maps, of)}.`;
        return `${chalk.red.bold(`${mapsText(blocked)} ${of} cannot be restored`)}; nothing written${runningText}.${rest}`;
      }
      return `${chalk.red.bold('Restore incomplete')} ${of}: ${written} of ${maps.length + data.backup.damaged.length} written${end}`;
    case 'differs':
      return `${chalk.red.bold('Write failed: content on the chassis differs')}, see below${end}`;
    case 'unknown':
      return `${chalk.red.bold('Content on the chassis is unknown')}, see below${end}`;
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
  const { outcome, difference, afterWrite, beforeToNow, orderError, rolledBack, rollbackError } = map;
  const differing = (title: string, found: OverlaysDifference | null) => differenceLines(title, found, '  ');
  const lines = [
    difference?.same === false ? differing('from the chassis to the backup', difference) : [],
    orderError === null ? [] : `  error of the write: ${printable(orderError)}`,
    outcome !== 'written'
      ? differing('from the sent to the read-back overlays', afterWrite)
      : afterWrite === null
        ? []
        : `  read back: ${differenceText(afterWrite)}`,
    rolledBack
      ? `  the old overlays were sent again${rollbackError === null ? '' : `; error: ${printable(rollbackError)}`}`
      : [],
    outcome === 'differs' ? differing('from before to now', beforeToNow) : [],
    [...map.alsoChanged, ...map.notes].map((clause) => `  ${printable(clause)}`),
    map.notCompared.map((clause) => `  ${renderVerdict('not-checked')} ${printable(clause)}`),
  ].flat();
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
  const kinds = countsText([
    [moved - reshaped, 'moved'],
    [reshaped, 'with another form'],
    [turned, 'turned'],
    [recoded, 'with another code'],
    [otherwise, 'with other properties'],
  ]);
  const parts = countsText([
    [changed, kinds === '' ? 'changed' : `changed (${kinds})`],
    [added, 'added'],
    [removed, 'removed'],
    [reordered, 'in another order'],
    [members, `${pluralWord(members, 'member')} of the collection changed`],
  ]);
  return `${parts}; ${from === to ? from : `${from} → ${to}`} features`;
}

/** The same with the first differences below it, for the details of a result. */
export function differenceLines(title: string, difference: OverlaysDifference | null, indent: string): string[] {
  if (difference === null) return [];
  return [
    `${indent}${title}: ${differenceText(difference)}`,
    ...difference.first.map((sentence) => chalk.dim(`${indent}  ${printable(sentence)}`)),
  ];
}
