import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest, parseDocument, type Report, readDocumentBytes } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import type { Catalogue } from '../catalogue.ts';
import { compile } from './compile.ts';
import { CHECKLIST_MAX_BYTES, checklistSchema } from './schema.ts';
import { checkSoundness } from './soundness.ts';
import type { Checklist } from './step.ts';

/** Reads a checklist from text. Throws CHECKLIST_INVALID with every problem. */
export function parseChecklist(text: string | Uint8Array, file: string, catalogue: Catalogue): Checklist {
  const document = parseDocument({ ...rules(catalogue), text, file });
  return compile(document, { file, sha256: sha256(text) }, catalogue);
}

/** Reads a checklist from a file of at most 256 KiB. Throws CHECKLIST_UNKNOWN, CHECKLIST_INVALID with every problem. */
export async function loadChecklist(path: string, catalogue: Catalogue): Promise<Checklist> {
  const { maxBytes, error } = rules(catalogue);
  const bytes = await readDocumentBytes({ path, maxBytes, error, notFound: 'CHECKLIST_UNKNOWN' });
  return parseChecklist(bytes, path, catalogue);
}

function rules(catalogue: Catalogue) {
  return {
    schema: checklistSchema,
    maxBytes: CHECKLIST_MAX_BYTES,
    error: 'CHECKLIST_INVALID',
    check: (value: unknown, report: Report) => checkSoundness(value, catalogue, report),
  } as const;
}

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
