import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { type Catalogue, parseChecklist, type StepResult } from '../../src/lib/checklist/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { runChecklist } from '../../src/lib/toolkit/checklist/run.ts';
import type { ChecklistRunOptions } from '../../src/lib/toolkit/checklist/run-options.ts';

/** The folder of the built-in lists. */
export const builtIn = fileURLToPath(new URL('../../checklists', import.meta.url));

/** Options of a run without a person, in which nothing moves. */
export const still = () =>
  ({ clock: systemClock, signal: new AbortController().signal, motionAllowed: false, subject: null }) as const;

export const about = (id: string) => ({ id, title: `Step ${id}`, proves: 'Device', remedy: `Mend ${id}.` });
/** A step with the check `look` of the catalogue of a test. */
export const check = (id: string, more: object = {}) => ({
  ...{ ...about(id), run: 'look', with: { at: id }, expect: { sound: true } },
  ...more,
});
export const question = (id: string, more: object = {}) => ({ ...about(id), confirm: `Is ${id} in order?`, ...more });

const ownFile = (parts: object) => ({
  ...{ schema: 'gw/checklist/1', name: 'own', title: 'Own', purpose: 'To see.' },
  ...parts,
});
/** The list with these parts; throws CHECKLIST_INVALID. */
export const ownList = (parts: object, catalogue: Catalogue) =>
  parseChecklist(stringify(ownFile(parts), { aliasDuplicateObjects: false }), 'own.yaml', catalogue);

export const verdictsById = (steps: Readonly<Record<string, StepResult>>) =>
  Object.fromEntries(Object.entries(steps).map(([id, { verdict }]) => [id, verdict]));

/** A run of the toolkit with these options. */
export const runList = (
  options: Partial<ChecklistRunOptions> & Pick<ChecklistRunOptions, 'nameOrFile' | 'sitePaths'>,
) => {
  const { clock, signal, motionAllowed } = still();
  return runChecklist({
    ...{ dir: builtIn, clock, signal, motionAllowed, gwVersion: '1.0.0', onProgress: () => {} },
    ...options,
  });
};
