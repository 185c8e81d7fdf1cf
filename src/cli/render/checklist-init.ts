import type { ChecklistInit } from '../../lib/toolkit/checklist/checklist.result.ts';
import { printable } from '../output.ts';

/** `gw checklist init` */
export function renderChecklistInit({ path }: ChecklistInit): string {
  const name = printable(path);
  return [
    `Created ${name}.`,
    '',
    'Next: review it, then run',
    `  gw checklist run ${path.includes('/') ? name : `./${name}`} --no-record`,
  ].join('\n');
}
