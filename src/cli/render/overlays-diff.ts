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
import { printable, renderTable } from '../output.ts';
import { colourMark } from './mark.ts';
import { cut } from './overlays/words.ts';

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
