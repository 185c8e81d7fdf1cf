import { type Markup, markup, type Part, standalonePage } from '../../markup/index.ts';
import { fontStack } from './figure/lettering.ts';
import { oneLine, unit } from './lines.ts';
import { pageStyle } from './page/page-style.ts';

interface Sheet {
  readonly content: Markup;
  readonly width: number;
  readonly height: number;
}

/** One self-contained HTML file. */
export function pageDocument(title: string, map: Sheet, body: Markup, lang = 'en'): string {
  return standalonePage({ lang, title: oneLine(title, 120), style: pageStyle(map), body });
}

/** The map on a page, in three sizes selectable without a script. */
export function sheetMarkup(
  { content, width, height }: Sheet,
  words: { whole: string; label: string; readable?: string; twice?: string },
): Markup {
  const [w, h] = [unit(width), unit(height)];
  return markup`<input class="zoom" type="radio" name="zoom" id="zoom-whole"/><input class="zoom" type="radio" name="zoom" id="zoom-read" checked="checked"/><input class="zoom" type="radio" name="zoom" id="zoom-twice"/>
<div class="zooms"><label for="zoom-whole">${words.whole}</label><label for="zoom-read">${words.readable ?? 'Readable'}</label><label for="zoom-twice">${words.twice ?? 'Twice'}</label></div>
<div class="sheet"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" preserveAspectRatio="xMidYMin meet" role="img" aria-label="${words.label}" font-family="${fontStack}" fill="#111">${content}</svg></div>`;
}

/** One self-contained SVG file. */
export function svgDocument(title: string, width: number, height: number, content: Part): string {
  const [w, h] = [unit(width), unit(height)];
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="${fontStack}" fill="#111"><title>${oneLine(title, 200)}</title><rect width="${w}" height="${h}" fill="#fff"/>${content}</svg>\n`.toString();
}
