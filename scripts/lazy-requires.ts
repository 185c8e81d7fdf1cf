import { type ESTree, parseSync } from 'vite';

/**
 * For the build: makes the CommonJS files whose path matches load a required module when it is first used. Each
 * `const x = require('y')` at the top level becomes a function that loads `y` once, and each use of `x` a call of it.
 * What the required module does when it is loaded happens later, which the files must allow. The build fails for a use
 * of `x` that is not understood, and if no path matches.
 */
export function lazyRequires(paths: RegExp) {
  let matched = 0;
  return {
    name: 'gw:lazy-requires',
    transform: {
      filter: { id: paths },
      handler(code: string, path: string) {
        matched += 1;
        // Text is only inserted, and no line break, so every line stays in place.
        return { code: withLazyRequires(code, path), map: null };
      },
    },
    buildEnd(error?: Error) {
      if (error === undefined && matched === 0) throw new Error(`gw:lazy-requires: no module matches ${paths}`);
    },
  };
}

type Node = ESTree.Node;

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * The CommonJS source with its top-level `const x = require('y')` made lazy; the path is for messages. Throws for a
 * syntax error, and with path and line for a use that is not understood: only `x.member`, `x[member]`, `x(…)`, `new x(…)`
 * and `x` as an argument are, so a file that declares, assigns or exports the name a second time is refused.
 */
export function withLazyRequires(code: string, path: string): string {
  const { program, errors } = parseSync(path, code, { lang: 'js', sourceType: 'commonjs' });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const insertions: Insertion[] = [];
  const names = new Set<string>();
  for (const statement of program.body) {
    const found = requiredConst(statement);
    if (found === null) continue;
    const { name, init } = found;
    names.add(name);
    insertions.push({ at: statement.start, text: `let ${name}$; ` }, { at: init.start, text: `() => ${name}$ ??= ` });
  }
  if (names.size === 0) return code;
  insertions.push(...usesOf(program, names, (node) => `${path}:${code.slice(0, node.start).split('\n').length}`));
  return withInsertions(code, insertions);
}

/** A `const x = require('y');`, also with a function around the call, as compilers write it; null for all else. */
function requiredConst(statement: Node): { readonly name: string; readonly init: Node } | null {
  if (statement.type !== 'VariableDeclaration' || statement.kind !== 'const') return null;
  const [declared, ...others] = statement.declarations;
  if (declared?.id.type !== 'Identifier' || declared.init == null || others.length > 0) return null;
  const { id, init } = declared;
  const call = init.type === 'CallExpression' && isHelper(init.callee) ? init.arguments[0] : init;
  return call !== undefined && isRequire(call) ? { name: id.name, init } : null;
}

/** The functions that the TypeScript compiler puts around a `require`. */
function isHelper(callee: Node): boolean {
  return callee.type === 'Identifier' && ['__importDefault', '__importStar'].includes(callee.name);
}

function isRequire(node: Node): boolean {
  return (
    node.type === 'CallExpression' &&
    node.callee.type === 'Identifier' &&
    node.callee.name === 'require' &&
    node.arguments.length === 1 &&
    node.arguments[0]?.type === 'Literal' &&
    typeof node.arguments[0].value === 'string'
  );
}

/** A call for each use of one of the names. */
function usesOf(program: ESTree.Program, names: ReadonlySet<string>, place: (node: Node) => string): Insertion[] {
  const insertions: Insertion[] = [];
  /** In the callee of `new`, where a call needs parentheses. */
  const constructed = new Set<Node>();
  const visit = (node: Node, parent: Node, key: string): void => {
    if (node.type === 'VariableDeclaration' && parent === program && requiredConst(node) !== null) return;
    if (node.type === 'NewExpression') constructed.add(leftmost(node.callee));
    if (node.type === 'Identifier') {
      if (node.name.endsWith('$') && names.has(node.name.slice(0, -1))) {
        throw new Error(`${place(node)}: the name ${node.name} is needed for a lazy require`);
      }
      if (!names.has(node.name) || isMemberName(parent, key)) return;
      if (!isUnderstood(parent, key)) throw new Error(`${place(node)}: this use of ${node.name} is not understood`);
      const isCallee = constructed.has(node);
      if (isCallee) insertions.push({ at: node.start, text: '(' });
      insertions.push({ at: node.end, text: isCallee ? '())' : '()' });
      return;
    }
    for (const [childKey, child] of children(node)) visit(child, node, childKey);
  };
  for (const [key, child] of children(program)) visit(child, program, key);
  return insertions;
}

/** Where a name is that of a member, and no variable. */
function isMemberName(parent: Node, key: string): boolean {
  if (parent.type === 'MemberExpression') return key === 'property' && !parent.computed;
  return (parent.type === 'Property' || parent.type === 'MethodDefinition') && key === 'key' && !parent.computed;
}

/** Where a variable is only read, and a call in its place means the same. */
function isUnderstood(parent: Node, key: string): boolean {
  if (parent.type === 'MemberExpression') return key === 'object';
  return parent.type === 'CallExpression' || parent.type === 'NewExpression';
}

/** The `a` of `a.b.c`, or the expression itself. */
function leftmost(node: Node): Node {
  return node.type === 'MemberExpression' ? leftmost(node.object) : node;
}

function children(node: Node): [string, Node][] {
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map((child): [string, Node] => [key, child]),
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function withInsertions(code: string, insertions: readonly Insertion[]): string {
  const sorted = insertions.toSorted((a, b) => a.at - b.at);
  const pieces = sorted.map(({ at, text }, i) => code.slice(sorted[i - 1]?.at ?? 0, at) + text);
  return pieces.join('') + code.slice(sorted.at(-1)?.at ?? 0);
}
