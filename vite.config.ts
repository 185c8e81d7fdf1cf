import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { threadModules } from './scripts/thread-modules.ts';

const root = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  dependencies: Record<string, string>;
};

/** One entry for each command, found by its path as the manifest names it; what several share is split off. */
const commands = readdirSync(`${root}/src/commands`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .toSorted()
  .map((path) => path.replaceAll('\\', '/').slice(0, -'.ts'.length))
  .map((name) => [`commands/${name}`, `src/commands/${name}.ts`]);

/** No module of gw does anything when it is loaded (test/structure); that holds for the sources of this checkout only. */
export const isSource = (id: string) => id.startsWith(`${root}/src/`);

export default defineConfig({
  publicDir: false,
  plugins: [threadModules()],
  // What most commands load is built in with everything that it needs in turn (the devDependencies): it is spread over a
  // hundred files and more each. All other libraries stay outside: some start workers or read files beside themselves.
  ssr: { target: 'node', noExternal: true, external: Object.keys(dependencies) },
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
      treeshake: { moduleSideEffects: (id) => !isSource(id) },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name].js',
        sourcemapExcludeSources: true,
        comments: { legal: true, annotation: false, jsdoc: false },
      },
    },
  },
});
