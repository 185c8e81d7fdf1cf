import { factById, markText } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { plural } from '../../../text/index.ts';
import { changedCodes } from '../../diff/diff.ts';
import {
  changeRows,
  diffLine,
  indexChange,
  NOTHING,
  pairedByWords,
  placeWords,
  valueRow,
} from '../../diff/diff-wording.ts';
import type { CodeBook, CodeMeaning } from '../../model.ts';
import type { ChangedFeature, FeatureRef, OverlaysDiff } from '../../schemas.ts';
import { pageDocument, sheetMarkup, svgDocument } from '../document.ts';
import { wrap } from '../figure/lettering.ts';
import { oneLine, unit } from '../lines.ts';
import { type Column, markWord, more, nameAndId, readingItem, section, table } from '../page/page-tables.ts';
import { type DiffFigure, type DiffSubject, renderDiffFigure } from './diff-figure.ts';
import { glyph, heading, NEW, OLD, UNCHANGED } from './diff-shapes.ts';

export interface DiffPictureOptions {
  /** Title of the sheet. */
  readonly title: string;
  /** Sources of both sides. */
  readonly fromLabel: string;
  readonly toLabel: string;
}

export interface DiffPageOptions extends DiffPictureOptions {
  readonly codeBook: CodeBook;
  /** Limits of the comparison. */
  readonly warnings: readonly string[];
  /** When the page was made: UTC, ISO. */
  readonly madeAt: string;
}

const MAX_ROWS = 2000;

/** The differences as one self-contained SVG document, over the picture of the map. */
export function renderDiffSvg(subject: DiffSubject, { title, fromLabel, toLabel }: DiffPictureOptions): string {
  const figure = renderDiffFigure(subject, { isLinked: false });
  const width = Math.max(figure.width, 760);
  const inner = width - 62;
  const head = [
    { words: [oneLine(title, 120)], size: 20, weight: 700, gap: 27 },
    { words: wrap(diffLine(subject.diff), 14.2, inner), size: 13, weight: 700, gap: 18 },
    { words: wrap(`Old: ${oneLine(fromLabel, 160)}`, 11.5, inner), size: 11.5, weight: 400, gap: 15 },
    { words: wrap(`New: ${oneLine(toLabel, 160)}`, 11.5, inner), size: 11.5, weight: 400, gap: 15 },
  ];
  let y = 8;
  const lines = head.flatMap(({ words, size, weight, gap }) =>
    words.map((word) => {
      y += gap;
      return markup`<text x="46" y="${y}" font-size="${size}" font-weight="${weight}">${word}</text>`;
    }),
  );
  const top = y + 12;
  const legend = legendRows(figure, inner);
  const blocks = [
    markup`${lines}<g transform="translate(${unit((width - figure.width) / 2)} ${top})">${figure.content}</g>`,
    markup`<g transform="translate(46 ${unit(top + figure.height)})">${legend.content}</g>`,
  ];
  return svgDocument(title, width, top + figure.height + legend.height + 12, blocks);
}

/**
 * The differences as one HTML file for the tablet and for paper: the sheet, then every difference with old and new value.
 * It has no script and loads nothing: its own policy forbids both.
 */
export function renderDiffPage(subject: DiffSubject, options: DiffPageOptions): string {
  const { title, fromLabel, toLabel, warnings, madeAt, codeBook } = options;
  const { diff } = subject;
  const map = renderDiffFigure(subject, { isLinked: true });
  const facts = [
    ['Old', oneLine(fromLabel, 160)],
    ['New', oneLine(toLabel, 160)],
    ['Read', madeAt],
  ].map(([word, value]) => markup`<div><dt>${word ?? ''}</dt><dd>${value ?? ''}</dd></div>`);
  const sections: readonly (readonly [string, string, Markup | null])[] = [
    ['changed', `Changed (${diff.changed.length})`, changedSection(diff, map)],
    ['added', `Added (${diff.added.length})`, oneSidedSection('added', diff.added, map)],
    ['removed', `Removed (${diff.removed.length})`, oneSidedSection('removed', diff.removed, map)],
    ['order', `Order (${diff.reordered.length})`, orderSection(diff)],
    ['members', `Members (${diff.members.length})`, membersSection(diff)],
    ['numbers', 'Numbers', numbersSection(changedCodes(diff, codeBook))],
    ['notation', 'Notation', notationSection(diff)],
  ];
  const shown = sections.filter(([, , content]) => content !== null);
  const body = markup`<div class="front">
<header>
<h1>${oneLine(title, 120)}</h1>
<p class="count">${diffLine(diff)}</p>
${warnings.map((warning) => markup`<p><span class="s warning">warning</span> ${oneLine(warning, 400)}</p>`)}
<dl class="facts">${facts}</dl>
</header>
${sheetMarkup(map, { whole: 'Whole sheet', label: 'Differences over the picture of the map' })}
<ul class="legend">${samples(map).map(({ sample, text }) => markup`<li><svg xmlns="http://www.w3.org/2000/svg" width="46" height="24" viewBox="0 -16 46 24" aria-hidden="true">${sample}</svg><span>${text}</span></li>`)}</ul>
${map.notes.map((note) => markup`<p class="notes">${note}</p>`)}
</div>
<nav>${shown.map(([id, word]) => markup`<a href="#${id}">${word}</a>`)}</nav>
<main>
${shown.map(([, , content]) => content)}
</main>
<p class="notes">Made by gw at ${madeAt}. Content is compared, not version counters: two maps with the same version number may differ.</p>`;
  return pageDocument(title, map, body);
}

/** The legend of the signs on the sheet. */
function samples({ shown }: DiffFigure): readonly { readonly sample: Markup; readonly text: string }[] {
  const has = (...signs: readonly DiffFigure['shown']['signs'][number][]) =>
    signs.some((sign) => shown.signs.includes(sign));
  const box = (x: number) => markup`x="${x}" y="-11" width="18" height="13"`;
  const all: readonly (readonly [isShown: boolean, text: string, sample: Markup])[] = [
    [
      has('changed', 'removed'),
      'Dashed: old state.',
      markup`<circle cx="10" cy="-4" r="7" fill="#fff" stroke="${OLD}" stroke-width="2" stroke-dasharray="3.4 2.2"/><rect ${box(24)} fill="none" stroke="${OLD}" stroke-width="2.2" stroke-dasharray="5 3.5"/>`,
    ],
    [
      has('changed', 'added'),
      'Solid: new state.',
      markup`<circle cx="10" cy="-4" r="7" fill="${NEW}"/><rect ${box(24)} fill="${NEW}" fill-opacity="0.13" stroke="${NEW}" stroke-width="2.2"/>`,
    ],
    [
      has('added'),
      'Plus: only in the new overlays.',
      markup`<circle cx="12" cy="-4" r="7" fill="${NEW}"/>${glyph('added', { x: 12, y: -4, isPoint: true })}`,
    ],
    [
      has('removed'),
      'Cross: only in the old overlays.',
      markup`<circle cx="12" cy="-4" r="7" fill="none" stroke="${OLD}" stroke-width="2" stroke-dasharray="3.4 2.2"/>${glyph('removed', { x: 12, y: -4, isPoint: true })}`,
    ],
    [
      shown.moved,
      'Black arrow: displacement. Short ones have no arrow; the label gives the distance.',
      markup`<path d="M4 -4h28" stroke="#111" stroke-width="1.6"/><path d="M40 -4l-9 4.4v-8.8Z" fill="#111"/>`,
    ],
    [
      shown.turned,
      `Coloured arrows: old and new heading. yaw is in degrees (${markText(factById('angles.overlay-yaw'))}); that it turns counter-clockwise is VORSICHT.`,
      markup`${heading({ x: -8, y: 2 }, 20, 'old')}${heading({ x: 14, y: 2 }, 0, 'new')}`,
    ],
    [
      shown.unchanged,
      'Grey: unchanged.',
      markup`<path d="M4 -4h6m-3 -3v6" stroke="${UNCHANGED}" stroke-width="1.4"/><rect ${box(18)} fill="none" stroke="${UNCHANGED}"/>`,
    ],
  ];
  return all.flatMap(([isShown, text, sample]) => (isShown ? [{ sample, text }] : []));
}

function legendRows(figure: DiffFigure, inner: number): { readonly content: Part; readonly height: number } {
  const columns = inner > 900 ? 3 : 2;
  const wide = inner / columns;
  let [x, y, tallest] = [0, 24, 0];
  const rows = samples(figure).map(({ sample, text }) => {
    const lines = wrap(text, 11, wide - 70);
    if (x + wide > inner + 1) [x, y, tallest] = [0, y + tallest, 0];
    const row = markup`<g transform="translate(${unit(x)} ${unit(y)})">${sample}${lines.map((line, at) => markup`<text x="56" y="${unit(at * 14)}" font-size="11">${line}</text>`)}</g>`;
    tallest = Math.max(tallest, lines.length * 14 + 12);
    x += wide;
    return row;
  });
  const top = y + tallest;
  const notes = figure.notes.flatMap((note) => wrap(note, 10.5, inner));
  const noted = notes.map(
    (line, at) => markup`<text y="${unit(top + at * 14)}" font-size="10.5" fill="#444">${line}</text>`,
  );
  return {
    content: markup`<path d="M0 0.5H${unit(inner)}" stroke="#999" stroke-width="0.8"/>${rows}${noted}`,
    height: top + notes.length * 14,
  };
}

interface Listed<T> {
  readonly id: string;
  readonly title: string;
  /** What the rows are: `feature`. */
  readonly noun: string;
  readonly about?: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf?: (row: T) => string;
}

/** A section with a table of the first rows; null without any. */
function listed<T>(all: readonly T[], { id, title, noun, about, columns, keyOf }: Listed<T>): Markup | null {
  if (all.length === 0) return null;
  return section(id, title, plural(all.length, noun), [
    about === undefined ? null : markup`<p>${about}</p>`,
    table(columns, all.slice(0, MAX_ROWS), keyOf),
    more(all.length - MAX_ROWS, 'rows', 'json'),
  ]);
}

const code = (text: string, max = 80) => markup`<code>${oneLine(text, max)}</code>`;

function changedSection({ changed }: OverlaysDiff, { keys }: DiffFigure): Markup | null {
  const keyOf = ({ to }: ChangedFeature) => `c${to.index}`;
  return listed(changed, {
    id: 'changed',
    title: 'Changed',
    noun: 'feature',
    about: 'Places in metres of the map. Values as written, with their JSON type.',
    keyOf,
    columns: [
      { head: '#', cell: (change) => linked(keyOf(change), indexChange(change.from.index, change.to.index), keys) },
      { head: 'Feature', cell: ({ from, to }) => nameCell(to, from) },
      {
        head: 'Change, before, now',
        short: 'Change',
        cell: (change) =>
          markup`<ul>${changeRows(change).map(({ what, before, after }) => markup`<li><strong>${oneLine(what, 120)}</strong><br/>${code(before)} → ${code(after)}</li>`)}</ul>`,
      },
      { head: 'Matched by', cell: ({ pairedBy }) => pairedByWords[pairedBy] },
    ],
  });
}

function oneSidedSection(id: 'added' | 'removed', refs: readonly FeatureRef[], { keys }: DiffFigure): Markup | null {
  const keyOf = ({ index }: FeatureRef) => `${id === 'added' ? 'a' : 'r'}${index}`;
  return listed(refs, {
    id,
    title: id === 'added' ? 'Only in the new overlays' : 'Only in the old overlays',
    noun: 'feature',
    keyOf,
    columns: [
      { head: '#', cell: (ref) => linked(keyOf(ref), `#${ref.index}`, keys) },
      { head: 'Feature', cell: (ref) => nameCell(ref) },
      { head: 'Kind', cell: ({ kind }) => (kind === 'no-feature' ? 'not a feature' : kind) },
      { head: markup`Place <small>m</small>`, short: 'Place (m)', cell: placeOf },
    ],
  });
}

function orderSection({ reordered }: OverlaysDiff): Markup | null {
  return listed(reordered, {
    id: 'order',
    title: 'Reordered',
    noun: 'feature',
    about: 'Whether the order matters to the chassis is unknown.',
    columns: [
      { head: 'Was', cell: ({ from }) => `#${from.index}` },
      { head: 'Is', cell: ({ to }) => `#${to.index}` },
      { head: 'Feature', cell: ({ to }) => nameCell(to) },
    ],
  });
}

function membersSection({ members }: OverlaysDiff): Markup | null {
  return listed(members.map(valueRow), {
    id: 'members',
    title: 'Members of the collection',
    noun: 'member',
    columns: [
      { head: 'Member', cell: ({ what }) => oneLine(what, 120) },
      { head: 'Before', cell: ({ before }) => code(before) },
      { head: 'Now', cell: ({ after }) => code(after) },
    ],
  });
}

function numbersSection(meanings: readonly CodeMeaning[]): Markup | null {
  return listed(meanings, {
    id: 'numbers',
    title: 'Readings of the changed numbers',
    noun: 'number',
    columns: meaningColumns,
  });
}

function notationSection({ notation: { numbers, examples } }: OverlaysDiff): Markup | null {
  if (numbers === 0) return null;
  const columns: readonly Column<(typeof examples)[number]>[] = [
    { head: '#', cell: ({ index }) => (index === null ? 'the collection' : `#${index}`) },
    { head: 'Where', cell: ({ path }) => code(path) },
    { head: 'Before', cell: ({ fromJson }) => code(fromJson, 60) },
    { head: 'Now', cell: ({ toJson }) => code(toJson, 60) },
  ];
  return section('notation', 'Equal numbers in different notation', plural(numbers, 'number'), [
    markup`<p>These count as equal.</p>`,
    table(columns, examples),
    numbers > examples.length ? markup`<p>and ${numbers - examples.length} more.</p>` : null,
  ]);
}

const meaningColumns: readonly Column<CodeMeaning>[] = [
  { head: 'Number', cell: ({ field, number }) => markup`<code>${field}</code> <strong>${number}</strong>` },
  { head: 'Overall mark', cell: (meaning) => markWord(meaning) },
  {
    head: 'Every reading, with mark and source',
    short: 'Readings',
    cell: ({ readings }) => markup`<ul>${readings.map((reading) => readingItem(reading))}</ul>`,
  },
];

/** Linked to its anchor on the sheet, if it has one. */
function linked(key: string, words: string, keys: ReadonlySet<string>): Part {
  return keys.has(key) ? markup`<a href="#m-${key}">${words}</a>` : words;
}

function nameCell({ name, id }: FeatureRef, before?: FeatureRef): Part {
  return nameAndId(name ?? before?.name ?? null, id);
}

function placeOf({ xM, yM }: FeatureRef): Part {
  return xM === null || yM === null ? NOTHING : placeWords(xM, yM);
}
