import { factById } from '../../../evidence/index.ts';
import { type Markup, markup } from '../../../markup/index.ts';
import { type Sign, signOrder } from '../marks.ts';
import type { PageTexts } from '../page/texts/catalogue.ts';
import { pageEn } from '../page/texts/page.en.ts';
import type { Figure } from './figure.ts';
import { arrowOf, arrowPaths, badge } from './plot.ts';

/** The marks in the legend: always all four, so that marks absent on this map are explained as well. */
export function signsOf({ shown }: Figure): readonly Sign[] {
  return signOrder.filter((sign) => sign !== 'none' || shown.signs.includes('none'));
}

/** The other signs on the sheet, with their marks. */
export function explanations(
  { shown }: Figure,
  t: PageTexts = pageEn,
): readonly { readonly sample: Markup; readonly text: string }[] {
  const all: { sample: Markup; text: string }[] = [];
  if (shown.arrow) {
    all.push({
      sample: markup`${arrowPaths([arrowOf(10, -4, 0, 9)], 9)}<circle cx="10" cy="-4" r="6" fill="#fff" stroke="#111"/>`,
      text: t.explained.heading(t.markText(factById('angles.overlay-yaw'))),
    });
  }
  if (shown.pair) {
    all.push({
      sample: markup`<path d="M6 -4h32M6 -9v10M38 -9v10" stroke="#111" stroke-width="1.3" fill="none"/>`,
      text: t.explained.pair(t.markText(factById('overlays.charging-pair'))),
    });
  }
  if (shown.wrong || shown.warning) {
    const both = shown.wrong && shown.warning;
    all.push({
      sample: markup`${shown.wrong ? badge('wrong', 10, -4) : null}${shown.warning ? badge('warning', both ? 30 : 10, -4) : null}`,
      text: t.explained[both ? 'both' : shown.wrong ? 'wrong' : 'warning'],
    });
  }
  if (shown.edge) {
    all.push({
      sample: markup`<path d="M18 -4L4 -11V3Z" fill="#111"/>`,
      text: t.explained.edge,
    });
  }
  all.push({
    sample: markup`<text x="0" y="0" font-size="11" font-weight="700">#7</text>`,
    text: t.explained.index,
  });
  return all;
}
