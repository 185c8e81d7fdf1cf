import { type Markup, markup, type Part } from '../../markup/index.ts';
import type { CodeMeaning, Inspection } from '../model.ts';
import { svgDocument } from './document.ts';
import { type Figure, renderFigure } from './figure/figure.ts';
import { explanations, signsOf } from './figure/legend.ts';
import { widthOf, wrap } from './figure/lettering.ts';
import { oneLine, unit } from './lines.ts';
import { dashOf, hatchId, marker, type SignStyle, signs } from './marks.ts';
import { numbersOf } from './page/census.ts';
import { countLine, readingTexts } from './wording.ts';

export interface PictureOptions {
  /** Title of the sheet: name of the map, or its source. */
  readonly title: string;
  /** The PNG of the map, which is embedded; null renders without a background. */
  readonly image: Uint8Array | null;
}

const LINE = 16;
const MAX_NUMBERS = 90;

/**
 * The overlays over the picture of their map as one self-contained SVG document: title, map, legend by evidence mark, and
 * the readings of every number.
 */
export function renderSvg(inspection: Inspection, { title, image }: PictureOptions): string {
  const figure = renderFigure(inspection, image, new Set());
  const width = Math.max(figure.width, 760);
  const head = heading(title, inspection, width);
  const legend = legendOf(figure, inspection, width);
  const blocks = [
    markup`${head.content}<g transform="translate(${unit((width - figure.width) / 2)} ${unit(head.height)})">${figure.content}</g>`,
    markup`<g transform="translate(0 ${unit(head.height + figure.height)})">${legend.content}</g>`,
  ];
  return svgDocument(title, width, head.height + figure.height + legend.height + 12, blocks);
}

interface Block {
  readonly content: Part;
  readonly height: number;
}

function heading(title: string, inspection: Inspection, width: number): Block {
  const words = fitted(oneLine(title, 120), 20, width - 64);
  return {
    content: markup`<text x="46" y="32" font-size="20" font-weight="700">${words}</text><text x="46" y="52" font-size="12.5" fill="#444">${countLine(inspection)}</text>`,
    height: 62,
  };
}

function legendOf(figure: Figure, inspection: Inspection, width: number): Block {
  const left = 46;
  const inner = width - left - 16;
  const marksWidth = Math.min(430, inner * 0.46);
  const used = signsOf(figure);
  const right = left + marksWidth;
  let bottom = 24;
  const rows = used.map((sign) => {
    const row = signRow(signs[sign], bottom, right);
    bottom += row.height;
    return row.content;
  });
  const explained = explanations(figure);
  const second = right + 24;
  let y = 26;
  const words = explained.map(({ sample, text }) => {
    const lines = wrap(text, 11, width - second - 16 - 56);
    const row = markup`<g transform="translate(${unit(second)} ${unit(y)})">${sample}${lines.map((line, at) => markup`<text x="56" y="${unit(at * 14)}" font-size="11">${line}</text>`)}</g>`;
    y += Math.max(24, lines.length * 14 + 9);
    return row;
  });
  const top = Math.max(bottom, y) + 10;
  const numbers = numberColumns(inspection, left, top, inner);
  const notes = figure.notes.flatMap((note) => wrap(note, 10.5, inner));
  const noteTop = top + numbers.height;
  const noteRows = notes.map(
    (line, at) =>
      markup`<text x="${left}" y="${unit(noteTop + 12 + at * 14)}" font-size="10.5" fill="#444">${line}</text>`,
  );
  return {
    content: markup`<path d="M${left} 0.5H${unit(width - 16)}" stroke="#999" stroke-width="0.8"/>${rows}${words}${numbers.content}${noteRows}`,
    height: noteTop + notes.length * 14 + 12,
  };
}

/** Where the words of a mark begin, after marker, line, hatch and letter. */
const WORDS_X = 184;
const WORDS_SIZE = 11.5;

/** One mark, with its words in as many lines as they need up to `right`. */
function signRow(style: SignStyle, y: number, right: number): { readonly content: Markup; readonly height: number } {
  const lane = markup`<path d="M70 ${y - 4}h46" stroke="${style.color}" stroke-width="3.2" fill="none"${dashOf(style, 3.2)}/>`;
  const zone = markup`<rect x="124" y="${y - 12}" width="34" height="16" fill="url(#${hatchId(style.sign)})" stroke="${style.color}" stroke-width="2"${dashOf(style, 2)}/>`;
  const letter =
    style.sign === 'none'
      ? null
      : markup`<text x="168" y="${y}" font-size="${WORDS_SIZE}" font-weight="700" fill="${style.color}">${style.letter}</text>`;
  // The word is measured as bold, and stands alone where no part of the description fits beside it.
  const head = widthOf(`${style.word}  `, WORDS_SIZE, true);
  const [beside = '', ...below] = wrapAfter(style.description, head, right - WORDS_X);
  const lines = below.map(
    (line, at) => markup`<text x="${WORDS_X}" y="${unit(y + 14 * (at + 1))}" font-size="${WORDS_SIZE}">${line}</text>`,
  );
  return {
    content: markup`${marker(style, 56, y - 4, 9, null)}${lane}${zone}${letter}<text x="${WORDS_X}" y="${y}" font-size="${WORDS_SIZE}" xml:space="preserve"><tspan font-weight="700">${style.word}</tspan>  ${beside}</text>${lines}`,
    height: 24 + 14 * lines.length,
  };
}

/** Lines of this width, of which the first has `head` less; '' as the first where nothing fits there. */
function wrapAfter(text: string, head: number, width: number): readonly string[] {
  const [first = ''] = wrap(text, WORDS_SIZE, width - head);
  if (widthOf(first, WORDS_SIZE) > width - head) return ['', ...wrap(text, WORDS_SIZE, width)];
  const rest = text.slice(first.length).trimStart();
  return rest === '' ? [first] : [first, ...wrap(rest, WORDS_SIZE, width)];
}

/** Every number on the sheet with all its readings, in columns. */
function numberColumns(inspection: Inspection, left: number, top: number, inner: number): Block {
  const numbers = numbersOf(inspection);
  if (numbers.length === 0) return { content: null, height: 0 };
  const shownNumbers = numbers.slice(0, MAX_NUMBERS);
  const columns = inner > 900 ? 3 : 2;
  const wide = inner / columns - 18;
  const indent =
    34 +
    Math.min(
      120,
      Math.max(...shownNumbers.map(({ meaning }) => widthOf(`${meaning.field} ${meaning.number}`, 11, true))),
    );
  const entries = shownNumbers.map(({ meaning, count }) => numberEntry(meaning, count, indent, wide));
  const total = entries.reduce((sum, { height }) => sum + height, 0);
  const placed: Markup[] = [];
  let [column, y, tallest] = [0, 0, 0];
  for (const { content, height } of entries) {
    if (y > 0 && y + height > total / columns + LINE && column < columns - 1) [column, y] = [column + 1, 0];
    placed.push(
      markup`<g transform="translate(${unit(left + column * (wide + 18))} ${unit(top + 38 + y)})">${content}</g>`,
    );
    y += height;
    tallest = Math.max(tallest, y);
  }
  const more = numbers.length - shownNumbers.length;
  const moreLine =
    more > 0
      ? markup`<text x="${left}" y="${unit(top + 44 + tallest)}" font-size="10.5" fill="#444">and ${more} more numbers</text>`
      : null;
  return {
    content: markup`<path d="M${left} ${unit(top)}h${unit(inner)}" stroke="#999" stroke-width="0.8"/><text x="${left}" y="${unit(top + 19)}" font-size="12.5" font-weight="700">Readings of the numbers</text>${placed}${moreLine}`,
    height: 44 + tallest + (more > 0 ? 14 : 0),
  };
}

function numberEntry(
  meaning: CodeMeaning,
  count: number,
  indent: number,
  wide: number,
): { content: Markup; height: number } {
  let y = 0;
  const rows = readingTexts(meaning).flatMap(({ sign, text }) =>
    wrap(text, 11, wide - indent - 16).map((line, at) => {
      const row = markup`<text x="${indent}" y="${unit(y)}" font-size="11">${at === 0 ? markup`<tspan font-weight="700" fill="${signs[sign].color}">${signs[sign].letter}</tspan>` : null}</text><text x="${indent + 14}" y="${unit(y)}" font-size="11">${line}</text>`;
      y += 13.5;
      return row;
    }),
  );
  const label = fitted(`${meaning.field} ${meaning.number}`, 11, indent - 34);
  return {
    content: markup`<text font-size="11" font-weight="700">${label}</text><text x="${unit(indent - 8)}" font-size="9.5" fill="#555" text-anchor="end">×${count}</text>${rows}`,
    height: Math.max(13.5, y) + 3.5,
  };
}

function fitted(text: string, size: number, width: number): string {
  if (widthOf(text, size, true) <= width) return text;
  const chars = [...text];
  while (chars.length > 1 && widthOf(`${chars.join('')}…`, size, true) > width) chars.pop();
  return `${chars.join('')}…`;
}
