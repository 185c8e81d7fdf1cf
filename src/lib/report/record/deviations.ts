import type { CheckRecord } from '../../checklist/index.ts';
import { type Block, type Row, table } from '../document.ts';
import { titleIn, type Writing } from './entries.ts';

/** What a person accepted although it is not ok. It stands above the signatures, since it is signed for. */
export function deviations({ robots }: CheckRecord, { lang, texts, locale }: Writing): Block[] {
  const rows = robots.flatMap(({ steps, serial }) =>
    steps.flatMap((step): Row[] => {
      if (step.deviation === null) return [];
      const { reason, approvedBy, at } = step.deviation;
      const title = robots.length > 1 ? `${titleIn(step, lang)} (${serial})` : titleIn(step, lang);
      return [{ cells: [title, texts.mark[step.verdict], reason, approvedBy, locale.moment(at)], tone: 'open' }];
    }),
  );
  if (rows.length === 0) return [];
  return [
    { kind: 'heading', text: texts.deviationsTitle, tone: 'open' },
    { kind: 'paragraph', text: texts.deviationsText },
    table(texts.deviationsHead, [7, 5, 9, 5, 5], rows),
  ];
}
