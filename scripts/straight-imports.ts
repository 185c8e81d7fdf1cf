import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/** `import { a, type B as C } from './x.ts'`, and the same with export. */
const NAMED = /^(import|export) \{([^}]*)\} from '(\.[^']+)';$/gm;

/**
 * For the build: lets every import from a module's front door (`index.ts`) name the file behind it. The bundler puts
 * files together by who imports whom, so by the front door alone every command would load whole modules. Text that is
 * not of this shape stays as it is, and is right all the same.
 */
export function straightImports() {
  const doors = new Map<string, Map<string, Behind>>();
  return {
    name: 'gw:straight-imports',
    enforce: 'pre' as const,
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler(code: string, id: string) {
        const straight = code.replace(NAMED, (all: string, kind: string, names: string, from: string) =>
          kind === 'import' && from.endsWith('/index.ts') ? straighten(names, id, from, doors) : all,
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

function straighten(names: string, importer: string, from: string, doors: Map<string, Map<string, Behind>>): string {
  const door = resolve(dirname(importer), from);
  const imports = specifiers(names).map(({ name, as }) => {
    const behind = behindDoor(door, doors).get(name) ?? { file: door, name };
    const path = relative(dirname(importer), behind.file);
    const text = behind.name === as ? as : `${behind.name} as ${as}`;
    return `import { ${text} } from '${path.startsWith('.') ? path : `./${path}`}';`;
  });
  // On one line, so that the lines of a stack stay those of the source.
  return imports.join(' ') + '\n'.repeat(names.split('\n').length - 1);
}

function behindDoor(door: string, doors: Map<string, Map<string, Behind>>): Map<string, Behind> {
  const known = doors.get(door);
  if (known !== undefined) return known;
  const found = new Map<string, Behind>();
  doors.set(door, found);
  for (const [, kind, names = '', from = ''] of readFileSync(door, 'utf8').matchAll(NAMED)) {
    if (kind !== 'export') continue;
    const file = resolve(dirname(door), from);
    for (const { name, as } of specifiers(names)) {
      const further = file.endsWith('/index.ts') ? behindDoor(file, doors).get(name) : undefined;
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
