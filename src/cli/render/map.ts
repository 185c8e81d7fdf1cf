import chalk from 'chalk';
import { markText } from '../../lib/evidence/index.ts';
import { plural, shorten } from '../../lib/text/index.ts';
import type { MapSelect } from '../../lib/toolkit/map/change.result.ts';
import type { MapArchiveView, MapList, MapOverlays, MapShow } from '../../lib/toolkit/map/map.result.ts';
import { page, printable, renderTable, renderVerdict, right, worstFirst } from '../output.ts';
import { backupLines, changeEnd, differenceLines, runningClause, runningLines } from './map-restore.ts';
import { stillnessLine } from './motion.ts';

type MapItem = MapList['maps'][number];

/** `gw map list` */
export function renderMapList({ address, chassis, maps, damaged, current, currentProblem, fields }: MapList): string {
  const where = `${chassisText(chassis.serial)} at ${printable(address.host)}:${address.port}`;
  const columns = [right('id'), 'name', 'uid', right('map version'), right('overlays version'), 'current'];
  const rows = maps.map((map) => [
    String(map.id),
    nameText(map.name),
    uidText(map.uid),
    versionText(map.mapVersion),
    versionText(map.overlaysVersion),
    map.isCurrent ? 'yes' : '',
  ]);
  return page(
    `${damaged.length > 0 ? `${chalk.red.bold(`INCOMPLETE: ${plural(damaged.length, 'entry', 'entries')} cannot be read`)}; ` : ''}${mapsText(maps.length)} on ${where}; ${currentProblem === null ? inUseText(current) : chalk.red(`current map not known: ${printable(currentProblem)}`)}.`,
    damaged.map(damagedLine),
    current?.isStored === false &&
      chalk.yellow('The current map is not stored: no backup contains it, and a restart may lose it.'),
    maps.length === 0 && damaged.length === 0
      ? 'If it had maps before, restore them from a backup: gw map restore FILE'
      : ['', renderTable(columns, rows)],
    ['', evidenceTable(fields)],
  );
}

function inUseText(current: MapList['current']): string {
  if (current === null) return 'no current map';
  const name = current.name === null ? '' : ` '${nameText(current.name)}'`;
  return current.isStored
    ? `current map ${current.id}${name}`
    : `current map is not stored,${name || ' without a name'}`;
}

/** `gw map show` */
export function renderMapShow(data: MapShow): string {
  const { chassis, map, frame, picture, localisation, overlays, missing, fields } = data;
  const lacking = missing.length === 0 ? 'a backup would be complete' : `a backup would lack ${partsText(missing)}`;
  const lines = [
    `Map ${map.id} '${nameText(map.name)}' of ${chassisText(chassis.serial)}: ${overlaysText(overlays)}; ${lacking}.`,
    '',
  ];
  const unread = chalk.red('missing');
  const size = frame?.widthM == null || frame.heightM == null ? '' : `, ${frame.widthM} × ${frame.heightM} m`;
  const rows: [title: string, value: string, field: string][] = [
    ['uid', uidText(map.uid), 'uid'],
    ['map version', versionText(map.mapVersion), 'mapVersion'],
    ['overlays version', versionText(map.overlaysVersion), 'overlaysVersion'],
    ['current', map.isCurrent ? 'yes' : 'no', 'isCurrent'],
    ['lower left corner', frame === null ? unread : `x ${frame.originXM} m, y ${frame.originYM} m`, 'originXM'],
    ['resolution', frame === null ? unread : `${frame.resolutionM} m per pixel`, 'resolutionM'],
    ['overlays', `${overlaysText(overlays)}, ${sizeText(overlays.bytes)} ${formText[overlays.form]}`, 'overlays'],
    [
      'picture',
      picture === null ? unread : `${picture.width} × ${picture.height} pixels${size}, ${sizeText(picture.bytes)}`,
      'picture',
    ],
    ['data', sizeText(data.data.bytes), 'data'],
    ['localisation', localisation === null ? unread : sizeText(localisation.bytes), 'localisation'],
  ];
  const table = rows.map(([title, value, field]) => {
    const evidence = fields[field];
    return [title, value, evidence === undefined ? '' : markText(evidence), printable(evidence?.source ?? '')];
  });
  lines.push(renderTable(['property', 'value', 'mark', 'source'], table));
  if (overlays.problem !== null) lines.push('', `${renderVerdict('wrong')} overlays: ${textOf(overlays.problem)}`);
  if (missing.length > 0) lines.push('');
  for (const { what, why } of missing) lines.push(`${renderVerdict('wrong')} no ${partNames[what]}: ${printable(why)}`);
  return lines.join('\n');
}

/** `gw map backup` */
export function renderMapBackup(data: MapArchiveView): string {
  const lacking = data.maps.flatMap(({ missing }) => missing);
  const without = [
    ...(data.damaged.length > 0 ? [data.damaged.map(({ called }) => printable(called)).join(', ')] : []),
    ...(lacking.length > 0 ? [partsText(lacking)] : []),
  ];
  const state = without.length > 0 ? chalk.red(`, INCOMPLETE: without ${without.join(', and ')}`) : '';
  const first = `${mapsText(data.maps.length)} of ${printable(data.chassis.serial)} in ${printable(data.file)}${state}`;
  const next =
    data.verdict !== 'wrong'
      ? `Verify it at any time: gw map verify ${printable(data.file)}`
      : 'The file is written with everything received. Correct the failed checks above, then take another backup.';
  return [first, '', ...archiveLines(data), '', next].join('\n');
}

/** `gw map verify` */
export function renderMapVerify(data: MapArchiveView): string {
  const wrong = data.findings.filter(({ verdict }) => verdict === 'wrong').length;
  const unchecked = data.findings.filter(({ verdict }) => verdict === 'not-checked').length;
  const total = plural(data.findings.length, 'check');
  const passed = data.findings.length - unchecked;
  const count = {
    ok: `ok: ${passed} of ${total}${unchecked === 0 ? '' : `, ${unchecked} not checked`}`,
    'not-checked': `${chalk.yellow('Not decided')}: ${unchecked} of ${total} not made`,
    wrong: `FAILED: ${wrong} of ${total}`,
  }[data.verdict];
  const damaged = data.damaged.length > 0 ? `, without ${plural(data.damaged.length, 'damaged map')}` : '';
  const content = `${mapsText(data.maps.length)} of ${chassisText(data.chassis.serial)}${damaged}`;
  return [`${count}. ${content} in ${printable(data.file)}, checksums verified.`, '', ...archiveLines(data)].join('\n');
}

function archiveLines({ sha256, bytes, createdAt, gwVersion, chassis, maps, findings }: MapArchiveView) {
  const software = chassis.software === null ? 'software unknown' : `software ${printable(chassis.software)}`;
  const lines = [
    `sha256   ${sha256}  (${sizeText(bytes)})`,
    `created  ${createdAt} by gw ${printable(gwVersion)}, from ${chassisText(chassis.serial)}, ${software}`,
  ];
  if (maps.length > 0) {
    const columns = [
      right('id'),
      'name',
      right('map version'),
      right('overlays version'),
      'current',
      right('features'),
      'picture',
      right('localisation'),
    ];
    lines.push('', renderTable(columns, maps.map(archivedRow)));
  }
  lines.push('');
  for (const { title, verdict, detail, remedy } of worstFirst(findings)) {
    const lead = detail.includes('\n') ? '\n     ' : ' ';
    lines.push(`${renderVerdict(verdict)} ${title}:${lead}${textOf(detail)}`);
    if (remedy !== null) lines.push(`     ${textOf(remedy)}`);
  }
  return lines;
}

function archivedRow(map: MapArchiveView['maps'][number]): string[] {
  const { picture, overlays, files } = map;
  const localisation = files.find(({ name }) => name.endsWith('.pbstream'));
  const { point, lane, zone, other } = overlays.count ?? { point: 0, lane: 0, zone: 0, other: 0 };
  return [
    String(map.id),
    nameText(map.name),
    versionText(map.mapVersion),
    versionText(map.overlaysVersion),
    map.isCurrent ? 'yes' : '',
    overlays.count === null ? chalk.red('unreadable') : String(point + lane + zone + other),
    picture === null ? chalk.red('missing') : `${picture.width}×${picture.height}`,
    localisation === undefined ? chalk.red('missing') : sizeText(localisation.bytes),
  ];
}

function evidenceTable(fields: MapList['fields']): string {
  const rows = Object.entries(fields).map(([field, evidence]) => [
    field,
    markText(evidence),
    printable(evidence.source),
  ]);
  return renderTable(['field', 'mark', 'source'], rows);
}

const partNames = { image: 'picture', localisation: 'localisation data' } as const;
const formText = {
  text: 'as JSON text in the map',
  object: 'as an object in the map',
  none: '(the map has none)',
} as const;

function partsText(missing: MapShow['missing']): string {
  const count = (what: keyof typeof partNames) => missing.filter((one) => one.what === what).length;
  const pictures = count('image');
  const data = count('localisation');
  return [
    ...(pictures > 0 ? [pictures === 1 ? 'a picture' : `${pictures} pictures`] : []),
    ...(data > 0 ? [data === 1 ? 'localisation data' : `localisation data of ${data} maps`] : []),
  ].join(' and ');
}

function overlaysText({ count }: MapOverlays): string {
  if (count === null) return 'unreadable overlays';
  const named = Object.entries(count).filter(([, number]) => number > 0);
  if (named.length === 0) return 'no overlays';
  return named.map(([kind, number]) => plural(number, kind, kind === 'other' ? kind : `${kind}s`)).join(', ');
}

function mapsText(maps: number): string {
  return maps === 0 ? 'No maps' : plural(maps, 'map');
}

function chassisText(serial: string): string {
  return `chassis ${printable(serial)}`;
}

function nameText(name: MapItem['name']): string {
  return shorten(printable(name), 40);
}

function uidText(uid: string | null): string {
  return uid === null ? 'none' : printable(uid).slice(0, 60);
}

function versionText(version: number | null): string {
  return version === null ? 'none' : String(version);
}

/** Foreign text of one or more lines under a finding. */
function textOf(text: string): string {
  return text.split('\n').map(printable).join('\n     ');
}

/** `812 bytes`, `3.4 kB`, `41.0 MB`. */
function sizeText(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Warnings about missing parts of a backup, one per line. */
export function backupWarnings({ maps, damaged }: MapArchiveView): string[] {
  const lost = damaged.map(({ called, why }) => `the backup has no ${printable(called)}: ${printable(why)}`);
  return [...lost, ...partWarnings(maps)];
}

function partWarnings(maps: MapArchiveView['maps']): string[] {
  return maps.flatMap(({ id, missing, overlays }) => [
    ...missing.map(({ what }) => `the backup of map ${id} has no ${partNames[what]}`),
    ...(overlays.problem === null ? [] : [`the overlays of map ${id} are not readable`]),
  ]);
}

function damagedLine({ called, why }: MapList['damaged'][number]): string {
  return `${renderVerdict('wrong')} ${printable(called)}: ${printable(why)}`;
}

/** `gw map select` */
export function renderMapSelect(data: MapSelect): string {
  const { before, beforeProblem, running, runningBefore, use, stored, safetyBackup, stillness, position } = data;
  const was =
    beforeProblem !== null
      ? chalk.red(`not known: ${printable(beforeProblem)}; one that is not stored would be lost`)
      : before === null
        ? 'there was no current map'
        : `map ${before.id} ${mapNameText(before.name)}`;
  return page(
    [firstLine(data), '', `before      ${was}`],
    running === null && runningLines(runningBefore),
    use !== null &&
      `current map ${renderVerdict(use.outcome === 'set' ? 'ok' : use.outcome === 'unknown' ? 'not-checked' : 'wrong')} ${use.outcome === 'not-started' ? 'not set' : use.outcome.replace('-', ' ')}${use.why === null ? '' : `: ${printable(use.why)}`}`,
    running !== null && runningLines(running),
    stored !== null && storedLines(stored),
    position === 'must-be-set'
      ? `position    ${renderVerdict('not-checked')} ${chalk.yellow('expected to be lost: must be set')}`
      : use !== null && 'position    unchanged: the chassis did not accept the order',
    safetyBackup !== null && ['', backupLines('safety copy', safetyBackup, plural(safetyBackup.maps, 'map'))],
    stillness !== null && stillnessLine(stillness, 'before the order'),
    changeEnd(data),
  );
}

const storedTexts = {
  unchanged: ['ok', 'unchanged: name, map_version, grid, overlays of every map'],
  changed: ['wrong', 'a stored map has changed'],
  'not-checked': ['not-checked', 'not every stored map could be read and compared'],
} as const;

function storedLines({ verdict, changes }: NonNullable<MapSelect['stored']>) {
  const [mark, text] = storedTexts[verdict];
  return [
    `stored maps ${renderVerdict(mark)} ${text}`,
    changes.map(({ id, name, status, changes: clauses, difference }) => [
      `            map ${id} ${mapNameText(name)}: ${[status, ...clauses].map(printable).join('; ')}`,
      differenceLines('from before to now', difference, '              '),
    ]),
  ];
}

function firstLine({ verdict, map, before, chassis, use, running, runningBefore, interrupted }: MapSelect): string {
  const of = `of ${printable(chassis.serial)}`;
  const name = `map ${map.id} ${mapNameText(map.name)} ${of}`;
  const suffix = interrupted ? ' (interrupted)' : '';
  const lost = chalk.yellow('the position of the robot must be set');
  const runningText = running === null ? '' : `; ${runningClause(running)}`;
  const now = `: ${name} is the current one${runningText}; ${lost}${suffix}.`;
  const why = use?.why ? `: ${printable(use.why)}` : '';
  switch (verdict) {
    case 'to-do': {
      const change = before?.id === map.id ? `select ${name} again` : `make ${name} the current one`;
      return `Dry run, nothing sent: this would ${change}, and the robot would lose its position; now ${runningClause(runningBefore)}.`;
    }
    case 'selected':
      return `${chalk.green('Selected')}${now}`;
    case 'running-not-checked':
      return `${chalk.yellow('Selected, running map not checked')}${now}`;
    case 'running-differs':
      return `${chalk.red.bold('Selected, but the robot drives by other overlays')}${now}`;
    case 'maps-changed':
      return `${chalk.red.bold('Selected, but a stored map has changed')}${now}`;
    case 'not-selected':
      return `${chalk.red.bold('Not selected')}: ${name}${why}${suffix}.`;
    case 'unknown':
      return `${chalk.red.bold('Selection unknown')}: ${name}${why}; ${lost}${suffix}.`;
  }
}

function mapNameText(name: string | null): string {
  return name === null ? '(no name)' : `'${printable(name)}'`;
}
