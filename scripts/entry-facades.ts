import type { Plugin } from 'vite';

const FACADE = '\0gw:facade:';

/**
 * For the build: gives every `import()` of a module's entry point (`index.ts`) a module of its own that hands on
 * everything the entry point exports. The bundler resolves a static import through an entry point to the file behind
 * it, but not through one that is imported dynamically as well: every command that names such a module would load all of it.
 * The build fails for an entry point with a default export, which `export *` would leave out.
 */
export function entryFacades(): Plugin {
  return {
    name: 'gw:entry-facades',
    enforce: 'pre',
    resolveId: {
      filter: { id: /\/index\.ts$/ },
      async handler(source, importer, { kind }) {
        if (kind !== 'dynamic-import') return null;
        const resolved = await this.resolve(source, importer, { skipSelf: true });
        return resolved === null ? null : FACADE + resolved.id;
      },
    },
    load: {
      filter: { id: new RegExp(`^${FACADE}`) },
      async handler(id) {
        const entryPoint = id.slice(FACADE.length);
        const { exports } = await this.load({ id: entryPoint });
        if (exports.includes('default')) throw new Error(`${entryPoint}: an entry point has no default export`);
        return `export * from ${JSON.stringify(entryPoint)};`;
      },
    },
  };
}
