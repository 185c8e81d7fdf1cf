import type { Block, Row } from '../document.ts';
import type { Line } from './lines.ts';
import { bodyBottom, bodyWidth, leading, page, ruleInk, type Sheet, toneInk } from './sheet.ts';

const cellStyle = { size: 9 } as const;
const headStyle = { size: 8.5, bold: true } as const;
const pad = 4;

/**
 * A table over as many pages as it needs: its header repeats on each of them, a row stays whole where a page has space
 * for it, and one that is longer than a page goes on with the next.
 */
export function writeTable(sheet: Sheet, { columns, rows }: Extract<Block, { kind: 'table' }>): void {
  const share = columns.reduce((sum, { width }) => sum + width, 0);
  const widths = columns.map(({ width }) => (width / share) * bodyWidth);
  const lefts = widths.map((_, at) => page.left + widths.slice(0, at).reduce((sum, width) => sum + width, 0));
  const rowHeight = cellStyle.size * leading;

  const cut = (words: Row['cells'][number], at: number, style: typeof cellStyle | typeof headStyle) =>
    sheet.lines(words, (widths[at] ?? 0) - 2 * pad, style);
  // Titles are texts of gw; a long one must not take the page from the rows.
  const heads = columns.map(({ title }, at) => cut(title, at, headStyle).slice(0, 6));
  const headHeight = Math.max(1, ...heads.map((lines) => lines.length)) * headStyle.size * leading + 6;

  const writeHead = () => {
    for (const [at, lines] of heads.entries()) {
      for (const [row, line] of lines.entries()) {
        sheet.line(line, (lefts[at] ?? 0) + pad, sheet.y + 2 + row * headStyle.size * leading, headStyle);
      }
    }
    sheet.y += headHeight;
    sheet.rule(sheet.y, 0.9, '#4d5761');
  };

  const cells = rows.map((row) => columns.map((_, at) => cut(row.cells[at] ?? '', at, cellStyle)));
  const heightOf = (lines: readonly Line[][]) => Math.max(1, ...lines.map((one) => one.length)) * rowHeight + 5;
  const [first] = cells;
  const pageHeight = bodyBottom - page.top - headHeight;
  sheet.ensure(headHeight + Math.min(first === undefined ? 0 : heightOf(first), pageHeight, 120));
  writeHead();

  for (const [index, lines] of cells.entries()) {
    const tone = rows[index]?.tone;
    const height = heightOf(lines);
    // The last row of a table does not stand alone on a page.
    const last = index === cells.length - 2 && index > 0 ? heightOf(cells[index + 1] ?? []) : 0;
    const together = height + (height + last <= pageHeight ? last : 0);
    if (height <= pageHeight && sheet.y + together > bodyBottom) {
      sheet.turn();
      writeHead();
    }
    const count = Math.max(1, ...lines.map((one) => one.length));
    let done = 0;
    while (done < count) {
      let maxRows = Math.floor((bodyBottom - sheet.y - 5) / rowHeight);
      if (maxRows < 1) {
        sheet.turn();
        writeHead();
        maxRows = Math.max(1, Math.floor((bodyBottom - sheet.y - 5) / rowHeight));
      }
      const part = Math.min(maxRows, count - done);
      const top = sheet.y;
      for (const [at, column] of lines.entries()) {
        for (const [row, line] of column.slice(done, done + part).entries()) {
          sheet.line(line, (lefts[at] ?? 0) + pad, top + 2.5 + row * rowHeight, cellStyle);
        }
      }
      sheet.y = top + part * rowHeight + 5;
      if (tone !== undefined) sheet.doc.rect(page.left - 3, top + 1, 3, sheet.y - top - 2).fill(toneInk[tone]);
      done += part;
    }
    sheet.rule(sheet.y, 0.5, ruleInk);
  }
  sheet.y += 9;
}
