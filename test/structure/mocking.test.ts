import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { mockingFiles } from '../tiers.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('every unit test that replaces a module has a process of its own', () => {
  const replacing = globSync('test/**/*.test.ts', { cwd: root }).filter((path) =>
    /\bvi\.(?:mock|doMock|stubGlobal|stubEnv|useFakeTimers)\(/.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(replacing.toSorted()).toEqual(mockingFiles.toSorted());
});
