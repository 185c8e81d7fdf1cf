import type { ChecklistResult } from '../checklist/index.ts';

/** The result as a file of its own, with the name of its shape. */
export function toJson(result: ChecklistResult): string {
  return `${JSON.stringify({ schema: 'gw/checklist-run/1', ...result }, null, 2)}\n`;
}
