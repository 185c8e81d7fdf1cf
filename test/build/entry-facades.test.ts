import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Rolldown } from 'vite';
import { afterAll, describe, expect, it } from 'vitest';
import { entryFacades } from '../../scripts/entry-facades.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-facades-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const fleet = {
  'fleet/index.ts': [
    `export { keyName } from './keys.ts';`,
    `export { createFleet as makeFleet, type Fleet } from './fleet.ts';`,
    `export { default as plainly } from './plain.ts';`,
    `export * from './state.ts';`,
    `export * as inner from './inner/index.ts';`,
    `export type { OnlyAType } from './types.ts';`,
    `export const own = 'own';`,
  ].join('\n'),
  'fleet/keys.ts': `import { count } from './index.ts';\nexport const keyName = () => \`key \${count}\`;`,
  'fleet/fleet.ts': [
    `import { keyName } from './index.ts';`,
    `import { start } from './state.ts';`,
    `export interface Fleet { readonly name: string }`,
    `export const createFleet = (): Fleet => { start(); return { name: 'heavy fleet of ' + keyName() }; };`,
  ].join('\n'),
  'fleet/plain.ts': `export default function plain() { return 'plain'; }`,
  'fleet/state.ts': `export let count = 0;\nexport const start = () => { count += 1; };`,
  'fleet/inner/index.ts': `export const deep = 'deep';`,
  'fleet/types.ts': `export type OnlyAType = 1;`,
};
const check = [
  `import { keyName, count, type Fleet } from './fleet/index.ts';`,
  `// const all = await import('./fleet/index.ts');`,
  `export const text = "await import('./fleet/index.ts')";`,
  `export const check = (_: Fleet | null) => \`\${keyName()}, \${count} started: \${/import\\('fleet'\\)/.source}\`;`,
].join('\n');
const serve = [
  `export const serve = async () => { const { makeFleet } = await import('./fleet/index.ts'); return makeFleet(); };`,
  `export const everything = () => import(/* all of it */ './fleet/index.ts');`,
  `export const again = () => import('./again/index.ts');`,
].join('\n');

interface Built {
  readonly outDir: string;
  /** The modules that an entry loads before its `import()`s run, by path relative to the sources. */
  loadedBy(entry: string): readonly string[];
}

let builds = 0;

async function built(files: Readonly<Record<string, string>>, entries: string[], facades = true): Promise<Built> {
  builds += 1;
  const root = join(scratch, String(builds));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const outDir = join(root, 'dist');
  const { output } = (await build({
    root,
    configFile: false,
    logLevel: 'silent',
    plugins: facades ? [entryFacades()] : [],
    build: {
      ssr: true,
      outDir,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((entry) => [entry, join(root, `${entry}.ts`)])),
        treeshake: { moduleSideEffects: false },
        experimental: { chunkOptimization: false },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
      },
    },
  })) as Rolldown.RolldownOutput;
  const chunks = new Map(output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])));
  const reached = (file: string, seen = new Set<string>()): Set<string> => {
    if (!seen.has(file)) for (const next of chunks.get(file)?.imports ?? []) reached(next, seen.add(file));
    return seen.add(file);
  };
  return {
    outDir,
    loadedBy: (entry) =>
      [...reached(`${entry}.mjs`)].flatMap((file) =>
        (chunks.get(file)?.moduleIds ?? []).map((id) => id.replace(`${root}/`, '')),
      ),
  };
}

const files = {
  ...fleet,
  'check.ts': check,
  'serve.ts': serve,
  'again/index.ts': `export { own } from '../fleet/index.ts';`,
};

describe('the facade of an entry point that is imported dynamically', () => {
  it('keeps for a static import only what it uses, where the bundler alone would load the whole module', async () => {
    const entries = ['check', 'serve'];
    const loaded = (await built(files, entries)).loadedBy('check');
    expect(loaded).toEqual(expect.arrayContaining(['check.ts', 'fleet/keys.ts', 'fleet/state.ts']));
    expect(loaded).not.toContain('fleet/fleet.ts');
    // Where this fails, the bundler does it itself and the facades can be removed.
    expect((await built(files, entries, false)).loadedBy('check')).toContain('fleet/fleet.ts');
  });

  it('re-exports every name, with the same variables as a static import', async () => {
    const { outDir } = await built(files, ['check', 'serve']);
    const url = (name: string) => pathToFileURL(join(outDir, `${name}.mjs`)).href;
    const { check, text } = await import(url('check'));
    const { serve, everything, again } = await import(url('serve'));
    expect(text).toBe("await import('./fleet/index.ts')");
    expect(check(null)).toBe("key 0, 0 started: import\\('fleet'\\)");
    expect(await serve()).toEqual({ name: 'heavy fleet of key 1' });
    expect(check(null)).toBe("key 1, 1 started: import\\('fleet'\\)");
    const all = await everything();
    expect(Object.keys(all).sort()).toEqual(['count', 'inner', 'keyName', 'makeFleet', 'own', 'plainly', 'start']);
    expect([all.count, all.inner.deep, all.plainly(), all.own]).toEqual([1, 'deep', 'plain', 'own']);
    all.start();
    expect([all.count, all.keyName(), (await again()).own]).toEqual([2, 'key 2', 'own']);
  });

  it('does not change an import() of any other file', async () => {
    const { outDir } = await built(
      { 'main.ts': `export const load = () => import('./other.ts');`, 'other.ts': `export default 'other';` },
      ['main'],
    );
    const { load } = await import(pathToFileURL(join(outDir, 'main.mjs')).href);
    expect((await load()).default).toBe('other');
  });

  it.each([
    ['export default 1;'],
    ["export { default } from './plain.ts';"],
    ["export { plain as default } from './plain.ts';"],
  ])('cannot be built where the entry point has %s', async (text) => {
    const plain = `export const plain = 1;\nexport default plain;`;
    const files = {
      'main.ts': `export const load = () => import('./a/index.ts');`,
      'a/index.ts': text,
      'a/plain.ts': plain,
    };
    await expect(built(files, ['main'])).rejects.toThrow(/a\/index\.ts: an entry point has no default export/);
  });

  it('cannot be built where the file does not exist', async () => {
    await expect(built({ 'main.ts': `export const load = () => import('./a/index.ts');` }, ['main'])).rejects.toThrow(
      './a/index.ts',
    );
  });
});
