import { posix, resolve } from 'node:path';
import type { Plugin } from 'vite';

/** `new URL('./worker.ts', import.meta.url)` in a source file of gw. */
const ADDRESS = /new URL\('(\.{1,2}\/[^']+\.ts)', import\.meta\.url\)/g;
/** Stands for the path of a chunk until all chunks have their names. */
const PLACEHOLDER = /gw-thread-module:(\w+)/g;

/**
 * For the build: gives every module that a source file names by its address, to run it in a worker thread, a chunk of
 * its own with all of its exports, and puts the address of the chunk in place. From the sources the address is right as
 * it stands. The build fails for any other use of `import.meta.url` in src, whose value would be the chunk's.
 */
export function threadModules(): Plugin {
  return {
    name: 'gw:thread-modules',
    // Before types are removed and quotes are changed.
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: /import\.meta\.url/ },
      handler(code, id) {
        const replaced = code.replaceAll(ADDRESS, (_, path: string) => {
          const module = resolve(id, '..', path);
          const reference = this.emitFile({ type: 'chunk', id: module, preserveSignature: 'allow-extension' });
          return `new URL('gw-thread-module:${reference}', import.meta.url)`;
        });
        if (code.replaceAll(ADDRESS, '').includes('import.meta.url')) {
          throw new Error(`${id}: this use of import.meta.url is not understood`);
        }
        return { code: replaced, map: null };
      },
    },
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        chunk.code = chunk.code.replaceAll(PLACEHOLDER, (_match, reference: string) => {
          const path = posix.relative(posix.dirname(chunk.fileName), this.getFileName(reference));
          return path.startsWith('.') ? path : `./${path}`;
        });
      }
    },
  };
}
