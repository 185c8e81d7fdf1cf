import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';

/** Names of the checklists in a folder: every `<name>.yaml`. */
export async function listChecklists(dir: string): Promise<string[]> {
  const files = await readdir(dir);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

/**
 * The file of a checklist: a plain word is the name of one in the folder, everything with a dot or a slash is a
 * path. Throws CHECKLIST_UNKNOWN.
 */
export async function findChecklist(nameOrFile: string, dir: string): Promise<string> {
  if (!/^[A-Za-z0-9_-]+$/.test(nameOrFile)) return nameOrFile;
  const names = await listChecklists(dir);
  if (names.includes(nameOrFile)) return join(dir, `${nameOrFile}.yaml`);
  const near = nearest(nameOrFile, names);
  const guess = near === undefined ? '' : ` Did you mean '${near}'?`;
  throw new GwError('CHECKLIST_UNKNOWN', `Unknown checklist '${nameOrFile}'.${guess}`, {
    remedy: `Use one of ${names.join(', ')}, or name a file with its extension: ./${nameOrFile}.yaml.`,
  });
}
