import { tableCell } from '../text/index.ts';
import { type Fact, type Mark, marks, markText } from './fact.ts';
import { facts, isDisagreement, sectionOf, sections } from './ledger.ts';

/** The ledger as Markdown: how many facts of each mark, then one table a section. For docs/evidence.md. */
export function describeLedger(): string {
  const bySection = Object.entries(sections).map(([section, title]) => ({
    title,
    rows: (facts as readonly Fact[]).filter((fact) => sectionOf(fact) === section),
  }));
  const summary = [
    `| Section | ${marks.join(' | ')} | all |`,
    `|---|${marks.map(() => '--:|').join('')}--:|`,
    ...bySection.map(({ title, rows }) => countRow(title, rows)),
    countRow('All', facts),
  ];
  const tables = bySection.flatMap(({ title, rows }) => [
    '',
    `### ${title}`,
    '',
    '| Id | Mark | Fact | Source |',
    '|---|---|---|---|',
    ...rows.map(
      (fact) => `| \`${fact.id}\` | ${markText(fact)} | ${tableCell(textOf(fact))} | ${tableCell(sourceOf(fact))} |`,
    ),
  ]);
  return [...summary, ...tables].join('\n');
}

function countRow(title: string, rows: readonly Fact[]): string {
  const count = (mark: Mark) => rows.filter((fact) => fact.mark === mark).length;
  return `| ${title} | ${marks.map(count).join(' | ')} | ${rows.length} |`;
}

function textOf(fact: Fact): string {
  const parts = [fact.statement];
  if (isDisagreement(fact)) parts.push(fact.consequence);
  if (fact.note !== undefined) parts.push(fact.note);
  return parts.join(' ');
}

function sourceOf(fact: Fact): string {
  return isDisagreement(fact) ? fact.between.map((id) => `\`${id}\``).join(', ') : fact.source;
}
