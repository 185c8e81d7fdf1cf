import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { lazyRequires } from '../../scripts/lazy-requires.ts';
import { straightImports } from '../../scripts/straight-imports.ts';

const dir = mkdtempSync(join(tmpdir(), 'gw-build-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const file = (path: string, text: string): string => {
  const full = join(dir, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
};

describe('straight imports', () => {
  file('src/lib/inner/index.ts', `export { deep } from './deep.ts';\n`);
  file(
    'src/lib/site/index.ts',
    [
      `export { loadSite, type Site } from './load.ts';`,
      `export {\n  a as b,\n  type Other,\n  plain,\n} from './more.ts';`,
      `export { deep } from '../inner/index.ts';`,
      `export * from './starred.ts';`,
      `export const own = 1;`,
    ].join('\n'),
  );
  const importer = join(dir, 'src/lib/toolkit/check.ts');
  const straight = (code: string) => straightImports().transform.handler(code, importer)?.code ?? code;

  it('name the file behind the front door, under the name that it has there', () => {
    expect(straight(`import { loadSite, type Site, b, plain as p } from '../site/index.ts';`)).toBe(
      [
        `import { loadSite } from '../site/load.ts';`,
        `import { a as b } from '../site/more.ts';`,
        `import { plain as p } from '../site/more.ts';`,
      ].join(' '),
    );
  });

  it('go through two front doors', () => {
    expect(straight(`import { deep } from '../site/index.ts';`)).toBe(`import { deep } from '../inner/deep.ts';`);
  });

  it('stay with the front door for what it has itself, or hands on whole', () => {
    expect(straight(`import { own, fromStar } from '../site/index.ts';`)).toBe(
      `import { own } from '../site/index.ts'; import { fromStar } from '../site/index.ts';`,
    );
  });

  it('leave everything else as it is', () => {
    for (const code of [
      `import type { Site } from '../site/index.ts';`,
      `import { x } from '../site/load.ts';`,
      `import * as site from '../site/index.ts';`,
      `const site = await import('../site/index.ts');`,
      `export { loadSite } from '../site/index.ts';`,
    ]) {
      expect(straight(code)).toBe(code);
    }
  });

  it('keep every line where it was, as the map says', () => {
    const code = `import {\n  loadSite,\n  b,\n} from '../site/index.ts';\n\nthrow new Error(); // line 6\n`;
    const result = straightImports().transform.handler(code, importer);
    expect(result?.code.split('\n')[5]).toBe('throw new Error(); // line 6');
    expect(result?.map.mappings.split(';')).toHaveLength(code.split('\n').length);
  });
});

describe('lazy requires', () => {
  const lazy = (code: string) => lazyRequires(/./).transform.handler(code)?.code ?? code;

  it('load at the first use, once, and with the helper that was around', () => {
    const code = [
      `const a_1 = require("a");`,
      `const b_1 = __importDefault(require("b"));`,
      `exports.both = () => (0, a_1.f)(b_1.default, \`\${a_1.text}\`) + a_1.text;`,
      `exports.make = () => new a_1.Thing(b_1);`,
    ].join('\n');
    const loaded: string[] = [];
    const modules: Record<string, object> = {
      a: {
        f: (x: string, y: string) => x + y,
        text: '!',
        Thing: function Thing(this: { of: object }, of: object) {
          this.of = of;
        },
      },
      b: { __esModule: true, default: 'b' },
    };
    const exports: { both?: () => string; make?: () => { of: { default: string } } } = {};
    const require = (id: string) => {
      loaded.push(id);
      return modules[id];
    };
    runInNewContext(lazy(code), { exports, require, __importDefault: (mod: object) => mod });
    expect(loaded).toEqual([]);
    expect(exports.both?.()).toBe('b!!');
    expect(exports.make?.().of.default).toBe('b');
    expect(loaded.toSorted()).toEqual(['a', 'b']);
  });

  it('leave what is not written by that compiler', () => {
    for (const code of [`const { a } = require("a");`, `var x = require('x');`, `import a from 'a';`]) {
      expect(lazy(code)).toBe(code);
    }
  });

  it('leave a file with a mention of another kind', () => {
    const code = `const a_1 = require("a");\nexports.b = [...a_1[0], a_1.c];`;
    expect(lazy(code)).toBe(code);
  });

  it('hold for nearly all files of the framework', () => {
    const core = dirname(createRequire(import.meta.url).resolve('@oclif/core'));
    const paths = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'));
    const codes = paths.map((path) => readFileSync(join(core, path), 'utf8'));
    const eager = codes.filter((code) => /^const \w+_\d+ = .*require\(/m.test(code));
    expect(eager.length).toBeGreaterThan(30);
    expect(eager.filter((code) => lazy(code) === code)).toEqual([]);
  });
});
