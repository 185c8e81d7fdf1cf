import chalk from 'chalk';
import { markText } from '../../lib/evidence/index.ts';
import {
  changeRows,
  diffLine,
  indexChange,
  NOTHING,
  pairedByWords,
  placeWords,
  valueRow,
} from '../../lib/overlays/index.ts';
import type { OverlaysDiffResult } from '../../lib/toolkit/overlays/diff.result.ts';
import type { OverlaysInspect } from '../../lib/toolkit/overlays/inspect.result.ts';
import { printable, renderTable } from '../output.ts';
import { runningClause, runningLines } from './map-restore.ts';
import { colourMark } from './mark.ts';
import { createView, kindSections } from './overlays/kinds.ts';
import { carriedLines, chargerLines, codeLines, iconLines } from './overlays/whole-map.ts';
import { counted, cut, INDENT, moreText, title } from './overlays/words.ts';

const MAX_FINDINGS = 40;
const MAX_NAMED = 8;

type Data = OverlaysInspect;
type Finding = Data['findings'][number];

/** `gw overlays inspect`. `isComplete`: every row, however many. */
export function renderOverlaysInspect(data: Data, { isComplete }: { readonly isComplete: boolean }): string {
  if (data.document !== null) return data.document;
  if (data.written !== null) {
    return [firstLine(data), ...runningOf(data), writtenLine(data.written)].join('\n');
  }
  const view = createView(data, isComplete);
  const sections = [
    [firstLine(data), ...runningOf(data), ...sourceLines(data)],
    findingLines(data, isComplete),
    ...kindSections(view),
    chargerLines(view),
    codeLines(view),
    iconLines(data),
    carriedLines(view),
    ...(data.filter === null
      ? [
          knownLines(
            data,
            'known',
            'Statements of the specification about maps and overlays, with the content of this map',
          ),
          knownLines(data, 'not-shown', 'Open questions of the specification, with the content of this map'),
        ]
      : [[chalk.dim('Statements and open questions about the whole map: run the command without filters.')]]),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

// ── first lines ──────────────────────────────────────────────────────────────────────────────────────────────────

function firstLine({ summary, source, filter, running }: Data): string {
  const { features, points, zones, lanes, others, chargers, selected } = summary;
  const kinds = [counted(points, 'point'), counted(zones, 'zone'), counted(lanes, 'lane')];
  if (others > 0) kinds.push(`${others} of other kinds`);
  const pairs = chargers === 0 ? '' : `, ${counted(chargers, 'charger')} among them`;
  const some = filter === null ? '' : `${selected} of `;
  return `${some}${counted(features, 'feature')} (${kinds.join(', ')}${pairs}), ${findingsText(summary.findings)}: ${printable(source.label)}${running === null ? '' : `; ${runningClause(running)}`}.`;
}

/** Below the first line: whether the running map equals the stored one. */
function runningOf({ running }: Data): string[] {
  return running === null ? [] : runningLines(running);
}

function findingsText(counts: Data['summary']['findings']): string {
  const { wrong, warning, note, 'not-checked': open } = counts;
  const total = wrong + warning + note + open;
  if (total === 0) return chalk.green('no findings');
  const parts = [
    ...(wrong > 0 ? [chalk.red.bold(`${wrong} wrong`)] : []),
    ...(warning > 0 ? [chalk.yellow(counted(warning, 'warning'))] : []),
    ...(note > 0 ? [counted(note, 'note')] : []),
    ...(open > 0 ? [chalk.yellow(`${open} not checked`)] : []),
  ];
  return `${counted(total, 'finding')} (${parts.join(', ')})`;
}

function writtenLine({ format, path, bytes }: NonNullable<Data['written']>): string {
  return `${format} written to ${printable(path)} (${bytes.toLocaleString('en')} bytes).`;
}

const formText: Readonly<Record<Data['source']['form'], string>> = {
  collection: 'a bare collection',
  'text-in-map': 'a JSON text inside a map, as the chassis returns it',
  'object-in-map': 'an object inside a map',
  wrapped: 'a collection in a wrapper',
};

function sourceLines({ source, map, picture, summary }: Data): string[] {
  const lines = [`read as ${formText[source.form]}`];
  if (map !== null) {
    const parts = [
      `map ${map.id ?? '(no id)'}${map.name === null ? '' : ` "${printable(map.name)}"`}`,
      ...(map.uid === null ? [] : [`uid ${printable(map.uid)}`]),
      ...(map.mapVersion === null ? [] : [`map version ${map.mapVersion}`]),
      ...(map.overlaysVersion === null ? [] : [`overlays version ${map.overlaysVersion}`]),
    ];
    lines.push(parts.join(', '));
  }
  if (source.chassis === null) lines.push('The source names no chassis, so no evidence records of a device apply.');
  else {
    const { serial, software } = source.chassis;
    lines.push(`chassis ${printable(serial)}, software ${software === null ? 'unknown' : printable(software)}`);
  }
  if (picture !== null && picture.widthPx !== null) {
    lines.push(`picture ${picture.widthPx} × ${picture.heightPx} pixels of ${picture.resolutionM} m`);
  }
  if (summary.notFeatures > 0) lines.push(`${summary.notFeatures} entries of the collection are not features`);
  return lines.map((line) => chalk.dim(line));
}

// ── findings ─────────────────────────────────────────────────────────────────────────────────────────────────────

const severityText: Readonly<Record<Finding['severity'], () => string>> = {
  wrong: () => chalk.red.bold('WRONG'),
  warning: () => chalk.yellow('warn '),
  note: () => chalk.dim('note '),
  'not-checked': () => chalk.yellow('--   '),
};

function findingLines({ findings }: Data, isComplete: boolean): string[] {
  if (findings.length === 0) return [];
  const shown = isComplete ? findings : findings.slice(0, MAX_FINDINGS);
  const lines = [title(`Findings (${findings.length})`)];
  const explained = new Set<string>();
  for (const { severity, rule, features, detail, remedy, mark, basis } of shown) {
    const where = features.length === 0 ? '' : ` ${indicesText(features)}`;
    const relies = mark === null || basis === null ? '' : ` [${colourMark({ mark, basis })}]`;
    lines.push(`${severityText[severity]()} ${chalk.bold(rule)}${where}: ${printable(detail)}${relies}`);
    // The remedy appears once per rule.
    if (!explained.has(rule)) lines.push(`      ${chalk.dim(printable(remedy))}`);
    explained.add(rule);
  }
  if (shown.length < findings.length) lines.push(moreText(findings.length - shown.length, '--all, --json'));
  return lines;
}

function indicesText(indices: readonly number[]): string {
  const shown = indices.slice(0, MAX_NAMED).map((index) => `#${index}`);
  const more = indices.length > MAX_NAMED ? ` and ${indices.length - MAX_NAMED} more` : '';
  return `${shown.join(' ')}${more}`;
}

// ── statements and open questions ───────────────────────────────────────────────────────────────────────────────

function knownLines({ known }: Data, group: Data['known'][number]['group'], heading: string): string[] {
  const lines = [title(heading)];
  for (const { statement, fact, found, here, group: own, ...markAndBasis } of known) {
    if (own !== group) continue;
    const verdict = here === null ? '' : `, ${here.verdict} here by ${cut(here.who, 30)}, ${here.when}`;
    lines.push(`${colourMark(markAndBasis)}  ${statement} ${chalk.dim(`(${fact}${verdict})`)}`);
    lines.push(`${INDENT}${printable(found)}`);
  }
  return lines;
}

/** Rows of one table; further ones are counted only. */
const MAX_ROWS = 40;

type Diff = OverlaysDiffResult['diff'];
type Ref = Diff['added'][number];

/** `gw overlays diff`. `isComplete`: every row, however many. */
export function renderOverlaysDiff(data: OverlaysDiffResult, { isComplete }: { readonly isComplete: boolean }): string {
  const { diff, document, written } = data;
  if (document !== null) return document;
  const first = (diff.same ? chalk.green : chalk.red)(diffLine(diff));
  if (written !== null) {
    const { format, path, bytes } = written;
    return `${first}\n${format} written to ${printable(path)} (${bytes.toLocaleString('en')} bytes).`;
  }
  const max = isComplete ? Number.POSITIVE_INFINITY : MAX_ROWS;
  const sections = [
    [first, ...sideLines(data)],
    changedLines(data, max),
    onlyLines('Only in the new overlays', diff.added, max),
    onlyLines('Only in the old overlays', diff.removed, max),
    orderLines(diff, max),
    memberLines(diff, max),
    diffCodeLines(data, max),
    notationLines(diff),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function sideLines({ from, to }: OverlaysDiffResult): string[] {
  return [['old', from] as const, ['new', to] as const].map(([word, { source, map }]) => {
    const version = map?.overlaysVersion == null ? '' : `, overlays version ${map.overlaysVersion}`;
    return chalk.dim(`${word}  ${printable(source.label)}${version}`);
  });
}

function changedLines({ diff, fields }: OverlaysDiffResult, max: number): string[] {
  const { changed } = diff;
  if (changed.length === 0) return [];
  const units = `places in metres (${fields.movedM === undefined ? 'OFFEN' : markText(fields.movedM)}), headings in degrees (${fields.turnedDeg === undefined ? 'OFFEN' : markText(fields.turnedDeg)}), values as written`;
  const rows = changed
    .slice(0, max)
    .flatMap((change) =>
      changeRows(change).map(({ what, before, after }, at) => [
        ...(at === 0
          ? [
              indexChange(change.from.index, change.to.index),
              nameText(change.to.name ?? change.from.name),
              idText(change.to.id ?? change.from.id),
              change.to.kind,
              pairedByWords[change.pairedBy],
            ]
          : ['', '', '', '', '']),
        printable(what),
        printable(before),
        printable(after),
      ]),
    );
  const titles = ['#', 'name', 'id', 'kind', 'matched by', 'change', 'before', 'now'];
  return [
    `${chalk.bold(`Changed (${changed.length})`)}: ${units}`,
    renderTable(titles, rows),
    ...moreLines(changed.length, max),
  ];
}

function onlyLines(heading: string, refs: readonly Ref[], max: number): string[] {
  if (refs.length === 0) return [];
  const rows = refs
    .slice(0, max)
    .map(({ index, id, name, kind, xM, yM }) => [
      `#${index}`,
      nameText(name),
      idText(id),
      kind === 'no-feature' ? 'not a feature' : kind,
      xM === null || yM === null ? NOTHING : placeWords(xM, yM),
    ]);
  const columns = ['#', 'name', 'id', 'kind', 'place m'];
  return [chalk.bold(`${heading} (${refs.length})`), renderTable(columns, rows), ...moreLines(refs.length, max)];
}

function orderLines({ reordered }: Diff, max: number): string[] {
  if (reordered.length === 0) return [];
  const rows = reordered
    .slice(0, max)
    .map(({ from, to }) => [
      indexChange(from.index, to.index),
      nameText(to.name),
      to.id === null ? '' : cut(to.id, 36),
    ]);
  return [
    `${chalk.bold(`Reordered (${reordered.length})`)}: whether the order matters to the chassis is unknown`,
    renderTable(['#', 'name', 'id'], rows),
    ...moreLines(reordered.length, max),
  ];
}

function memberLines({ members }: Diff, max: number): string[] {
  if (members.length === 0) return [];
  const rows = members.slice(0, max).map(valueRow);
  const cells = rows.map(({ what, before, after }) => [what, before, after].map(printable));
  return [
    chalk.bold(`Members of the collection (${members.length})`),
    renderTable(['member', 'before', 'now'], cells),
    ...moreLines(members.length, max),
  ];
}

function diffCodeLines({ codes }: OverlaysDiffResult, max: number): string[] {
  if (codes.length === 0) return [];
  const rows = codes
    .slice(0, max)
    .flatMap(({ field, number, readings }) =>
      readings.map(({ meaning, source, fact, here, ...markAndBasis }, at) => [
        at === 0 ? `${field} ${number}` : '',
        colourMark(markAndBasis),
        meaning === null ? 'unknown' : `'${printable(meaning)}'`,
        here === null ? source : `${here.verdict} here by ${cut(here.who, 30)}, ${cut(here.when, 30)}; ${source}`,
        fact,
      ]),
    );
  return [
    `${chalk.bold(`Numbers (${codes.length})`)}: readings of the changed codes`,
    renderTable(['number', 'mark', 'read as', 'source', 'fact'], rows),
    ...moreLines(codes.length, max),
  ];
}

function notationLines({ notation: { numbers, examples } }: Diff): string[] {
  const [example] = examples;
  if (example === undefined) return [];
  const how = `${cut(example.fromJson, 24)} and ${cut(example.toJson, 24)} in ${cut(example.path, 60)}`;
  const where = example.index === null ? '' : ` of #${example.index}`;
  const count = numbers === 1 ? '1 number is' : `${numbers.toLocaleString('en')} numbers are`;
  return [`${count} equal in different notation, as ${how}${where}.`];
}

function moreLines(count: number, max: number): string[] {
  return count > max ? [chalk.dim(`and ${(count - max).toLocaleString('en')} more: --all, --json`)] : [];
}

function nameText(name: string | null): string {
  return name === null ? '' : cut(name, 28);
}

function idText(id: string | null): string {
  return id === null ? chalk.yellow('none') : cut(id, 36);
}
