import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import config from '../../vite.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the rules of the build', () => {
  it('take only the files of this checkout for sources of gw, wherever it lies', () => {
    const { treeshake, output } = config.build?.rolldownOptions ?? {};
    const { moduleSideEffects } = treeshake as { moduleSideEffects: { test: RegExp; sideEffects: boolean }[] };
    const { codeSplitting } = output as { codeSplitting: { groups: { name: unknown; test?: RegExp }[] } };
    const common = codeSplitting.groups.find(({ name }) => name === 'common')?.test;
    const isWithoutEffects = (path: string) =>
      moduleSideEffects.find(({ test }) => test.test(path))?.sideEffects === false;
    const judged = (path: string) => [isWithoutEffects(path), common?.test(path)];
    expect(judged(`${root}src/lib/error/index.ts`)).toEqual([true, true]);
    expect(judged(`${root}src/cli/main.ts`)).toEqual([true, false]);
    for (const path of ['node_modules/tool/src/lib/index.js', '../src/lib/x.js', 'scripts/x.ts']) {
      expect(judged(`${root}${path}`)).toEqual([false, false]);
    }
    expect(judged('/srv/src/gw/node_modules/yaml/dist/index.js')).toEqual([false, false]);
  });
});
