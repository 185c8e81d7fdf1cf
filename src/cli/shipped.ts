import { join } from 'node:path';

/** Folder of the built-in checklists, from the root of the installed package. */
export function builtInChecklists(root: string): string {
  return join(root, 'checklists');
}

/** The folder of the built pages of the operator server. */
export function builtPages(root: string): string {
  return join(root, 'dist', 'web');
}

/** The folder of the fonts that PDF documents embed. */
export function embeddedFonts(root: string): string {
  return join(root, 'dist', 'fonts');
}

/** The folder of the generated schemas, with the contracts of the operator server. */
export function generatedSchemas(root: string): string {
  return join(root, 'schemas');
}
