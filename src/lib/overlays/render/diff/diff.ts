import { factById, markText } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { plural } from '../../../text/index.ts';
import { changedCodes } from '../../diff/diff.ts';
import type { FeatureRef, OverlaysDiff } from '../../diff/diff-model.ts';
import {
  type ChangeRow,
  changeRows,
  diffLine,
  indexChange,
  NOTHING,
  pairedByWords,
  placeWords,
  valueRow,
} from '../../diff/diff-wording.ts';
import type { CodeBook, CodeMeaning } from '../../model.ts';
import { pageDocument, sheetMarkup } from '../document.ts';
import { fontStack, wrap } from '../figure/lettering.ts';
import { oneLine, unit } from '../lines.ts';
import { type Column, markWord, more, nameMarkup, readingItem, section, table } from '../page/page-tables.ts';
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
  const height = unit(top + figure.height + legend.height + 12);
  const across = unit((width - figure.width) / 2);
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${unit(width)} ${height}" width="${unit(width)}" height="${height}" font-family="${fontStack}" fill="#111"><title>${oneLine(title, 200)}</title><rect width="${unit(width)}" height="${height}" fill="#fff"/>${lines}<g transform="translate(${across} ${top})">${figure.content}</g><g transform="translate(46 ${unit(top + figure.height)})">${legend.content}</g></svg>\n`.toString();
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
  const all: { sample: Markup; text: string }[] = [];
  const has = (sign: DiffFigure['shown']['signs'][number]) => shown.signs.includes(sign);
  const box = (x: number) => markup`x="${x}" y="-11" width="18" height="13"`;
  if (has('changed') || has('removed')) {
    all.push({
      sample: markup`<circle cx="10" cy="-4" r="7" fill="#fff" stroke="${OLD}" stroke-width="2" stroke-dasharray="3.4 2.2"/><rect ${box(24)} fill="none" stroke="${OLD}" stroke-width="2.2" stroke-dasharray="5 3.5"/>`,
      text: 'Dashed: old state.',
    });
  }
  if (has('changed') || has('added')) {
    all.push({
      sample: markup`<circle cx="10" cy="-4" r="7" fill="${NEW}"/><rect ${box(24)} fill="${NEW}" fill-opacity="0.13" stroke="${NEW}" stroke-width="2.2"/>`,
      text: 'Solid: new state.',
    });
  }
  if (has('added')) {
    all.push({
      sample: markup`<circle cx="12" cy="-4" r="7" fill="${NEW}"/>${glyph('added', { x: 12, y: -4, isPoint: true })}`,
      text: 'Plus: only in the new overlays.',
    });
  }
  if (has('removed')) {
    all.push({
      sample: markup`<circle cx="12" cy="-4" r="7" fill="none" stroke="${OLD}" stroke-width="2" stroke-dasharray="3.4 2.2"/>${glyph('removed', { x: 12, y: -4, isPoint: true })}`,
      text: 'Cross: only in the old overlays.',
    });
  }
  if (shown.moved) {
    all.push({
      sample: markup`<path d="M4 -4h28" stroke="#111" stroke-width="1.6"/><path d="M40 -4l-9 4.4v-8.8Z" fill="#111"/>`,
      text: 'Black arrow: displacement. Short ones have no arrow; the label gives the distance.',
    });
  }
  if (shown.turned) {
    all.push({
      sample: markup`${heading({ x: -8, y: 2 }, 20, 'old')}${heading({ x: 14, y: 2 }, 0, 'new')}`,
      text: `Coloured arrows: old and new heading. yaw is in degrees (${markText(factById('angles.overlay-yaw'))}); that it turns counter-clockwise is VORSICHT.`,
    });
  }
  if (shown.unchanged) {
    all.push({
      sample: markup`<path d="M4 -4h6m-3 -3v6" stroke="${UNCHANGED}" stroke-width="1.4"/><rect ${box(18)} fill="none" stroke="${UNCHANGED}"/>`,
      text: 'Grey: unchanged.',
    });
  }
  return all;
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

function changedSection({ changed }: OverlaysDiff, { keys }: DiffFigure): Markup | null {
  if (changed.length === 0) return null;
  const rows = changed.slice(0, MAX_ROWS).map((change) => ({ change, rows: changeRows(change) }));
  const lines = (at: (row: ChangeRow) => Part) => (row: { readonly rows: readonly ChangeRow[] }) =>
    markup`<ul>${row.rows.map((it) => markup`<li>${at(it)}</li>`)}</ul>`;
  const columns: readonly Column<(typeof rows)[number]>[] = [
    {
      head: '#',
      short: '#',
      cell: ({ change }) => linked(`c${change.to.index}`, indexChange(change.from.index, change.to.index), keys),
    },
    { head: 'Feature', short: 'Feature', cell: ({ change }) => nameCell(change.to, change.from) },
    {
      head: markup`Change, before, now`,
      short: 'Change',
      cell: lines(
        ({ what, before, after }) =>
          markup`<strong>${oneLine(what, 120)}</strong><br/><code>${oneLine(before, 80)}</code> → <code>${oneLine(after, 80)}</code>`,
      ),
    },
    { head: 'Matched by', short: 'Matched by', cell: ({ change }) => pairedByWords[change.pairedBy] },
  ];
  return section('changed', 'Changed', plural(changed.length, 'feature'), [
    markup`<p>Places in metres of the map. Values as written, with their JSON type.</p>`,
    table(columns, rows, ({ change }) => `c${change.to.index}`),
    more(changed.length - rows.length, 'rows', 'json'),
  ]);
}

function oneSidedSection(sign: 'added' | 'removed', refs: readonly FeatureRef[], { keys }: DiffFigure): Markup | null {
  if (refs.length === 0) return null;
  const prefix = sign === 'added' ? 'a' : 'r';
  const rows = refs.slice(0, MAX_ROWS);
  const columns: readonly Column<FeatureRef>[] = [
    { head: '#', short: '#', cell: ({ index }) => linked(`${prefix}${index}`, `#${index}`, keys) },
    { head: 'Feature', short: 'Feature', cell: (ref) => nameCell(ref) },
    { head: 'Kind', short: 'Kind', cell: ({ kind }) => (kind === 'no-feature' ? 'not a feature' : kind) },
    { head: markup`Place <small>m</small>`, short: 'Place (m)', cell: placeOf },
  ];
  const title = sign === 'added' ? 'Only in the new overlays' : 'Only in the old overlays';
  return section(sign, title, plural(refs.length, 'feature'), [
    table(columns, rows, ({ index }) => `${prefix}${index}`),
    more(refs.length - rows.length, 'rows', 'json'),
  ]);
}

function orderSection({ reordered }: OverlaysDiff): Markup | null {
  if (reordered.length === 0) return null;
  const rows = reordered.slice(0, MAX_ROWS);
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { head: 'Was', short: 'Was', cell: ({ from }) => `#${from.index}` },
    { head: 'Is', short: 'Is', cell: ({ to }) => `#${to.index}` },
    { head: 'Feature', short: 'Feature', cell: ({ to }) => nameCell(to) },
  ];
  return section('order', 'Reordered', plural(reordered.length, 'feature'), [
    markup`<p>Whether the order matters to the chassis is unknown.</p>`,
    table(columns, rows),
    more(reordered.length - rows.length, 'rows', 'json'),
  ]);
}

function membersSection({ members }: OverlaysDiff): Markup | null {
  if (members.length === 0) return null;
  const columns: readonly Column<ChangeRow>[] = [
    { head: 'Member', short: 'Member', cell: ({ what }) => oneLine(what, 120) },
    { head: 'Before', short: 'Before', cell: ({ before }) => markup`<code>${oneLine(before, 80)}</code>` },
    { head: 'Now', short: 'Now', cell: ({ after }) => markup`<code>${oneLine(after, 80)}</code>` },
  ];
  const rows = members.slice(0, MAX_ROWS).map(valueRow);
  return section('members', 'Members of the collection', plural(members.length, 'member'), [
    table(columns, rows),
    more(members.length - rows.length, 'rows', 'json'),
  ]);
}

function numbersSection(meanings: readonly CodeMeaning[]): Markup | null {
  if (meanings.length === 0) return null;
  const columns: readonly Column<CodeMeaning>[] = [
    {
      head: 'Number',
      short: 'Number',
      cell: ({ field, number }) => markup`<code>${field}</code> <strong>${number}</strong>`,
    },
    { head: 'Overall mark', short: 'Overall mark', cell: (meaning) => markWord(meaning) },
    {
      head: 'Every reading, with mark and source',
      short: 'Readings',
      cell: ({ readings }) => markup`<ul>${readings.map(readingItem)}</ul>`,
    },
  ];
  const rows = meanings.slice(0, MAX_ROWS);
  return section('numbers', 'Readings of the changed numbers', plural(meanings.length, 'number'), [
    table(columns, rows),
    more(meanings.length - rows.length, 'rows', 'json'),
  ]);
}

function notationSection({ notation: { numbers, examples } }: OverlaysDiff): Markup | null {
  if (numbers === 0) return null;
  const columns: readonly Column<(typeof examples)[number]>[] = [
    { head: '#', short: '#', cell: ({ index }) => (index === null ? 'the collection' : `#${index}`) },
    { head: 'Where', short: 'Where', cell: ({ path }) => markup`<code>${oneLine(path, 80)}</code>` },
    { head: 'Before', short: 'Before', cell: ({ fromJson }) => markup`<code>${oneLine(fromJson, 60)}</code>` },
    { head: 'Now', short: 'Now', cell: ({ toJson }) => markup`<code>${oneLine(toJson, 60)}</code>` },
  ];
  return section('notation', 'Equal numbers in different notation', plural(numbers, 'number'), [
    markup`<p>These count as equal.</p>`,
    table(columns, examples),
    numbers > examples.length ? markup`<p>and ${numbers - examples.length} more.</p>` : null,
  ]);
}

/** Linked to its anchor on the sheet, if it has one. */
function linked(key: string, words: string, keys: ReadonlySet<string>): Part {
  return keys.has(key) ? markup`<a href="#m-${key}">${words}</a>` : words;
}

function nameCell({ name, id }: FeatureRef, before?: FeatureRef): Part {
  const shown = name ?? before?.name ?? null;
  return markup`${shown === null ? markup`<small>no name</small>` : markup`<strong>${nameMarkup(shown)}</strong>`}<br/>${id === null ? markup`<small>no id</small>` : markup`<span class="id">${oneLine(id, 80)}</span>`}`;
}

function placeOf({ xM, yM }: FeatureRef): Part {
  return xM === null || yM === null ? NOTHING : placeWords(xM, yM);
}
