import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

/** The build drops a module without used exports, and bundles the others into files of its own. */
it('no module of gw is imported for its side effects, and none locates a file by its own path', () => {
  expect(files.length).toBeGreaterThan(500);
  for (const path of files) {
    const text = readFileSync(join(src, path), 'utf8');
    expect(text.match(/^import '\.[^']*'/m)?.[0], path).toBeUndefined();
    expect(text.match(/import\.meta\.\w+|\b__dirname\b|\b__filename\b/)?.[0], path).toBeUndefined();
  }
});
