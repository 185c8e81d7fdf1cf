import type { Basis, Mark } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { shorten } from '../../../text/index.ts';
import type { Reading } from '../../model.ts';
import { nameText, oneLine } from '../lines.ts';
import { signs } from '../marks.ts';
import { readingText } from '../wording.ts';
import type { PageTexts } from './texts/catalogue.ts';
import { pageEn } from './texts/page.en.ts';

/** Rows of one table, for browsers and readers; CSV and GeoJSON hold all. */
export const MAX_ROWS = 3000;

export interface Column<T> {
  readonly head: Part;
  /** The head in short, shown before the cell where the table becomes a list of cards. Default: the head. */
  readonly short?: string;
  readonly isNumber?: boolean;
  /** Stays on one line. */
  readonly isTight?: boolean;
  cell(row: T): Part;
}

/** A table that a narrow screen shows as cards. Empty columns are left out. */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[], idOf?: (row: T) => string): Markup {
  const filled = columns.flatMap((column) => {
    const cells = rows.map((row) => markup`${column.cell(row)}`);
    return cells.some((cell) => cell.toString() !== '') ? [{ column, cells }] : [];
  });
  const classOf = ({ isNumber, isTight }: Column<T>) =>
    isNumber ? markup` class="n"` : isTight ? markup` class="t"` : null;
  const heads = filled.map(({ column }) => markup`<th${column.isNumber ? classOf(column) : null}>${column.head}</th>`);
  const body = rows.map((row, at) => {
    const cells = filled.map(
      ({ column, cells: of }) =>
        markup`<td data-c="${column.short ?? column.head}"${classOf(column)}>${of[at] ?? null}</td>`,
    );
    return idOf ? markup`<tr id="${idOf(row)}">${cells}</tr>` : markup`<tr>${cells}</tr>`;
  });
  return markup`<div class="scroll"><table class="cards"><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** A name with its own writing direction and blanks: see the style of `bdi`. */
export function nameMarkup(name: string, max?: number): Markup {
  return markup`<bdi>${nameText(name, max)}</bdi>`;
}

/** The cell of a feature: its name, and its id below. */
export function nameAndId(name: string | null, id: string | null, t: PageTexts = pageEn): Markup {
  return markup`${name === null ? markup`<small>${t.noName}</small>` : markup`<strong>${nameMarkup(name)}</strong>`}<br/>${id === null ? markup`<small>${t.noId}</small>` : markup`<span class="id">${oneLine(id, 80)}</span>`}`;
}

/** A sentence with `code` rendered as such. */
export function prose(text: string): Part {
  return text.split('`').map((part, at) => (at % 2 === 1 ? markup`<code>${part}</code>` : part));
}

interface MarkWithBasis {
  readonly mark: Mark;
  readonly basis: Basis;
}

export function markBadge(given: MarkWithBasis, t: PageTexts = pageEn): Markup {
  const { letter } = signs[given.mark];
  return markup`<span class="m ${letter.toLowerCase()}" title="${t.markText(given)}">${letter}</span>`;
}

export const markWord = (given: MarkWithBasis, t: PageTexts = pageEn) =>
  markup`${markBadge(given, t)} ${t.markText(given)}`;

export function readingItem(reading: Reading, t: PageTexts = pageEn): Markup {
  const meaning = reading.meaning === null ? markup`<em>${t.unknown}</em>` : english(readingText(reading), t);
  return markup`<li>${markWord(reading, t)}: ${meaning} <span class="src">— ${english(reading.source, t)}, <code>${reading.fact}</code></span>${hereText(reading.here, t)}</li>`;
}

/** What is English in every language, marked as such on a page in another one. */
export function english(content: Part, t: PageTexts): Part {
  return t.lang === 'en' ? content : markup`<span lang="en">${content}</span>`;
}

export function hereText(here: Reading['here'], t: PageTexts = pageEn): Part {
  if (here === null) return null;
  const word = t.here[here.verdict === 'verified' ? 'verified' : 'contradicted'];
  return markup` <span class="here">${word} ${t.hereBy(oneLine(here.who, 60), oneLine(here.when, 40))}</span>`;
}

/** A value as received, in its own JSON type, bounded. */
export function written(value: unknown): string {
  const text = JSON.stringify(typeof value === 'string' ? shorten(value, 400) : value);
  return oneLine(text ?? 'nothing', 60);
}

/** `#12`, linked to its row (`d`) or its anchor on the map (`m`) where this page has one. */
export function link(to: 'd' | 'm', index: number, present: ReadonlySet<number>): Markup {
  return present.has(index) ? markup`<a href="#${to}${index}">#${index}</a>` : markup`#${index}`;
}

export function section(id: string, title: string, count: string, body: Part): Markup {
  return markup`<section id="${id}"><h2>${title} <small>${count}</small></h2>${body}</section>\n`;
}

export function more(
  count: number,
  what: keyof PageTexts['more'],
  format: string,
  t: PageTexts = pageEn,
): Markup | null {
  return count > 0 ? markup`<p>${t.more[what](count)}: <code>--format ${format}</code> ${t.holdsAll}</p>` : null;
}
