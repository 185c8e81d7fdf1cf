import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { type Site, siteSchema } from './schema.ts';

export async function loadSite(path: string): Promise<Site> {
  const file = siteSchema.parse(parse(await readFile(path, 'utf8')));
  return { ...file, path: resolve(path), dir: dirname(resolve(path)) };
}
