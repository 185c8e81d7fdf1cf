import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
}

/** The built files of the pages, by name, in memory. */
export type Assets = ReadonlyMap<string, Asset>;

const names: Readonly<Record<string, string>> = {
  'style.css': 'text/css; charset=utf-8',
  'main.js': 'text/javascript; charset=utf-8',
};

/** A missing file is left out: the pages work without it, and the operator server must start. */
export async function loadAssets(dir: string, onMissing: (name: string) => void): Promise<Assets> {
  const assets = new Map<string, Asset>();
  for (const [name, contentType] of Object.entries(names)) {
    try {
      assets.set(name, { contentType, body: await readFile(join(dir, name)) });
    } catch {
      onMissing(name);
    }
  }
  return assets;
}

/** Names these files by their content: an open page of another build reloads. */
export function buildOf(assets: Assets): string {
  const hash = createHash('sha256');
  for (const [name, { body }] of assets) hash.update(name).update(body);
  return hash.digest('hex').slice(0, 16);
}
