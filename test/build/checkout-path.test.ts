import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isSource } from '../../vite.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the rules of the build', () => {
  it('take only the files of this checkout for sources of gw, wherever it lies', () => {
    expect(isSource(`${root}src/lib/error/index.ts`)).toBe(true);
    for (const path of ['node_modules/tool/src/lib/index.js', '../src/lib/x.js', 'scripts/x.ts']) {
      expect(isSource(`${root}${path}`)).toBe(false);
    }
    expect(isSource('/srv/src/gw/node_modules/yaml/dist/index.js')).toBe(false);
  });
});
