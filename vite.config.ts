import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { asciiComments } from './scripts/ascii-comments.ts';
import { entryFacades } from './scripts/entry-facades.ts';
import { lazyRequires } from './scripts/lazy-requires.ts';
import { threadModules } from './scripts/thread-modules.ts';

const root = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  dependencies: Record<string, string>;
};

/** Matches files below a folder of this checkout, wherever the checkout lies. */
const below = (folder: string) => new RegExp(`^${`${root}/${folder}/`.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);

/**
 * Built in with everything that they need in turn: what most commands load, spread over a hundred files and more each.
 * All other dependencies stay outside: some start workers or read files beside themselves, and few commands load them.
 */
const builtIn = ['@oclif/core', 'chalk', 'ipaddr.js', 'jsonc-parser', 'undici', 'ws', 'yaml', 'zod'];

/** One entry for each command, found by its path as the manifest names it; what several share is split off. */
const commands = readdirSync(`${root}/src/commands`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .toSorted()
  .map((path) => path.replaceAll('\\', '/').slice(0, -'.ts'.length))
  .map((name) => [`commands/${name}`, `src/commands/${name}.ts`]);

interface ModuleGraph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
}

/** The modules that are loaded with the entry itself, before it is known which command is asked for. */
let atStart: Set<string> | undefined;

function loadedAtStart(graph: ModuleGraph): Set<string> {
  const found = new Set<string>();
  const add = (id: string): void => {
    if (found.has(id)) return;
    found.add(id);
    for (const next of graph.getModuleInfo(id)?.importedIds ?? []) add(next);
  };
  add(`${root}/src/cli/main.ts`);
  return found;
}

/** What the framework searches for plugins with; gw names its plugins. */
const unused = ['lilconfig', 'minimatch', 'semver', 'tinyglobby'];

/** What a library asks for and gw does better without, by the name that it is asked for by. */
const replaced: Readonly<Record<string, string>> = {
  // A named import of the process makes node open all three standard streams, whether or not anything is written.
  process: 'module.exports = globalThis.process;',
  // The framework names the Windows Subsystem for Linux a platform of its own; for gw it is Linux, as `--version` says.
  'wsl-utils': `exports.isWsl = false; exports.powerShellPath = () => { throw new Error('not built in'); };`,
  ...Object.fromEntries(
    unused.map((name) => [name, `module.exports = {}; throw new Error('${name} is not built in');`]),
  ),
};

const replacements = {
  name: 'gw:replacements',
  enforce: 'pre' as const,
  resolveId: {
    filter: { id: new RegExp(`^(node:)?(${Object.keys(replaced).join('|')})$`) },
    handler: (id: string) => `\0gw:${id.replace(/^node:/, '')}`,
  },
  load: { filter: { id: /^\0gw:/ }, handler: (id: string) => replaced[id.slice('\0gw:'.length)] },
};

export default defineConfig({
  publicDir: false,
  plugins: [replacements, asciiComments(), entryFacades(), lazyRequires(/\/@oclif\/core\/lib\//), threadModules()],
  resolve: { mainFields: ['module', 'main'] },
  ssr: {
    target: 'node',
    noExternal: true,
    external: Object.keys(dependencies).filter((name) => !builtIn.includes(name)),
  },
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: true,
    target: 'node22',
    minify: false,
    sourcemap: true,
    license: { fileName: 'THIRD-PARTY-LICENSES.md' },
    rolldownOptions: {
      input: { ...Object.fromEntries(commands), 'cli/main': 'src/cli/main.ts', 'cli/help': 'src/cli/help.ts' },
      external: ['typescript'],
      treeshake: {
        // No module of gw does anything when it is loaded (test/structure), so of a module's entry point only that is
        // loaded which is used.
        moduleSideEffects: [
          { test: below('src'), sideEffects: false },
          { test: /./, sideEffects: true },
        ],
      },
      // Merged, what a command uses would bring along what it does not.
      experimental: { chunkOptimization: false },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name].js',
        codeSplitting: {
          groups: [
            // What every start loads, then what most commands load: a file of its own costs half a millisecond.
            {
              name(id: string, graph: ModuleGraph) {
                atStart ??= loadedAtStart(graph);
                return atStart.has(id) ? 'start' : null;
              },
              debugName: 'start',
              priority: 2,
            },
            { name: 'libraries', test: /\/node_modules\/(yaml|zod)\//, minShareCount: 10, priority: 1 },
            { name: 'common', test: below('src/lib'), minShareCount: 20, priority: 1 },
          ],
          includeDependenciesRecursively: false,
        },
        sourcemapExcludeSources: true,
        // Node keeps a file with any other character at twice the memory, and takes longer for all that it does with it.
        charset: 'ascii',
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
