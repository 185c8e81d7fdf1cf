/** Whatever the device has: no font is embedded or fetched. */
export const fontStack = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/**
 * How wide a text comes out, without a font at hand: widths of DejaVu Sans, which is wider than what tablets and
 * laptops use, so that what fits by this fits everywhere.
 */
const narrow = new Set("iljI|.,:;'!’ ·()[]/ft-rJ");
const wide = new Set('mwMW@%—…');

/** Units of paper for a text of this size. Latin and its neighbours by letter, everything wider as a full square. */
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

/** The words on as many lines as they need. A word that is wider than the line stands alone and runs over. */
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
