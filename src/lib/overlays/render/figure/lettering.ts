/** System fonts: no font is embedded or fetched. */
export const fontStack = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/**
 * Estimated text width without a font: widths of DejaVu Sans, which is wider than the fonts of tablets and laptops, so
 * that text that fits here fits everywhere.
 */
const narrow = new Set("iljI|.,:;'!’ ·()[]/ft-rJ");
const wide = new Set('mwMW@%—…');

/** Units of paper for a text of this size. Latin and related scripts by letter, wider ones as a full square. */
export function widthOf(text: string, size: number, isBold = false): number {
  let ems = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0x300 && code < 0x370) continue;
    if (code >= 0x1100) ems += code >= 0x2000 && code < 0x2070 ? 0.6 : 1.05;
    else if (narrow.has(char)) ems += 0.37;
    else if (wide.has(char)) ems += 0.95;
    else ems += code >= 65 && code <= 90 ? 0.69 : 0.62;
  }
  return ems * size * (isBold ? 1.09 : 1);
}

/** Wraps words into lines. A word wider than the line gets a line of its own and overflows. */
export function wrap(text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && widthOf(longer, size) > width) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}
