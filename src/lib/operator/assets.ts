import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
}

/** The built files of the pages, by name. There are two, so they are simply kept. */
export type Assets = ReadonlyMap<string, Asset>;

const names: Readonly<Record<string, string>> = {
  'style.css': 'text/css; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
};

/** A missing file is left out: the pages are readable without, and the operator surface must come up. */
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
