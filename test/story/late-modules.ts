import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const lib = fileURLToPath(new URL('../../src/lib', import.meta.url));

/**
 * Loads every module and package that src/lib loads where it is first used: that takes real time, in which no simulated
 * time may pass.
 */
export async function loadLateModules(): Promise<void> {
  const names = globSync('**/*.ts', { cwd: lib }).flatMap((file) => {
    const path = join(lib, file);
    const found = readFileSync(path, 'utf8').matchAll(/\bimport\(\s*'([^']+)',?\s*\)/g);
    return [...found].map(([, name = '']) =>
      name.startsWith('.') ? pathToFileURL(join(dirname(path), name)).href : name,
    );
  });
  // Others need this one before them.
  for (const name of new Set(['reflect-metadata', ...names])) await import(name);
}
