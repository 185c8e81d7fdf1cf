import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync } from 'vite';
import { describe, expect, it } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));

/**
 * Statements with an effect when the module is loaded: all except declarations, and calls that fill a constant of the
 * same file.
 */
function effectsOf(code: string): string[] {
  const { program, errors } = parseSync('module.ts', code);
  if (errors.length > 0) throw new Error(errors[0]?.message);
  const own = new Set(program.body.flatMap(constantsOf));
  return program.body
    .filter((statement) => !isHarmless(statement, own))
    .map(({ start, end }) => code.slice(start, end));
}

function constantsOf(statement: ESTree.Statement): string[] {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return [];
  return statement.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
}

function isHarmless(statement: ESTree.Statement, own: ReadonlySet<string>): boolean {
  if (statement.type === 'ImportDeclaration') return statement.specifiers.length > 0;
  if (statement.type !== 'ExpressionStatement') return /^(Export|TS)|Declaration$/.test(statement.type);
  const { expression } = statement;
  if (expression.type !== 'CallExpression' || expression.callee.type !== 'MemberExpression') return false;
  const { object } = expression.callee;
  return object.type === 'Identifier' && own.has(object.name);
}

/** A line at the margin of a formatted file that begins no such statement: only files with another one are parsed. */
const declares =
  /^(?:import (?!['"{]\}?)|import \{(?!\})|(?:export|const|let|class|abstract|function|async|type|interface|declare|enum)\b|[ /)}\]`$]|$)/;
const mayHaveEffects = (code: string) => code.split('\n').some((line) => !declares.test(line));

/** The build drops a module without used exports, and bundles the others into files of its own. */
describe('no module of gw', () => {
  it('has other effects than declarations when it is loaded', () => {
    expect(paths.length).toBeGreaterThan(500);
    const found = paths.flatMap((path) => {
      const code = readFileSync(join(src, path), 'utf8');
      return mayHaveEffects(code) ? effectsOf(code).map((text) => [path, text]) : [];
    });
    expect(found).toEqual([]);
  });

  it('locates a file by its own path, except the module of a thread', () => {
    const found = paths.filter((path) =>
      /import\.meta\.\w+|\b__dirname\b|\b__filename\b/.test(readFileSync(join(src, path), 'utf8')),
    );
    // A thread is started by the address of its module; the build puts in that of the chunk (test/build).
    expect(found).toEqual(['lib/cloud/outbox/thread/store-thread.ts']);
  });
});

describe('a module', () => {
  it.each([
    `import './other.ts';`,
    `import 'reflect-metadata';`,
    `import {} from './other.ts';`,
    `process.on('exit', () => {});`,
    `start();`,
    `globalThis.gw = 1;`,
    `if (process.env.GW) start();`,
    `for (const a of []) start(a);`,
    `await start();`,
    `{ start(); }`,
  ])('that has %s at its top level has an effect when it is loaded', (statement) => {
    const code = `import { start } from './start.ts';\n// a comment\n${statement}\nexport const x = 1;`;
    expect([mayHaveEffects(code), effectsOf(code)]).toEqual([true, [statement]]);
  });

  it.each([
    `import type { A } from './a.ts';`,
    `export type { A } from './a.ts';`,
    `export * from './a.ts';`,
    "const text = `\nimport './other.ts';\nstart();\n`;",
    `const list = new Set(); list.add(1);`,
    `export default class A {}`,
    `declare module './a.ts' {}`,
  ])('that has %s only declares', (statement) => {
    expect(effectsOf(statement)).toEqual([]);
  });
});
