import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/** `import { a, type B as C } from './x.ts'`, and the same with export. */
const NAMED = /^(import|export) \{([^}]*)\} from '(\.[^']+)';$/gm;

/**
 * For the build: lets every import from a module's entry point (`index.ts`) name the file behind it. The bundler puts
 * files together by who imports whom, so by entry points alone every command would load whole modules. Text that is
 * not of this shape stays as it is, and is right all the same.
 */
export function straightImports() {
  const entryPoints = new Map<string, Map<string, Behind>>();
  return {
    name: 'gw:straight-imports',
    enforce: 'pre' as const,
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler(code: string, id: string) {
        const straight = code.replace(NAMED, (all: string, kind: string, names: string, from: string) =>
          kind === 'import' && from.endsWith('/index.ts') ? straighten(names, id, from, entryPoints) : all,
        );
        return straight === code ? null : { code: straight, map: lineByLine(code) };
      },
    },
  };
}

/** Every line is still where it was. */
function lineByLine(code: string) {
  const mappings = `AAAA${';AACA'.repeat(code.split('\n').length - 1)}`;
  return { version: 3 as const, sources: [''], sourcesContent: [code], names: [], mappings };
}

interface Behind {
  readonly file: string;
  readonly name: string;
}

function straighten(
  names: string,
  importer: string,
  from: string,
  entryPoints: Map<string, Map<string, Behind>>,
): string {
  const entryPoint = resolve(dirname(importer), from);
  const imports = specifiers(names).map(({ name, as }) => {
    const behind = behindEntryPoint(entryPoint, entryPoints).get(name) ?? { file: entryPoint, name };
    const path = relative(dirname(importer), behind.file);
    const text = behind.name === as ? as : `${behind.name} as ${as}`;
    return `import { ${text} } from '${path.startsWith('.') ? path : `./${path}`}';`;
  });
  // On one line, so that the lines of a stack stay those of the source.
  return imports.join(' ') + '\n'.repeat(names.split('\n').length - 1);
}

function behindEntryPoint(entryPoint: string, entryPoints: Map<string, Map<string, Behind>>): Map<string, Behind> {
  const known = entryPoints.get(entryPoint);
  if (known !== undefined) return known;
  const found = new Map<string, Behind>();
  entryPoints.set(entryPoint, found);
  for (const [, kind, names = '', from = ''] of readFileSync(entryPoint, 'utf8').matchAll(NAMED)) {
    if (kind !== 'export') continue;
    const file = resolve(dirname(entryPoint), from);
    for (const { name, as } of specifiers(names)) {
      const further = file.endsWith('/index.ts') ? behindEntryPoint(file, entryPoints).get(name) : undefined;
      found.set(as, further ?? { file, name });
    }
  }
  return found;
}

function specifiers(names: string): { readonly name: string; readonly as: string }[] {
  return names
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => {
      const [name = '', as = name] = one.split(' as ').map((word) => word.trim());
      return { name, as };
    });
}
