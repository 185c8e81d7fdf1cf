import { join } from 'node:path';

/** The folder of the checklists that come with gw, from the root of the installed package. */
export function builtInChecklists(root: string): string {
  return join(root, 'checklists');
}

/** The folder of the built pages of the operator server. */
export function builtPages(root: string): string {
  return join(root, 'dist', 'web');
}
