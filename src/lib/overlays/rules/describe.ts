import { factById, markText } from '../../evidence/index.ts';
import { tableCell } from '../../text/index.ts';
import { type OverlayRule, overlayRules } from './table.ts';

/** The rule table as Markdown, for docs/overlays.md. */
export function describeRules(): string {
  const rules: readonly OverlayRule[] = overlayRules;
  return [
    '| Rule | Severity | Finding | Reason and remedy | Relies on |',
    '|---|---|---|---|---|',
    ...rules.map(({ id, severity, title, reason, remedy, fact }) =>
      [
        '',
        `\`${id}\``,
        severity,
        tableCell(title),
        tableCell(`${reason} ${remedy}`),
        fact === null ? 'the JSON text' : `${markText(factById(fact))} \`${fact}\``,
        '',
      ]
        .join(' | ')
        .trim(),
    ),
  ].join('\n');
}
