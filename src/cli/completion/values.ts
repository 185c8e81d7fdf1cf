import type { Candidate, ValuesOf } from './complete.ts';

/** Names that gw itself knows, and those of the site file of this folder. What cannot be read completes nothing. */
export function valuesOfGw(checklistsDir: string, sitePath: () => string): ValuesOf {
  return async ({ command, flag, argument, given }) => {
    try {
      if (flag !== undefined) return await flagValues(command, flag, given, checklistsDir);
      return await argumentValues(command, argument ?? '', checklistsDir, sitePath);
    } catch {
      return [];
    }
  };
}

async function flagValues(
  command: string,
  flag: string,
  [checklist]: readonly string[],
  dir: string,
): Promise<readonly Candidate[]> {
  if (command !== 'checklist run' || checklist === undefined || !['only', 'from'].includes(flag)) return [];
  const { showChecklist } = await import('../../lib/toolkit/checklist/run.ts');
  const { sections, steps } = await showChecklist(checklist, dir);
  return [...sections, ...steps].map(({ id, title }) => ({ value: id, about: title }));
}

async function argumentValues(
  command: string,
  argument: string,
  dir: string,
  sitePath: () => string,
): Promise<readonly Candidate[]> {
  if (command === 'checklist run' || command === 'checklist show') {
    const { listChecklists } = await import('../../lib/checklist/index.ts');
    return (await listChecklists(dir)).map((value) => ({ value, about: 'built-in checklist' }));
  }
  if (command === 'evidence show' || command === 'evidence record') {
    const { facts } = await import('../../lib/evidence/index.ts');
    return facts.map(({ id, statement }) => ({ value: id, about: statement }));
  }
  if (command === 'sim fault' && argument === 'name') {
    const { faultTable } = await import('../../lib/sim/faults.ts');
    return Object.entries(faultTable).map(([value, { effect }]) => ({ value, about: effect }));
  }
  if (command === 'motion go' || command === 'tour run') {
    const { loadSite } = await import('../../lib/site/index.ts');
    const { stations, tours } = await loadSite(sitePath());
    return Object.keys(command === 'motion go' ? stations : tours).map((value) => ({ value, about: '' }));
  }
  return [];
}
