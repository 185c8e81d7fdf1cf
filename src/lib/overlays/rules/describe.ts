import { factById, markText } from '../../evidence/index.ts';
import { tableCell } from '../../text/index.ts';
import { type OverlayRule, overlayRules } from './table.ts';

/** The rule table as Markdown, for docs/overlays.md. */
export function describeRules(): string {
  const rules: readonly OverlayRule[] = overlayRules;
  return [
    '| Rule | Severity | What it finds | Why, and what to do | Leans on |',
    '|---|---|---|---|---|',
    ...rules.map(({ id, severity, title, why, remedy, fact }) =>
      [
        '',
        `\`${id}\``,
        severity,
        tableCell(title),
        tableCell(`${why} ${remedy}`),
        fact === null ? 'the feature itself' : `${markText(factById(fact))} \`${fact}\``,
        '',
      ]
        .join(' | ')
        .trim(),
    ),
  ].join('\n');
}
