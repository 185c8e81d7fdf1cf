import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { threadModules } from './scripts/thread-modules.ts';

const root = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  dependencies: Record<string, string>;
};
/** What most commands load, with everything that it needs in turn: it is spread over a hundred files and more each. */
const builtIn = JSON.parse(readFileSync(`${root}/scripts/built-in.json`, 'utf8')) as readonly string[];

/** One entry for each command, found by its path as the manifest names it; what several share is split off. */
const commands = readdirSync(`${root}/src/commands`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .toSorted()
  .map((path) => path.replaceAll('\\', '/').slice(0, -'.ts'.length))
  .map((name) => [`commands/${name}`, `src/commands/${name}.ts`]);

/** No module of gw does anything when it is loaded (test/structure); that holds for the sources of this checkout only. */
export const isSource = (id: string) => id.startsWith(`${root}/src/`);

/** The fonts of the documents: those files of their packages that are embedded, with the licence. */
const fonts: Plugin = {
  name: 'gw:fonts',
  generateBundle() {
    const packages = { 'source-sans': 'SourceSans3', 'source-code-pro': 'SourceCodePro' };
    for (const [name, family] of Object.entries(packages)) {
      const folder = `${root}/node_modules/${name}`;
      for (const file of [`${family}-Regular.ttf`, `${family}-Bold.ttf`]) {
        this.emitFile({ type: 'asset', fileName: `fonts/${file}`, source: readFileSync(`${folder}/TTF/${file}`) });
      }
      const licence = readFileSync(`${folder}/LICENSE.md`);
      this.emitFile({ type: 'asset', fileName: `fonts/${family}-LICENSE.md`, source: licence });
    }
  },
};

/** The engine keeps a source with one character beyond Latin-1 in two bytes for each of its characters. */
const oneByteSources: Plugin = {
  name: 'gw:one-byte-sources',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue;
      const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      chunk.code = chunk.code.replace(/[^\0-\xff]/g, escaped);
    }
  },
};

export default defineConfig({
  publicDir: false,
  plugins: [threadModules(), oneByteSources, fonts],
  // All other libraries stay outside: some start workers or read files beside themselves.
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
