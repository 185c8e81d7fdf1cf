import { factById, markText } from '../../evidence/index.ts';
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
        cell(title),
        cell(`${why} ${remedy}`),
        fact === null ? 'the drawing itself' : `${markText(factById(fact))} \`${fact}\``,
        '',
      ]
        .join(' | ')
        .trim(),
    ),
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
