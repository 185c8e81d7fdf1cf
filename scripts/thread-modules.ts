import { dirname, resolve } from 'node:path';
import type { Plugin } from 'vite';

/** `new URL('./worker.ts', import.meta.url)` in a source file of gw. */
const ADDRESS = /new URL\('(\.{1,2}\/[^']+\.ts)', import\.meta\.url\)/g;

/**
 * For the build: gives every module that a source file names by its address, to run it in a worker thread, a chunk of
 * its own with all of its exports, and puts the address of the chunk in place. From the sources the address is right as
 * it stands. The build fails for any other use of `import.meta.url` in src, whose value would be the chunk's.
 */
export function threadModules(): Plugin {
  return {
    name: 'gw:thread-modules',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: /import\.meta\.url/ },
      handler(code, id) {
        const replaced = code.replaceAll(ADDRESS, (_, path: string) => {
          const reference = this.emitFile({
            type: 'chunk',
            id: resolve(dirname(id), path),
            preserveSignature: 'allow-extension',
          });
          return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
        });
        if (replaced.includes('import.meta.url'))
          throw new Error(`${id}: this use of import.meta.url is not understood`);
        return { code: replaced, map: null };
      },
    },
  };
}
