import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** JavaScript that no compiler reads, and of which most parts run only on demand. */
const modules = globSync('{benchmarks,loads}/*.js', { cwd: fileURLToPath(new URL('../../bench', import.meta.url)) });

it.each(modules)('bench/%s finds everything that it imports', async (path) => {
  const found: object = await import(`../../bench/${path}`);
  expect(Object.keys(found)).not.toEqual([]);
});
