import type { ChecklistResult } from '../checklist/index.ts';

/** The result as a file, with its schema id. */
export function toJson(result: ChecklistResult): string {
  return `${JSON.stringify({ schema: 'gw/checklist-run/1', ...result }, null, 2)}\n`;
}
