import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { parseSite } from './load.ts';
import type { Site } from './schema.ts';
import { writeSiteFile } from './write.ts';

/** A key path and its new value; undefined removes the key. */
export interface SiteEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * Sets values in a site file and keeps its comments. The text is validated before it replaces the file, atomically. Throws
 * SITE_FILE_INVALID, FILE_UNWRITABLE.
 */
export async function editSiteFile({ path }: Pick<Site, 'path'>, edits: readonly SiteEdit[]): Promise<Site> {
  const document = parseDocument(await readFile(path, 'utf8'));
  for (const { path: key, value } of edits) {
    if (value === undefined) document.deleteIn(key);
    // A scalar in the place of another one keeps the comment on its line; a node of its own would not.
    else if (typeof value !== 'object') document.setIn(key, value);
    else document.setIn(key, document.createNode(value, { flow: key.length > 1 }));
  }
  const text = document.toString({ lineWidth: 0 });
  const site = parseSite(text, path);
  await writeSiteFile(path, text, { force: true });
  return site;
}
