import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

const shipped = fileURLToPath(new URL('../../../checklists/', import.meta.url));

interface Step {
  readonly id: string;
  readonly confirm?: string;
}

/** Remark of every answer. */
export const REMARK = 'seen';

/** Writes answers to all questions of a shipped checklist into a folder. Measured values must be given. */
export function writeAnswers(
  dir: string,
  name: 'premises' | 'site',
  measured: Readonly<Record<string, number>> = {},
): { readonly file: string; readonly steps: readonly string[] } {
  const list: { readonly sections: readonly { readonly steps: Step[]; readonly preconditions?: Step[] }[] } = parse(
    readFileSync(join(shipped, `${name}.yaml`), 'utf8'),
  );
  const steps = list.sections.flatMap((section) => [...(section.preconditions ?? []), ...section.steps]);
  const answers: Record<string, unknown> = { ...measured };
  for (const { id, confirm } of steps) if (confirm !== undefined) answers[id] = { answer: 'yes', remark: REMARK };
  const file = join(dir, `${name}-answers.yaml`);
  writeFileSync(file, stringify(answers));
  return { file, steps: steps.map(({ id }) => id) };
}
