import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { straightImports } from './scripts/straight-imports.ts';

const root = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  dependencies: Record<string, string>;
};

/**
 * Built in with everything that they need in turn: what most commands load, spread over a hundred files and more each.
 * All other dependencies stay outside: some start workers or read files beside themselves, and few commands load them.
 */
const builtIn = ['@oclif/core', 'chalk', 'ipaddr.js', 'jsonc-parser', 'undici', 'ws', 'yaml', 'zod'];

/** One entry for each command, found by its path as the manifest names it; what several share is split off. */
const commands = globSync('src/commands/**/*.ts', { cwd: root }).map((path) => [path.slice('src/'.length, -3), path]);

/** A named import of the process makes node open all three standard streams, whether or not anything is written. */
const processWithoutStreams = {
  name: 'gw:process',
  enforce: 'pre' as const,
  resolveId: { filter: { id: /^(node:)?process$/ }, handler: () => '\0gw:process' },
  load: { filter: { id: /^\0gw:process$/ }, handler: () => 'module.exports = globalThis.process;' },
};

export default defineConfig({
  publicDir: false,
  plugins: [processWithoutStreams, straightImports()],
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
      input: { ...Object.fromEntries(commands), 'cli/main': 'src/cli/main.ts' },
      external: ['typescript'],
      treeshake: {
        // No module of ours does anything when it is loaded (test/structure), so of a module's front door only that is
        // loaded which is used.
        moduleSideEffects: [
          { test: /\/src\//, sideEffects: false },
          { test: /./, sideEffects: true },
        ],
      },
      // Merged, what a command uses would bring along what it does not.
      experimental: { chunkOptimization: false },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name].js',
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
