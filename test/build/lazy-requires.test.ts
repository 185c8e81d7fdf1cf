import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lazyRequires, withLazyRequires } from '../../scripts/lazy-requires.ts';

const lazy = (code: string) => withLazyRequires(code, 'lib/some.js');

/** A module that can be called, constructed, indexed and read. */
function library(id: string) {
  const thing = Object.assign(
    function Thing(this: unknown, ...args: unknown[]) {
      return { constructed: new.target !== undefined, args: args.length, id };
    },
    { text: `${id}!`, f: (...args: unknown[]) => `${id}(${args.length})`, count: 0, k: 'text' },
  );
  return Object.assign(thing, { Thing: thing });
}

/** Runs a CommonJS source; returns its exports and the modules it required, in order. */
function run(code: string) {
  const required: string[] = [];
  const modules = new Map<string, object>();
  const require = (id: string) => {
    required.push(id);
    if (!modules.has(id)) modules.set(id, library(id));
    return modules.get(id);
  };
  const exports: { main?: () => unknown } = {};
  const star = (mod: object) => ({ ...mod, default: mod });
  runInNewContext(code, { exports, require, __importDefault: (mod: object) => ({ default: mod }), __importStar: star });
  return { exports, required };
}

describe('a required module', () => {
  const code = [
    `"use strict";`,
    `const a_1 = require("a");`,
    `const b_1 = __importDefault(require('b')), other = 1;`,
    `const c_1 = __importStar(require("c")); const d = require("d");`,
    `require("effect");`,
    `exports.main = () => [(0, a_1.f)(c_1.default), d(a_1), new d(), b_1.default.text];`,
  ].join('\n');

  it('is loaded at its first use and once, in any order of use', () => {
    const eager = run(code);
    const { exports, required } = run(lazy(code));
    expect(eager.required).toEqual(['a', 'b', 'c', 'd', 'effect']);
    // A declaration with two names is not made lazy; a bare require stays in place.
    expect(required).toEqual(['b', 'effect']);
    const value = JSON.stringify(exports.main?.());
    expect(value).toBe(JSON.stringify(eager.exports.main?.()));
    expect(required).toEqual(['b', 'effect', 'a', 'c', 'd']);
    exports.main?.();
    expect(required).toHaveLength(5);
  });

  it('is loaded at once where the file uses it at once', () => {
    const { exports, required } = run(lazy(`const a = require('a');\nexports.main = a.f;`));
    expect(required).toEqual(['a']);
    expect(exports.main?.()).toBe('a(0)');
  });

  it('leaves every line in place, also of a declaration of several lines', () => {
    const code = `const a =\n  require(\n    'a',\n  )\nexports.main = () => [\n  a.f(),\n  new a\n    .Thing(),\n]`;
    const changed = lazy(code);
    const shown = (source: string) => JSON.stringify(run(source).exports.main?.());
    expect(shown(changed)).toBe(shown(code));
    expect(
      changed.replaceAll(/let a\$; |\(\) => a\$ \?\?= |\(a\(\)\)|a\(\)/g, (text) => (text.includes('a()') ? 'a' : '')),
    ).toBe(code);
  });

  it('may require the file that requires it', () => {
    const sources: Record<string, string> = {
      one: `const two_1 = require("two");\nexports.name = () => 'one';\nexports.both = () => exports.name() + two_1.name();`,
      two: `const one_1 = require("one");\nexports.name = () => 'two of ' + one_1.name();`,
    };
    const loaded: Record<string, { both?: () => string }> = {};
    const load = (id: string): object => {
      const known = loaded[id];
      if (known !== undefined) return known;
      const exports = {};
      loaded[id] = exports;
      runInNewContext(lazy(sources[id] ?? ''), { exports, require: load });
      return exports;
    };
    load('one');
    expect(Object.keys(loaded)).toEqual(['one']);
    expect(loaded.one?.both?.()).toBe('onetwo of one');
  });
});

describe('text that looks like code', () => {
  it.each([
    ['a string', `'const b_1 = require("b"); a_1.text'`],
    ['a template', '`const b_1 = require("b");\nconst c_1 = require("c");\na_1.text`'],
    ['a template with code in it', `\`a_1.text \${a_1.text} \${\`a_1 \${a_1.text}\`}\``],
    ['a regular expression', '/a_1.text;"/.source'],
    ['a regular expression with a bracket', '/[/a_1.text"]/.source'],
    ['a division, which is none', '6 / 2 /* a_1.f( */ / 3'],
    ['comments', '0 /* a_1.text */ // const b_1 = require("b"); a_1.text\n'],
    ['a member of the same name', '({ a_1: 1, b: { a_1: 2 }, a_1() { return 3; } }).a_1'],
    ['a method of a class', 'new (class { a_1() { return 4; } static a_1() {} })().a_1()'],
    ['a member of the same name behind ?.', '({ a_1: 5 })?.a_1'],
    ['a longer name', '((a_11, $a_1, a_1_) => a_11 + $a_1 + a_1_)(1, 2, 3)'],
    ['characters outside the basic plane before it', '"😀€é" + a_1.text + "😀" + a_1.text'],
  ])('is unchanged: %s', (_, expression) => {
    const code = `const a_1 = require("a");\nexports.main = () => ${expression};`;
    expect(JSON.stringify(run(lazy(code)).exports.main?.())).toBe(JSON.stringify(run(code).exports.main?.()));
    expect(run(lazy(code)).required).toEqual([]);
  });

  it('leaves a file without a require unchanged byte for byte', () => {
    const code = `// const a_1 = require("a");\nconst text = \`\nconst a_1 = require("a");\n\`;\nfunction f() { const a = require('a'); a.f(); }`;
    expect(lazy(code)).toBe(code);
  });
});

/** Expressions of every kind of use of a module, nested in each other, among text that only resembles one. */
const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  const name = fc.constantFrom('a_1', 'b_1', 'c$');
  return {
    expression: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(`'a_1.text'`, '/b_1.f()/.source', '`c$.text`', '({ a_1: 1 }).a_1', '/* b_1 */ 1', `"😀 a_1"`),
      fc
        .tuple(name, fc.constantFrom('.text', '[`text`]', '?.text', '.Thing.k', '.f()', '()', '?.()'))
        .map((t) => t.join('')),
      name.map((a) => `new ${a}.Thing(${a})`),
      name.map((a) => `new ${a}`),
      name.map((a) => `new ${a}.Thing`),
      fc.tuple(name, inner).map(([a, x]) => `new ${a}[typeof (${x}) === 'x' ? 'f' : 'Thing'](${x}, ...${a}.text)`),
      fc.tuple(name, inner).map(([a, x]) => `(0, ${a}.f)(${x}, ${a})`),
      fc.tuple(name, inner).map(([a, x]) => `[...${a}.text, ${x}].join(${a}.text)`),
      fc.tuple(name, inner).map(([a, x]) => `(${a}.count += 1, ${a}.count++, delete ${a}.no, ${x})`),
      fc.tuple(name, inner).map(([a, x]) => `(() => {\n  return ${a}.f(${x}) // ${a}.f\n})()`),
      fc.tuple(name, inner).map(([a, x]) => `\`\${${x}} ${a} \${${a}.text}\``),
      fc.tuple(name, inner).map(([a, x]) => `${a}.f\`1\${${x}}2\``),
      fc.tuple(name, inner).map(([a, x]) => `new (class a_2 extends ${a}.Thing {})(${x}).id`),
    ),
  };
});

describe('every use that is accepted', () => {
  it('is equivalent, keeps its line, and loads nothing before it runs', () => {
    fc.assert(
      fc.property(expression, (text) => {
        const code = `const a_1 = require("a");\nconst b_1 = __importStar(require("b"));\nconst c$ = require('c');\nexports.main = () => ${text};`;
        const changed = lazy(code);
        expect(changed.split('\n')).toHaveLength(code.split('\n').length);
        const outcome = (source: string) => {
          const { exports } = run(source);
          try {
            return JSON.stringify(exports.main?.());
          } catch (error) {
            return (error as Error).name;
          }
        };
        expect(run(changed).required).toEqual([]);
        expect(outcome(changed)).toBe(outcome(code));
      }),
    );
  });
});

describe('a file is rejected with its path and line', () => {
  it.each([
    ['a parameter of the same name', 'const f = (a_1) => a_1.text;'],
    ['a variable of the same name in a block', '{ let a_1 = 1; }'],
    ['a function of the same name', 'function f() { function a_1() {} }'],
    ['a caught error of the same name', 'try {} catch (a_1) {}'],
    ['a name taken out of an object', 'const f = ({ b: a_1 }) => 1;'],
    ['an assignment', '(() => { a_1 = 1; });'],
    ['a loop that assigns', 'for (a_1 of []) {}'],
    ['a shorthand member', 'exports.all = { a_1 };'],
    ['the whole module as an export', 'exports.all = a_1;'],
    ['the whole module as a key', 'exports.all = {}[a_1];'],
    ['the whole module as a computed name', '({ [a_1]: 1 });'],
    ['the whole module as the computed name of a method', 'class A { [a_1]() {} }'],
    ['a field of a class', 'class A { a_1 = 1; }'],
    ['a class of the same name', '{ class a_1 {} }'],
    ['a label', 'a_1: for (;;) break a_1;'],
    ['a comparison', 'if (a_1 === undefined) {}'],
    ['a spread of the whole module', 'exports.all = [...a_1];'],
    ['the type of it', 'typeof a_1;'],
    ['a tagged template', 'a_1`text`;'],
    ['the name that the value would have', 'let a_1$ = 1;'],
  ])('for %s', (_, line) => {
    expect(() => lazy(`const a_1 = require("a");\n\n${line}`)).toThrow(/^lib\/some\.js:3: /);
  });

  it('for a syntax error', () => {
    expect(() => lazy('const a_1 = require("a"')).toThrow(/^lib\/some\.js: /);
  });
});

describe('the plugin', () => {
  it('accepts every file of the command framework, and makes most of them lazy', () => {
    const core = dirname(createRequire(import.meta.url).resolve('@oclif/core'));
    const paths = readdirSync(core, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'));
    const changed = paths.filter((path) => {
      const code = readFileSync(join(core, path), 'utf8');
      return withLazyRequires(code, join(core, path)) !== code;
    });
    expect(changed.length).toBeGreaterThan(30);
  });

  it('fails the build where no module matches, and does not hide an error of the build', () => {
    const plugin = lazyRequires(/lib/);
    expect(() => plugin.buildEnd()).toThrow('no module matches /lib/');
    expect(() => plugin.buildEnd(new Error('another'))).not.toThrow();
    plugin.transform.handler('', 'lib/a.js');
    expect(() => plugin.buildEnd()).not.toThrow();
  });
});
