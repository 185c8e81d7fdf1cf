import { tableCell } from '../text/index.ts';
import { type ErrorRow, errorTable } from './table.ts';

/** The error table as Markdown, one row a code in the order of the table. For docs/errors.md. */
export function describeErrorTable(): string {
  const rows = Object.entries(errorTable as Readonly<Record<string, ErrorRow>>);
  return [
    '| Code | Exit | What it means | What to do |',
    '|---|--:|---|---|',
    ...rows.map(
      ([code, { title, remedy, exit }]) => `| \`${code}\` | ${exit} | ${tableCell(title)} | ${tableCell(remedy)} |`,
    ),
  ].join('\n');
}
