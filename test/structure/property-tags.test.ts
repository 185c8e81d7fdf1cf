import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
/** Not a test of its own, and runs properties: its functions count as their tests do. */
const helpers = ['test/setup.ts', 'test/toolkit/kit.ts'];
const ofHelpers = /^(?:runs|isFull|forAll\w*)$/;
const asserts = ['assert', 'check', 'sample'];

/** Tests of a file that `npm run test:all` runs with more cases, and that no tag names: `.ci/run` would not. */
function untagged(path: string, text: string): { readonly found: number; readonly without: string[] } {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const varying = new Set(namesImported(source).filter((name) => ofHelpers.test(name)));
  const varies = (node: ts.Node): boolean => {
    if (ts.isPropertyAccessExpression(node) && node.expression.getText() === 'fc')
      return asserts.includes(node.name.text);
    if (ts.isIdentifier(node) && varying.has(node.text) && !isMember(node)) return true;
    return ts.forEachChild(node, varies) ?? false;
  };
  const declared = declarations(source);
  for (let before = -1; before !== varying.size; ) {
    before = varying.size;
    for (const { names, node } of declared) if (varies(node)) for (const name of names) varying.add(name);
  }
  const without: string[] = [];
  let found = 0;
  const visit = (node: ts.Node): void => {
    if (!isTest(node)) ts.forEachChild(node, visit);
    if (!isTest(node) || !varies(node)) return;
    found += 1;
    const [name, options] = node.arguments;
    if (!/\btags: .*'(?:property|large)'/.test(options?.getText() ?? '')) without.push(`${path}: ${name?.getText()}`);
  };
  visit(source);
  return { found, without };
}

describe('a test with more cases in npm run test:all', () => {
  const files = globSync('test/**/*.{ts,tsx}', { cwd: root });
  const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

  it('has the tag by which .ci/run finds it', () => {
    const tests = files.filter((file) => /\.test\.tsx?$/.test(file)).map((file) => untagged(file, textOf(file)));
    expect(tests.flatMap(({ without }) => without)).toEqual([]);
    expect(tests.reduce((sum, { found }) => sum + found, 0)).toBeGreaterThan(400);
  });

  it('is not hidden in a helper that this does not know', () => {
    const others = files.filter(
      (file) => !/\.test\.tsx?$/.test(file) && /fc\.assert\(|properties\.ts'/.test(textOf(file)),
    );
    expect(others.toSorted()).toEqual(helpers);
  });

  it('is detected', () => {
    const head = "import fc from 'fast-check';\nimport { isFull, runs } from '../properties.ts';\n";
    const missing = (text: string) => untagged('a.test.ts', head + text).without;
    for (const text of [
      "it('a', () => { fc.assert(fc.property(fc.string(), read)); });",
      "const some = all.filter(() => isFull);\nit.each(some)('a %s', (one) => read(one));",
      "function all() { return runs(5); }\ndescribe('b', () => { const many = all(); test('a', () => read(many)); });",
    ]) {
      expect(missing(text), text).toHaveLength(1);
      expect(missing(text.replace(/('a[^']*', )/, "$1{ tags: 'property' }, ")), text).toEqual([]);
    }
    expect(missing("const text = fc.string();\nit('a', () => { motion.runs(text); });")).toEqual([]);
  });
});

function namesImported(source: ts.SourceFile): string[] {
  return source.statements.filter(ts.isImportDeclaration).flatMap(({ importClause }) => {
    const bindings = importClause?.namedBindings;
    return bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
  });
}

/** What the tests of the file may name: declared outside of functions, but for those of `describe`. */
function declarations(source: ts.SourceFile) {
  const declared: { readonly names: readonly string[]; readonly node: ts.Node }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionDeclaration(node)) declared.push({ names: [node.name?.text ?? ''], node });
    else if (ts.isVariableDeclaration(node)) {
      if (node.initializer !== undefined) declared.push({ names: namesOf(node.name), node: node.initializer });
    } else if (!ts.isFunctionLike(node) || /^describe\b/.test(node.parent.getText())) ts.forEachChild(node, visit);
  };
  visit(source);
  return declared;
}

function namesOf(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesOf(element.name)));
}

/** `it(…)`, `test.each(…)(…)` and the like. */
function isTest(node: ts.Node): node is ts.CallExpression {
  if (!ts.isCallExpression(node) || node.arguments.length < 2) return false;
  let callee: ts.Node = node.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  return /^(?:it|test)$/.test(callee.getText());
}

/** The name of a property of something else. */
function isMember(node: ts.Identifier): boolean {
  const { parent } = node;
  return (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) && parent.name === node;
}
